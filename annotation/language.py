"""Which language pages speak: the annotator's that of their study, those for what went wrong the reader's, all others
English."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.translation import gettext as look_up

View = TypeVar("View", bound=Callable[..., Any])


def translated(text: str) -> str:
    """Return a text that pure code, a kind or a rule, has marked for translation, in the reader's language."""
    return look_up(text)


def spoken() -> Callable[[str], str]:
    """Return what says a text of a question's template in the language that is spoken now."""
    return partial(_said, translation.get_language())


@lru_cache(maxsize=10_000)
def _said(_language: str, text: str) -> str:
    # Looking it up takes longer than all else that a template does with a text.
    return look_up(text)


def interface_language(tag: str) -> str:
    """Return the language that Lineup speaks in a study whose language is `tag`: the nearest it has, else English."""
    try:
        return translation.get_supported_language_variant(tag)
    except LookupError:
        return settings.LANGUAGE_CODE


def speak(tag: str) -> None:
    """Speak the language of a study for what is left of this request; the reader's for "", which older studies have."""
    if tag:
        translation.activate(interface_language(tag))


def lang_attribute(tag: str) -> str:
    """Return what the attribute `lang` of a study's own texts must say, "" where the page says it already."""
    return "" if not tag or tag == translation.get_language() else tag


def in_readers_language(view: View) -> View:
    """Mark `view` as translated; a language that its reader asks for and the site does not know stays English."""
    view.in_readers_language = True  # type: ignore[attr-defined]
    return view


def _is_in_readers_language(request: HttpRequest) -> bool:
    # Without a match there is no page at that address, which everybody is told in their own language.
    match = request.resolver_match
    return match is None or getattr(match.func, "in_readers_language", False)


class ReadersLanguageMiddleware(LocaleMiddleware):
    """Django's own, for translated pages only.

    Elsewhere a page of English words would claim another language and write its numbers with decimal commas, and
    `Vary: Accept-Language` would have caches keep a picture once for every wording of that header.
    """

    def process_view(self, request: HttpRequest, *_: object) -> None:
        if not _is_in_readers_language(request):
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if _is_in_readers_language(request):
            response = super().process_response(request, response)
        # Nothing that this thread does next is this reader's.
        translation.deactivate()
        return response
