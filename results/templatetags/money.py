"""Amounts of money in templates for researchers."""

from decimal import Decimal

from django import template

from annotation.models import Payment
from results.sentences import STATE_WORDS
from studies.wording import format_money

register = template.Library()


@register.filter
def money(amount: Decimal | float, currency: str) -> str:
    """Return an amount with its currency, as in `{{ study.owed|money:pay.currency }}`."""
    return format_money(amount, currency)


@register.filter
def state_word(payment: Payment) -> str:
    """Return the state of a payment in one or two words; `get_state_display` says it whole."""
    return STATE_WORDS[Payment.State(payment.state)]
