"""Launch conditions: numbers stored by higher rooms and checked at launch."""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from django.db import transaction

from studies.errors import StudyError
from studies.kinds import content_hash, get_kind
from studies.models import BlindScore, Question, Study, StudyState
from studies.wording import format_count


class Accuracy(Protocol):
    """The accuracy of a baseline: the number of questions it answered, and the fields of `BlindScore`."""

    @property
    def n(self) -> int: ...
    @property
    def share(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def chance(self) -> float | None: ...


def digest_of(questions: Iterable[Question]) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of the questions and their right answers, in any order."""
    asked = sorted(f"{content_hash(get_kind(each.kind), each.content)}|{each.right}" for each in questions)
    return hashlib.sha256("\n".join(asked).encode("utf-8", errors="surrogatepass")).hexdigest()


@transaction.atomic
def note_blind_score(*, study: Study, baseline: str, about: str, found: Accuracy, left_out: int, now: datetime) -> None:
    """Store the accuracy of a blind baseline on a draft's questions, replacing its earlier one.

    `about`: the `digest_of` the questions. `left_out`: how many the baseline cannot answer. After launch the stored
    value never changes.
    """
    drafts = Study.objects.select_for_update(of=("self",), no_key=True).filter(pk=study.pk, state=StudyState.DRAFT)
    if drafts.first() is None:
        return
    BlindScore.objects.update_or_create(
        study=study,
        baseline=baseline,
        defaults={
            "about": about,
            "questions": found.n,
            "left_out": left_out,
            "computed_at": now,
            **{name: getattr(found, name) for name in ("share", "low", "high", "chance")},
        },
    )


def check_conditions(study: Study, questions: Iterable[Question]) -> None:
    """Raise StudyError, with sentences and a remedy, if a study that asks `questions` must not be launched yet.

    The share itself is compared with `at_most`, not an end of its interval: with few questions the lower end would
    always pass and the upper end never.
    """
    limit = study.design.conditions.blind_solvability
    if limit is None:
        return
    scores = {score.baseline: score for score in study.blind_scores.all()}
    about = digest_of(questions)
    found = [_problem(study, baseline, scores.get(baseline), about, limit.at_most) for baseline in limit.baselines]
    if problems := [problem for problem in found if problem]:
        raise StudyError(*problems)


def untested_warning(study: Study) -> str:
    """Return a sentence if questions added to a launched study were not checked against a blind baseline, else ""."""
    limit = study.design.conditions.blind_solvability
    if limit is None:
        return ""
    programs = ", ".join(limit.baselines)
    return (
        "The study was launched on the condition that programs that see only a part of each "
        f"question ({programs}) are right on at most {_percent(limit.at_most)}. The new questions "
        "are not checked: a program may be right on them more often. To check them first, ask "
        "about them in a new study."
    )


def _problem(study: Study, baseline: str, score: BlindScore | None, about: str, at_most: float) -> str:
    command = f"manage.py predict {study.project.slug} --model {baseline} --study {study.slug}"
    how = f"on the page of the study, or with: {command}"
    if score is None:
        return f"{baseline}, which sees only a part of each question, has not run on this study yet. Run it {how}"
    if score.about != about:
        return f"{baseline} ran on questions that have changed since. Run it again {how}"
    if score.share is None:
        return (
            f"{baseline} cannot answer any question of the study. Remove it from "
            "`conditions.blind_solvability.baselines`."
        )
    if score.share > at_most:
        return (
            f"{in_words(score)}, and the study file allows {_percent(at_most)}. Choose instances "
            "whose right answer does not show in one part alone, or change "
            "`conditions.blind_solvability` in the study file."
        )
    return ""


def in_words(score: BlindScore) -> str:
    """Return the result of a baseline that answered something, as the beginning of a sentence."""
    has_interval = score.low is not None and score.high is not None
    interval = f"; 95 % interval {_percent(score.low)} to {_percent(score.high)}" if has_interval else ""
    of = format_count(score.questions, "question")
    return (
        f"{score.baseline} is right on {_percent(score.share)} of {of} of which it sees only a part "
        f"(guessing gives {_percent(score.chance)}{interval})"
    )


def _percent(share: float | None) -> str:
    return "nothing" if share is None else f"{100 * share:.1f} %"
