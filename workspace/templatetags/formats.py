"""Formats of imports in words."""

from django import template

from studies.importing import format_title

register = template.Library()
register.filter("format_title", format_title)
