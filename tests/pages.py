"""Browsers that have signed in, and what stands on their pages."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client


def signed_in(person: User) -> Client:
    """Return a browser in which `person` has signed in."""
    browser = Client()
    browser.force_login(person)
    return browser


def words_of(page: Any) -> str:
    """Return the source of a page with single spaces, so that lines may break anywhere."""
    return " ".join(page.content.decode().split())
