"""Parse amounts of money as people write them. Pure."""

import re
import unicodedata

from studies.wording import MOST_DIGITS

_SIGNS = {"US$": "USD", "$": "USD", "€": "EUR", "£": "GBP"}
_CURRENCY = r"(?P<{}>US\$|[$€£]|USD|EUR|GBP)?"
# 1200, 1,200 or 1 200; then .5, ,50 or nothing.
_AMOUNT = re.compile(
    rf"""["']?\s*{_CURRENCY.format("before")}\s*
    (?P<whole>[0-9]+|[1-9][0-9]{{0,2}}(?P<mark>[\s.,'’])[0-9]{{3}}((?P=mark)[0-9]{{3}})*)
    ([.,](?P<part>[0-9]{{1,2}})|[.,][-–])?
    \s*{_CURRENCY.format("behind")}\s*["']?""",
    re.VERBOSE | re.IGNORECASE,
)

# 1,200 or 1.200: thousands to some, and decimals to others.
_AMBIGUOUS = re.compile(r"([1-9][0-9]{0,2})[.,]([0-9]{3})")
_TOO_PRECISE = re.compile(r"[0-9]+[.,][0-9]{3,}")
_ADVICE = "Write an amount such as 8.00."
# The signs of Arabic between whole and decimals, and between thousands.
_ARABIC_SIGNS = {"\N{ARABIC DECIMAL SEPARATOR}": ".", "\N{ARABIC THOUSANDS SEPARATOR}": "'"}


def read_amount(text: str) -> tuple[str, str] | None:
    """Return an amount in the form of study files, and its currency, "" if the text names none.

    None if the text is not an amount, or might be one of two: 1.200 and 1,200 are 1200 to some and 1.2 to others.
    Examples: "$8" -> ("8.00", "USD"); "1.200,5 EUR" -> ("1200.50", "EUR").
    """
    found = _AMOUNT.fullmatch(_latin_digits(text))
    if found is None or (not found["part"] and _AMBIGUOUS.fullmatch(found["whole"])):
        return None
    named = {sign.upper() for name in ("before", "behind") if (sign := found[name])}
    currencies = {_SIGNS.get(sign, sign) for sign in named}
    if len(currencies) > 1:
        return None
    whole = re.sub(r"[^0-9]", "", found["whole"])
    return f"{whole}.{(found['part'] or '').ljust(2, '0')}", next(iter(currencies), "")


def explain_amount(text: str, currency: str) -> str:
    """Return what is wrong with a refused amount of a study in `currency`, and what to write instead."""
    read = read_amount(text)
    if read is not None and read[1] not in ("", currency):
        return f"The currency of this study is {currency}; write the amount without a sign, or change the currency."
    if read is not None and len(read[0].partition(".")[0].lstrip("0")) > MOST_DIGITS:
        return f"It is too large: at most {10**MOST_DIGITS - 1}.99. {_ADVICE}"
    number = re.sub(rf"{_CURRENCY.format('sign')}\s*", "", _latin_digits(text), flags=re.IGNORECASE).strip("\"' ")
    if ambiguous := _AMBIGUOUS.fullmatch(number):
        whole, part = ambiguous.groups()
        return f"It could be {whole}.{part[:2]} or {whole},{part}.00. Write {whole}.{part[:2]} or {whole}{part}.00."
    return f"It has more than two decimals. {_ADVICE}" if _TOO_PRECISE.fullmatch(number) else _ADVICE


def _latin_digits(text: str) -> str:
    """Return a text with the digits 0 to 9 and the signs around them, whatever script it was written in."""
    marks = "".join(_ARABIC_SIGNS.get(each, each) for each in unicodedata.normalize("NFKC", text).strip())
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in marks)
