"""Shares in templates for researchers."""

from django import template

from results.reports.text import percent, percent_range

register = template.Library()
register.filter("percent", percent)
register.filter("percent_range", percent_range)
