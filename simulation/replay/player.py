"""Simulate annotators through the platform's real code: arrival, consent, instructions, answers.

Requests no pages, so thousands of answers take seconds; each answer has the same effects as one from a browser.
"""

import random
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.answering.responses import Submission
from annotation.actions.deciding import adjudication
from annotation.errors import NothingLeft
from annotation.models import Decision, Seat
from annotation.recruitment.base import Entry
from annotation.simulation_ids import REPLAY_PROVIDER
from studies.kinds import get_kind
from studies.models import Question, Study
from studies.progress_bars import ProgressBars

AT_ONCE = 8
# Number of answers between two checks for new work in the next study.
LOOK_EVERY = 25
_DICE = random.Random(0)  # noqa: S311 (all answers are determined in advance)
NOTE = "Settled by the replay to match the published result."

Choose = Callable[[Question, Seat], str | Mapping[str, str]]
"""The answer of whoever has a place: the key of an option, or the posted fields."""


@dataclass
class PlayCounts:
    """Progress so far. `turned_away` counts arrivals without anything left to do."""

    answers: int = 0
    people: int = 0
    finished: int = 0
    turned_away: int = 0
    settled: int = 0


@dataclass
class Crowd:
    """The annotators of one study."""

    study: Study
    choose: Choose
    played: PlayCounts = field(default_factory=PlayCounts)
    sitting: deque[Iterator[None]] = field(default_factory=deque)
    nothing_left: bool = False

    def arrive(self) -> bool:
        """Let one more person arrive; return whether there was something to do."""
        self.nothing_left = False
        sitting = self._sit(f"{self.study.slug}-{self.played.people + 1:03d}")
        try:
            next(sitting)
        except NothingLeft:
            self.nothing_left = True
            self.played.turned_away += 1
            return False
        self.played.people += 1
        self.sitting.append(sitting)
        return True

    def fill(self) -> bool:
        """Let people arrive until the limit is reached; return whether anybody is at work."""
        while len(self.sitting) < AT_ONCE and not self.nothing_left and self.arrive():
            pass
        return bool(self.sitting)

    def step(self) -> bool:
        """Let the next person answer one question; return whether anybody did."""
        while self.sitting:
            sitting = self.sitting.popleft()
            if next(sitting, "finished") != "finished":
                self.sitting.append(sitting)
                self.played.answers += 1
                return True
            self.played.finished += 1
        return False

    def _sit(self, person: str) -> Iterator[None]:
        """Play one person's session: yields on arrival and after every answer."""
        entry = Entry(provider=REPLAY_PROVIDER, person=person, session_id=person)
        session = sessions.start(study=self.study, entry=entry, now=timezone.now())
        yield
        sessions.consent(session=session, agreed=True, now=timezone.now())
        advance_session.begin(session=session, part=0, now=timezone.now())
        seat = session.seat
        for slot in responses.open_slots(session=session, limit=session.questions_total):
            if slot.part > session.part_begun:
                advance_session.begin(session=session, part=slot.part, now=timezone.now())
            question = slot.question
            order = responses.order_for(session=session, question=question)
            said = self.choose(question, seat)
            if isinstance(said, str):
                said = get_kind(question.kind).simulate(question.content, order, dice=_DICE, label=said)
            sent = Submission(slot=slot.pk, submission=uuid.uuid4(), posted=said)
            responses.submit(token=session.token, sent=sent, now=timezone.now())
            yield


def play(crowd: Crowd, *, progress: ProgressBars) -> None:
    """Play a study until it is done; later arrivals get the questions that are still undecided."""
    while crowd.fill() or crowd.arrive():
        progress.step(crowd.step())


def play_live(
    *, first: Crowd, then: Crowd, settle: Callable[[Question], str], by: User, progress: ProgressBars
) -> None:
    """Play a study and, at the same time, the one that it feeds.

    People arrive in the second whenever the first has accepted enough for one more survey. `by` settles what a pair
    left undecided once both have finished. When the first study ends, the second is played to its end.
    """
    size = then.study.design.surveys.size
    finished = 0
    while first.fill():
        progress.step(first.step() + then.step())
        if first.played.finished > finished:
            finished = first.played.finished
            first.played.settled += settle_undecided(first.study, settle=settle, by=by)
        if first.played.answers % LOOK_EVERY == 0 and count_unasked_questions(then.study) >= size:
            then.arrive()
    play(then, progress=progress)


def count_unasked_questions(study: Study) -> int:
    """Return how many accepted questions of the feeding study `study` does not ask about yet."""
    accepted = Decision.objects.filter(study=study.fed_by_id, state=Decision.State.ACCEPTED)
    return accepted.count() - Question.objects.filter(study=study).count()


def settle_undecided(study: Study, *, settle: Callable[[Question], str], by: User) -> int:
    """Settle every question that is undecided with all its answers; return how many."""
    split = Decision.objects.filter(
        study=study, state=Decision.State.UNDECIDED, answers__gte=F("question__answers_wanted")
    )
    questions = [decision.question for decision in split.select_related("question")]
    for question in questions:
        adjudication.settle(question=question, choice=settle(question), by=by, note=NOTE, now=timezone.now())
    return len(questions)
