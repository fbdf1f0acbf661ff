"""What can go wrong for an annotator. The message is for the annotator: whole sentences, kind, and what to do."""

from django.utils.translation import gettext_lazy
from django_stubs_ext import StrOrPromise


class AnnotationError(Exception):
    """Any of the below; `status` is the HTTP status of the page that shows it."""

    status = 400
    heading: StrOrPromise = gettext_lazy("Something went wrong")

    def __init__(self, message: str, what_next: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.what_next = what_next


class BadEntry(AnnotationError):
    """The link that brought the annotator cannot be used."""

    heading = gettext_lazy("This link is incomplete")


class NoSuchStudy(AnnotationError):
    status = 404
    heading = gettext_lazy("This link does not work")


class TooManyAtOnce(AnnotationError):
    """More new people than one network may send in a while; `retry_after` is in seconds."""

    status = 429
    heading = gettext_lazy("Please wait a moment")

    def __init__(self, message: str, what_next: str = "", *, retry_after: int) -> None:
        super().__init__(message, what_next)
        self.retry_after = retry_after


class NetworkFull(TooManyAtOnce):
    """The network of somebody new holds its share of the places of a study."""


class OtherPerson(AnnotationError):
    """The link of a session was opened with the id of another person."""

    status = 409
    heading = gettext_lazy("This link belongs to somebody else")


class CannotTakePart(AnnotationError):
    """The annotator may not start now; nothing is wrong with what they did."""

    status = 403
    heading = gettext_lazy("You cannot take part")


class NotEligible(CannotTakePart):
    """A rule of the study keeps the annotator out; `rule` is its name."""

    heading = gettext_lazy("This study is for other people")

    def __init__(self, message: str, what_next: str = "", *, rule: str) -> None:
        super().__init__(message, what_next)
        self.rule = rule


class NotOpen(CannotTakePart):
    """The study has not begun, pauses or has ended."""

    heading = gettext_lazy("Thank you for coming")


class NothingLeft(AnnotationError):
    """Nobody gets anything now or, where `rule` names a rule of eligibility, only others do."""

    status = 200
    heading = gettext_lazy("All places are taken")

    def __init__(self, message: str, what_next: str = "", *, rule: str = "") -> None:
        super().__init__(message, what_next)
        self.rule = rule


class NothingYet(NothingLeft):
    """The study asks about what other people are still answering, and nothing of it is ready."""

    heading = gettext_lazy("Nothing is ready yet")


class BadAnswer(AnnotationError):
    """What was posted is no answer to the question; nothing was stored."""

    status = 422
    heading = gettext_lazy("Your answer could not be read")


class CannotSkip(BadAnswer):
    """Nothing stands in the way of showing the question's images."""

    heading = gettext_lazy("This question can be answered")


class NotYourQuestion(AnnotationError):
    """The answer is for a question that this session was never given."""

    status = 404
    heading = gettext_lazy("This question is not in your list")
