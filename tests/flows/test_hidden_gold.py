"""Nothing that a browser receives tells a gold question from another one: a script that knows which are gold learns
from 1,000 served questions, and guesses no better than chance about those that it has not seen."""

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from annotation.models import Session, Slot
from studies.models import Check
from tests.factories import NOON, arrive_at_work, launch_study, make_instance, make_project
from tests.flows.crowd import FORM

pytestmark = pytest.mark.django_db

SURVEYS, ORDINARY, GOLD = 20, 40, 10
_SLOT = re.compile(r'name="slot" value="(\d+)"')
_TAG, _ATTRIBUTE, _SOURCE = re.compile(r"<\w+"), re.compile(r'([\w-]+)="([^"]*)"'), re.compile(r'src="([^"]*)"')
_LITERAL = re.compile(r"'[^']*'|\"s\d+_x\d+\"|\b\d+(\.\d+)?\b|\b(true|false|NULL)\b|%s")


@dataclass
class Served:
    """What is served about one question: its HTML, and what comes back when it is answered."""

    slot: int
    html: str
    number: int
    is_gold: bool
    before: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    statements: tuple[str, ...] = ()


def questions_in(html: str) -> list[tuple[int, str]]:
    return [(int(_SLOT.findall(form)[0]), form) for form in FORM.findall(html)]


def take_survey(client: Client, session: Session, gold: set[int]) -> list[Served]:
    """Answer all questions of `session` as the page's script does, and keep what is served."""
    address = f"/s/{session.token}/"
    page = client.get(address)
    waiting = questions_in(page.content.decode())
    served: list[Served] = []
    previous = waiting[0][0] - 1
    while waiting:
        slot, html = waiting.pop(0)
        one = Served(slot, html, len(served) + 1, slot in gold, before=slot - previous)
        previous = slot
        held = ",".join(str(pk) for pk, _ in waiting)
        sent = {"slot": slot, "submission": str(uuid.uuid4()), "choice": "1", "have": held}
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(f"{address}answer/", sent, headers={"accept": "application/json"})
        assert answer.status_code == 200, answer.content
        one.body = json.loads(answer.content)
        one.headers = dict(answer.headers)
        one.statements = tuple(_LITERAL.sub("?", each["sql"]) for each in queries.captured_queries)
        served.append(one)
        waiting += questions_in(one.body["next"] or "")
    return served


@pytest.fixture
def served(client: Client, time_machine: Any) -> list[Served]:
    """1,000 questions in 20 surveys of 40 ordinary and 10 gold ones, whose texts and images are all alike."""
    time_machine.move_to(NOON, tick=False)
    project = make_project()
    instances = SURVEYS * (ORDINARY + GOLD)
    for number in range(instances):
        make_instance(project, f"vase-{number:04}")
    gold = [{"instance": f"vase-{number:04}", "right": "candidate-1"} for number in range(0, instances, 5)]
    study = launch_study(
        project,
        instances=instances,
        surveys={"size": ORDINARY},
        checks={"gold": {"per_survey": GOLD, "questions": gold}},
    )
    checks = set(Slot.objects.filter(question__check_type=Check.GOLD).values_list("pk", flat=True))
    found: list[Served] = []
    for number in range(SURVEYS):
        session = arrive_at_work(study, f"person-{number:02}", now=NOON + timedelta(seconds=number))
        found += take_survey(client, session, checks)
    assert (len(found), sum(one.is_gold for one in found)) == (1000, 200)
    return found


def features(one: Served) -> list[float]:
    """Return numbers of everything that a script sees, besides the words of the question."""
    tags, attributes, pictures = (each.findall(one.html) for each in (_TAG, _ATTRIBUTE, _SOURCE))
    headers = {name: value for name, value in one.headers.items() if name != "Date"}
    return [
        *(one.slot, one.before, one.number, one.slot % 2, one.slot % 10, len(one.html), len(tags), len(attributes)),
        *(len(pictures), sum(map(len, pictures)), sum(len(value) for _, value in attributes), len(set(tags))),
        *(one.html.count("<input"), one.html.count("data-"), one.html.count("lazy"), one.html.count("checked")),
        *(len(headers), sum(map(len, headers.values())), len(one.body), len(json.dumps(one.body))),
        *(one.body["answered"], one.body["total"], float(one.body["next"] is None), len(one.statements)),
        # The first letters of the handle of each picture, which a script could sort.
        *(ord(letter) for letter in (pictures[0].rsplit("/", 2)[1] if pictures else "")[:4].ljust(4, "\0")),
    ]


def area(rows: Sequence[Sequence[float]], is_gold: Sequence[bool]) -> float:
    """Return the area under the ROC curve of a forest that guesses which of the questions it has not seen are gold."""
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=7, n_jobs=1)
    guesses = cross_val_predict(forest, np.array(rows), np.array(is_gold), cv=folds, method="predict_proba")[:, 1]
    return float(roc_auc_score(is_gold, guesses))


def test_a_script_that_learns_from_a_thousand_questions_does_not_find_the_gold_ones(served: list[Served]) -> None:
    is_gold = [one.is_gold for one in served]
    rows = [features(one) for one in served]
    # Of 200 gold and 800 other questions, chance is 0.5 with a standard deviation of 0.023 (Hanley and McNeil, 1982).
    assert 0.5 - 4 * 0.023 < area(rows, is_gold) < 0.5 + 4 * 0.023
    # The same script finds a difference of one character in the size of a page.
    size = rows[0].index(len(served[0].html))
    leaking = [[*row[:size], row[size] + one.is_gold, *row[size + 1 :]] for row, one in zip(rows, served, strict=True)]
    assert area(leaking, is_gold) > 0.7
    # An answer runs the same statements, and gets the same headers.
    inner = [one for one in served if 1 < one.number < one.body["total"]]
    gold, others = ([one for one in inner if one.is_gold is wanted] for wanted in (True, False))
    assert {one.statements for one in gold} == {one.statements for one in others}
    assert {tuple(sorted(one.headers)) for one in gold} == {tuple(sorted(one.headers)) for one in others}
    # Slots are in a row, and gold is at every place but the first.
    assert {one.before for one in served} == {1}
    assert not any(one.is_gold for one in served if one.number == 1)
    # 200 gold questions over 49 places: about 40 in each fifth, with a standard deviation below 6.
    fifths = [sum(one.is_gold for one in served if first < one.number <= first + 10) for first in range(0, 50, 10)]
    assert sum(fifths) == 200
    assert all(20 <= number <= 60 for number in fifths)
