"""Shares in templates for researchers."""

from django import template

from results.reports.text import percent

register = template.Library()
register.filter("percent", percent)
