"""Languages of pages: the study's for annotators, the reader's for panels and error pages, English for all others."""

from collections.abc import Callable
from datetime import date
from functools import lru_cache, partial
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as look_up

View = TypeVar("View", bound=Callable[..., Any])


def translate(text: str) -> str:
    """Translate a text marked for translation in pure code (a kind or a rule) into the active language."""
    return look_up(text)


def translator() -> Callable[[str], str]:
    """Return the translation function for texts of question templates, in the active language."""
    return partial(_translate, translation.get_language())


@lru_cache(maxsize=10_000)
def _translate(_language: str, text: str) -> str:
    # Cached, because the look-up takes longer than everything else a template does with a text.
    return look_up(text)


def interface_language(tag: str) -> str:
    """Return the supported language nearest to the study's language `tag`, or English."""
    try:
        return translation.get_supported_language_variant(tag)
    except LookupError:
        return settings.LANGUAGE_CODE


def has_interface_language(tag: str) -> bool:
    """Return whether Lineup's texts are in the study's language `tag`; "" (older studies) is the reader's."""
    return not tag or interface_language(tag).partition("-")[0] == tag.partition("-")[0].lower()


def activate_language(tag: str) -> None:
    """Activate the language of a study for this request; "" (older studies) leaves the reader's."""
    if tag:
        translation.activate(interface_language(tag))


def lang_attribute(tag: str) -> str:
    """Return the `lang` attribute of a study's own texts; "" if it equals the page's."""
    return "" if not tag or tag == translation.get_language() else tag


def format_day(day: date) -> str:
    """Return a day in the active language: "29 November 2026"."""
    # Django's English is American.
    return date_format(day, "j F Y" if translation.get_language() == "en" else "DATE_FORMAT")


def in_readers_language(view: View) -> View:
    """Mark `view` as translated; unsupported languages get English."""
    view.in_readers_language = True  # type: ignore[attr-defined]
    return view


def _is_in_readers_language(request: HttpRequest) -> bool:
    # Without a match there is no page at that address; the 404 page is translated.
    match = request.resolver_match
    return match is None or getattr(match.func, "in_readers_language", False)


class ReadersLanguageMiddleware(LocaleMiddleware):
    """Django's LocaleMiddleware, for translated pages only.

    Elsewhere it would declare another language on English pages and format their numbers with decimal commas, and
    `Vary: Accept-Language` would make caches store an image once per header value.
    """

    def process_view(self, request: HttpRequest, *_: object) -> None:
        if not _is_in_readers_language(request):
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if _is_in_readers_language(request):
            response = super().process_response(request, response)
        # The thread's next request is from another reader.
        translation.deactivate()
        return response
