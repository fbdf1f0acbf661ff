"""Parse amounts of money as people write them. Pure."""

import re
import unicodedata

_SIGNS = {"US$": "USD", "$": "USD", "€": "EUR", "£": "GBP"}
_CURRENCY = r"(?P<{}>US\$|[$€£]|USD|EUR|GBP)?"
# 1200, 1,200 or 1 200; then .5, ,50 or nothing. Three digits behind a separator are thousands, but 8.005 may be a slip.
_AMOUNT = re.compile(
    rf"""["']?\s*{_CURRENCY.format("before")}\s*
    (?P<whole>[0-9]+|[1-9][0-9]{{0,2}}(?P<mark>[\s.,'’])[0-9]{{3}}((?P=mark)[0-9]{{3}})*)
    ([.,](?P<part>[0-9]{{1,2}})|[.,][-–])?
    \s*{_CURRENCY.format("behind")}\s*["']?""",
    re.VERBOSE | re.IGNORECASE,
)


def read_amount(text: str) -> tuple[str, str] | None:
    """Return an amount in the form of study files, and its currency, "" if the text names none.

    None if the text is not an amount, or might be one of two: 1.200 is 1200 to some and a little over 1 to others.
    Examples: "$8" -> ("8.00", "USD"); "1.200,5 EUR" -> ("1200.50", "EUR").
    """
    found = _AMOUNT.fullmatch(unicodedata.normalize("NFKC", text).strip())
    if found is None or (found["mark"] == "." and found["whole"].count(".") == 1 and not found["part"]):
        return None
    named = {sign.upper() for name in ("before", "behind") if (sign := found[name])}
    currencies = {_SIGNS.get(sign, sign) for sign in named}
    if len(currencies) > 1:
        return None
    whole = re.sub(r"[^0-9]", "", found["whole"])
    return f"{whole}.{(found['part'] or '').ljust(2, '0')}", next(iter(currencies), "")
