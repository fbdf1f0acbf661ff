"""Amounts of money as the reader's language writes them."""

from django.utils.formats import number_format
from django.utils.translation import gettext

from studies.design import Pay

# What tells dollars from other dollars; any other currency goes by its three letters.
_SIGNS = {"USD": "US$", "GBP": "£", "EUR": "€"}


def in_words(pay: Pay) -> str:
    """Return what a session is paid, such as "US$ 8.00", or "8,00 US$" in Spanish; "" where it is paid nothing."""
    if not pay.per_session:
        return ""
    amount = number_format(pay.per_session, decimal_pos=2, use_l10n=True, force_grouping=True)
    # Translators: an amount of money, such as US$ 8.00, with the sign where it stands in your language.
    pattern = gettext("%(currency)s %(amount)s").replace(" ", "\N{NO-BREAK SPACE}")
    return pattern % {"currency": _SIGNS.get(pay.currency, pay.currency), "amount": amount}
