"""Contract tests for every acceptance rule, with every kind that it fits."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import ClassVar

import pytest
from django.core.management import call_command

from annotation.actions.deciding.decisions import recount, votes_of
from annotation.models import Decision, Response
from results.actions.erasure import forget
from studies.kinds import get_kind, shown_order
from studies.kinds.ambiguity import ORIGINAL, Ambiguity
from studies.models import Study
from studies.rules import RULES, Needs, State, Verdict, Vote, VoteContext, decide, fitting_rules, get_rule, misfit
from tests.contracts.stage import NAMES, PEOPLE, answered, launched, secret_ask, some_facts
from tests.factories import NOON
from tests.removing import person, withdraw

every_rule = pytest.mark.parametrize("rule", RULES)


def fits(rule: str, name: str) -> bool:
    kind = get_kind(name)
    return rule in fitting_rules(kind, secret_ask(kind))


def kinds_for(rule: str) -> list[str]:
    return [name for name in NAMES if fits(rule, name)]


def asked_of(name: str, wanted: int) -> tuple[VoteContext, list[Vote]]:
    """Return what a question of a kind asks, and the different answers that there can be to it."""
    kind = get_kind(name)
    ask = secret_ask(kind)
    built = kind.questions(some_facts(kind, ask), ask, seed="seed")[0]
    order = shown_order(kind, built.content, seed="s", annotator=1, question=1)
    given = list[Vote]()
    labels = list(kind.categories(built.content))[:3]
    for label in labels or ["The cup on the table is full.", "A cat sleeps beside the cup."]:
        # A kind may ignore a text that it is given.
        for seed in range(100):
            posts = kind.simulate(built.content, order, dice=random.Random(seed), label=label)
            answer = kind.parse(built.content, order, posts)
            vote = Vote(answer.label, answer.value)
            if vote not in given:
                given.append(vote)
                break
    assert len(given) > 1, f"100 simulated answers of {name} are all the same"
    right = built.right_option
    return VoteContext.of_question(kind, built.content, wanted=wanted, most=wanted + 2, right=right), given


@every_rule
def test_it_goes_by_its_name_and_its_version(rule: str) -> None:
    assert get_rule(rule).name == rule
    assert rule.rpartition("-v")[2].isdecimal()


@every_rule
def test_some_kind_fits_it_and_what_does_not_is_told_why(rule: str) -> None:
    assert any(fits(rule, name) for name in NAMES)
    for name in NAMES:
        kind = get_kind(name)
        assert fits(rule, name) == (misfit(get_rule(rule), kind, secret_ask(kind)) == "")


@every_rule
def test_no_answer_decides_nothing_and_no_question_wants_less_than_one(rule: str) -> None:
    for name in kinds_for(rule):
        asked, _ = asked_of(name, 2)
        verdict = decide(rule, asked, [])
        assert (verdict.state, verdict.winner, verdict.more) == (State.UNDECIDED, None, True), name
        with pytest.raises(ValueError, match="at least 1"):
            decide(rule, VoteContext(0, 1, asked.right, asked.content), [])


@every_rule
def test_the_same_answers_give_the_same_verdict_in_whatever_order_they_came(rule: str) -> None:
    for name, wanted in itertools.product(kinds_for(rule), (1, 2, 3)):
        asked, given = asked_of(name, wanted)
        for answers in itertools.combinations_with_replacement(given, 3):
            verdicts = {decide(rule, asked, order) for order in itertools.permutations(answers)}
            assert len(verdicts) == 1, name
            assert verdicts == {decide(rule, asked, answers)}, name


@every_rule
def test_a_verdict_is_whole(rule: str) -> None:
    for name, wanted, n in itertools.product(kinds_for(rule), (1, 2, 3), (1, 2, 3)):
        asked, given = asked_of(name, wanted)
        for answers in itertools.combinations_with_replacement(given, n):
            assert_whole(rule, name, asked, answers)
        # One answer that is all there is decides, or asks for another one.
        only = given[0]
        if get_rule(rule).needs.downstream_outcome:
            # What became of it elsewhere is what decides, and until then nobody else is asked.
            assert not decide(rule, VoteContext(1, 3, asked.right, asked.content), [only]).more, name
            only = replace(only, downstream_states=(State.REJECTED,))
        alone = decide(rule, VoteContext(1, 3, asked.right, asked.content), [only])
        assert alone.state is not State.UNDECIDED or alone.more, name


def assert_whole(rule: str, name: str, asked: VoteContext, answers: Sequence[Vote]) -> None:
    verdict = decide(rule, asked, answers)
    assert verdict.reason.endswith(".")
    assert verdict.winner is None or verdict.state is State.ACCEPTED
    assert verdict.winner is None or verdict.winner in get_kind(name).categories(asked.content)
    if 2 * len(answers) <= asked.wanted:
        assert verdict.state is State.UNDECIDED, "fewer than half of the answers wanted cannot decide"


@pytest.mark.django_db
@pytest.mark.parametrize("rule", RULES)
def test_counting_again_changes_nothing(rule: str) -> None:
    name = next(name for name in NAMES if fits(rule, name))
    study = launched(name, rule=rule)
    answered(study)
    fields = ("question", "state", "winner", "votes", "answers", "asks_more")
    before = list(Decision.objects.filter(study=study).order_by("pk").values(*fields))
    assert {decision["answers"] for decision in before} == {2}
    decided = {decision["state"] for decision in before} & {"accepted", "rejected"}
    assert bool(decided) == (not get_rule(rule).needs.downstream_outcome)
    assert recount(questions=[decision["question"] for decision in before], now=NOON) == []
    assert list(Decision.objects.filter(study=study).order_by("pk").values(*fields)) == before


class Noted:
    """Notes what it is asked about, and decides nothing."""

    name, needs = "noted-v1", Needs()
    seen: ClassVar[list[VoteContext]] = []

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        self.seen.append(asked)
        return Verdict(State.UNDECIDED, None, "Nothing is decided.")

    @classmethod
    def take(cls) -> set[str]:
        found = {repr(asked) for asked in cls.seen}
        cls.seen.clear()
        return found


@pytest.mark.django_db
def test_a_rule_sees_the_same_when_an_answer_comes_at_a_recount_and_when_somebody_is_forgotten(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(RULES, Noted.name, f"{__name__}.{Noted.__name__}")
    monkeypatch.setattr(Ambiguity, "right_option", lambda *_: ORIGINAL)
    study = launched("ambiguity", rule=Noted.name, purpose="filter", max_answers=4)
    Noted.take()
    answered(study)
    for asked in Noted.seen:
        usual = VoteContext(wanted=1)
        assert not [each.name for each in fields(asked) if getattr(asked, each.name) == getattr(usual, each.name)]
    live = Noted.take()
    assert len(live) == 3
    recount(questions=list(study.questions.values_list("pk", flat=True)), now=NOON)
    assert Noted.take() == live
    call_command("release", "shelves", study="things", name="v1", format="jsonl", out=tmp_path, verbosity=0)
    withdraw(study.project, PEOPLE[1])
    # What comes now is of the rows of the release.
    Noted.take()
    forget(annotator=person(PEOPLE[1]), project=study.project, by="tests", now=NOON)
    assert Noted.take() == live


@pytest.mark.django_db
def test_majority_v2_rejects_what_a_study_launched_under_v1_keeps_accepting() -> None:
    new = launched("ambiguity", answers=3, rule="majority-v2")
    answered(new, say=lambda person, number: "both" if person == PEOPLE[0] else "generated")
    assert set(Decision.objects.filter(study=new).values_list("state", "winner")) == {("rejected", "")}
    # Launched before a rule that does not fit was refused.
    Study.objects.filter(pk=new.pk).update(rule="majority-v1", design=new.design.to_stored() | {"rule": "majority-v1"})
    Decision.objects.filter(study=new).update(rule="majority-v1")
    old = Study.objects.get(pk=new.pk)
    assert old.design.rule == "majority-v1"
    Response.objects.filter(study=old).update(choice="both", answer="both")
    assert len(recount(questions=list(old.questions.values_list("pk", flat=True)), now=NOON)) == 3
    assert set(Decision.objects.filter(study=old).values_list("state", "winner")) == {("accepted", "both")}


def test_answers_without_a_label_are_no_votes() -> None:
    assert votes_of([Vote("", "A text."), Vote("b", "b"), Vote("", {"one": "true"})]) == {"b": 1}
