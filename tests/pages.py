"""Browsers that have signed in, and what stands on their pages."""

from typing import Any

from bs4 import Tag
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


def hidden_fields(form: Tag) -> dict[str, str]:
    """Return what `form` posts before anything is chosen or typed in it."""
    return {str(tag["name"]): str(tag.get("value", "")) for tag in form.select('input[type="hidden"][name]')}
