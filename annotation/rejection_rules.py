"""When Prolific lets a researcher reject a submission (prolific.md, section 5.4), and what is refused here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from annotation.recruitment.prolific.statuses import RejectionCategory

C = RejectionCategory
LEAST_CHARACTERS = 100
# Prolific: one under five minutes, else several; it does not say which time counts, so two are asked for always.
LEAST_FAILED_CHECKS = 2
# Fewer times have no spread that says anything.
LEAST_TIMES = 10
DEVIATIONS = 3
# Category -> what a researcher reads where they choose it.
CATEGORIES = {
    C.FAILED_CHECK: f"Failed at least {LEAST_FAILED_CHECKS} attention checks",
    C.TOO_QUICKLY: f"Much too fast: more than {DEVIATIONS} standard deviations below the mean",
    C.NO_DATA: "Completed on Prolific, but gave no answers here",
    C.NO_CODE: "Completed without a code, but did not finish here",
    C.BAD_CODE: "Completed with a wrong code, but did not finish here",
    C.FAILED_INSTRUCTIONS: "Did not follow explicit instructions",
    C.LOW_EFFORT: "Answers show no effort",
    C.OTHER: "Other",
}


@dataclass(frozen=True)
class Rejection:
    """A rejection that a researcher wants.

    category: empty if none was chosen. failed_checks: instruction checks of the session. is_looked_at: the researcher
    says that the reason is in the answers, and no mark alone. is_let_go: they did not consent, or there was nothing to
    answer. answers: stored for the session. marks: of the session, in words. seconds: of the session on our clock.
    others: those of all finished sessions of the study.
    """

    category: str
    message: str
    failed_checks: int
    is_looked_at: bool
    is_finished: bool
    has_failed_practice: bool
    answers: int
    is_let_go: bool = False
    marks: Sequence[str] = ()
    seconds: float | None = None
    others: Sequence[float] = ()


def rejection_problems(wanted: Rejection) -> list[str]:
    """Return in sentences which rules a rejection breaks; none if it is allowed."""
    return list(_problems(wanted))


def _problems(wanted: Rejection) -> Iterator[str]:
    if wanted.category not in CATEGORIES:
        yield "Choose a category."
    # Spaces in a row say nothing.
    characters = len(" ".join(wanted.message.split()))
    if characters < LEAST_CHARACTERS:
        yield f"The message needs at least {LEAST_CHARACTERS} characters. It has {characters}."
    if wanted.has_failed_practice:
        yield "Prolific does not allow you to reject people who failed the practice. Ask them to return."
    elif wanted.is_let_go:
        yield "This person did not consent, or had nothing to answer, and did as they were told. Ask them to return."
    elif wanted.category == C.FAILED_CHECK and wanted.failed_checks < LEAST_FAILED_CHECKS:
        yield (
            f"At least {LEAST_FAILED_CHECKS} attention checks must have failed. Failed instruction checks: "
            f"{wanted.failed_checks}. Gold questions, repeats and practice are not attention checks."
        )
    elif wanted.category == C.TOO_QUICKLY:
        yield from _too_quick(wanted)
    elif wanted.category in {C.NO_DATA, C.NO_CODE, C.BAD_CODE}:
        if wanted.is_finished or (wanted.category == C.NO_DATA and wanted.answers):
            yield f"This person gave {wanted.answers} answers here, so this category does not fit."
    elif wanted.category in CATEGORIES and wanted.category != C.FAILED_CHECK and not wanted.is_looked_at:
        yield _marks_alone(wanted.marks)


def _too_quick(wanted: Rejection) -> Iterator[str]:
    if wanted.seconds is None or len(wanted.others) < LEAST_TIMES:
        yield f"Speed is a reason only after {LEAST_TIMES} sessions have finished."
        return
    limit = mean(wanted.others) - DEVIATIONS * stdev(wanted.others)
    if wanted.seconds >= limit:
        yield (
            f"This session took {wanted.seconds:,.0f} s. Only one under {max(limit, 0):,.0f} s may be rejected for its "
            f"time: {DEVIATIONS} standard deviations below the mean of {mean(wanted.others):,.0f} s."
        )


def _marks_alone(marks: Sequence[str]) -> str:
    told = f" ({', '.join(marks)})" if marks else ""
    return f"A mark alone{told} is no reason to reject. Check the answers, and confirm that they show the reason."
