"""Errors that annotators see. Messages are complete, friendly sentences that say what to do."""

from django.utils.translation import gettext_lazy
from django_stubs_ext import StrOrPromise


class AnnotationError(Exception):
    """Base class. status: of the HTTP response that shows it. rule: name of the eligibility rule behind it, if any."""

    status = 400
    heading: StrOrPromise = gettext_lazy("Something went wrong")

    def __init__(self, message: str, what_next: str = "", *, rule: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.what_next = what_next
        self.rule = rule

    @property
    def whole(self) -> str:
        """The message, and what to do next."""
        return f"{self.message} {self.what_next}".strip()


class BadEntry(AnnotationError):
    """The entry link cannot be used."""

    heading = gettext_lazy("This link is incomplete")


class LinkExpired(AnnotationError):
    """The platform signed the entry link too long ago."""

    status = 410
    heading = gettext_lazy("This link has expired")


class NoSuchStudy(AnnotationError):
    status = 404
    heading = gettext_lazy("This link does not work")


class TooManyAtOnce(AnnotationError):
    """A rate limit was exceeded; `retry_after` is in seconds."""

    status = 429
    heading = gettext_lazy("Please wait a moment")

    def __init__(self, message: str, what_next: str = "", *, retry_after: int) -> None:
        super().__init__(message, what_next)
        self.retry_after = retry_after


class NetworkFull(TooManyAtOnce):
    """The annotator's network holds its share of the places of a study."""


class OtherPerson(AnnotationError):
    """The link of a session was opened with another person's id."""

    status = 409
    heading = gettext_lazy("This link belongs to somebody else")


class CannotTakePart(AnnotationError):
    """The annotator may not start now; they did nothing wrong."""

    status = 403
    heading = gettext_lazy("You cannot take part")


class NotEligible(CannotTakePart):
    """A rule of the study excludes the annotator."""

    heading = gettext_lazy("This study is for other people")


class NotOpen(CannotTakePart):
    """The study is not open yet, paused or closed."""

    heading = gettext_lazy("Thank you for coming")


class NothingLeft(AnnotationError):
    """No question is left, or none for this annotator; then `rule` names the eligibility rule."""

    status = 200
    heading = gettext_lazy("All places are taken")


class NothingYet(NothingLeft):
    """The study asks about answers of other people, and none is ready."""

    heading = gettext_lazy("Nothing is ready yet")


class BadAnswer(AnnotationError):
    """The posted data is not an answer to the question; nothing was stored."""

    status = 422
    heading = gettext_lazy("Your answer could not be read")


class CannotSkip(BadAnswer):
    """The images of the question can be shown."""

    heading = gettext_lazy("This question can be answered")


class NotYourQuestion(AnnotationError):
    """The session was never given this question."""

    status = 404
    heading = gettext_lazy("This question is not in your list")
