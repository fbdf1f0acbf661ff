"""Amounts of money in templates for researchers."""

from decimal import Decimal

from django import template

from studies.wording import format_money

register = template.Library()


@register.filter
def money(amount: Decimal | float, currency: str) -> str:
    """Return an amount with its currency, as in `{{ study.owed|money:pay.currency }}`."""
    return format_money(amount, currency)
