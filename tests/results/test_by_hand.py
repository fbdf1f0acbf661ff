"""One small project of describers and retrievers, worked out by hand, and walked: pages, reports and exports.

Three sets of ten images, "static-a", "static-b" and "video-c". In `tell` each is described twice: of its first image
("one") and of its fifth ("five"). Each has a caption too, and an image apart, which `second` has rated besides.

    what            image  who wrote it  ben, cleo and, where one of them is right, dora
    a-one   T1      1      ann           1 1            accepted
    a-five  T2      5      ann           9 8            rejected, so that somebody else writes T4
    b-one   T3      1      ann           1 2 1          accepted
    a-five  T4      5      fay           5 6 5          accepted
    c-five  T5      5      fay           5 7 -          dora leaves it; a researcher settles it with image 5
    b-five  T6      5      hal           5 5            accepted, until hal withdraws
    c-one           1      ann           "not possible": asked of somebody else again, who leaves it

`find` (2 of 3) asks ben, cleo and dora. `second`, a baseline, asks eve about all six: she says 1, 7 and 2 about T1, T2
and T3, nothing about the others, and rates once.

Sittings: ann, hal, ben, cleo, dora (T3), fay (T5), fay again (T4), ben again, cleo again (both T4 and T5), dora again
(T4), eve. Finished, because all is answered that was asked: ben's and cleo's four, dora's first, fay's first: 6.
"""

import csv
import json
import random
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.actions.deciding import adjudication
from annotation.actions.removing import removals
from annotation.models import Annotator, Response, Session, SessionState
from studies.kinds import get_kind
from studies.models import InstanceImage, Project, Question, Study
from tests.databases import kept
from tests.factories import NOON, arrive_at_work, make_image, make_member, make_project
from tests.pages import signed_in
from tests.people import digest_of
from tests.removing import REMOVED
from tests.results.describing import PLACES, find, launched, make_set, write

T1, T2, T3, T4, T5, T6 = "Ann a one.", "Ann a five.", "Ann b one.", "Fay a five.", "Fay c five.", "Hal b five."
Report = dict[str, list[dict[str, Any]]]
pytestmark = pytest.mark.usefixtures("describing")


def fill() -> str:
    project = make_project("sets")
    researcher = make_member(project, "owner", name="researcher")
    for key in ("static-a", "static-b", "video-c"):
        made = make_set(project, key, captions={"caption": "Something."})
        InstanceImage.objects.create(instance=made, role="image", filename="o.png", image=make_image(f"{key}-o"))
    pay = '{currency: USD, per_session: "1.00", per_answer: "0.20"}'
    tell = launched(
        project, study="tell", kind="tell", purpose="filter", rule="described-v1", answers=1, max_answers=3, pay=pay
    )
    searching = {"kind": "retrieve", "purpose": "filter", "rule": "retrieved-2-of-3-v1", "answers": 2, "max_answers": 3}
    pay = '{currency: USD, per_session: "2.00", per_answer: "0.10", least_answers: 1}'
    search = launched(project, study="find", instances="{from: tell}", pay=pay, **searching)
    second = launched(
        project,
        study="second",
        purpose="baseline",
        rule="majority-v1",
        parts="[{kind: retrieve}, {kind: rating}]",
        instances="{from: tell}",
        pay='{currency: USD, per_session: "2.00"}',
    )
    pasted = {"keys": 3, "pastes": 1, "pasted": [12], "from_first_key_ms": 8000}
    typed = {"keys": 30, "pastes": 0, "pasted": [], "from_first_key_ms": 20000}
    write(
        tell,
        "ann",
        {"static-a one": T1, "static-a five": T2, "static-b one": T3, "video-c one": "not possible"},
        writing=typed,
    )
    write(tell, "hal", {"static-b five": T6})
    find(search, "ben", {T1: 1, T2: 9, T3: 1, T6: 5})
    find(search, "cleo", {T1: 1, T2: 8, T3: 2, T6: 5})
    find(search, "dora", {T3: 1})
    write(tell, "fay", {"video-c five": T5}, writing=pasted)
    write(tell, "fay", {"static-a five": T4}, writing=typed | {"from_first_key_ms": 30000})
    find(search, "ben", {T4: 5, T5: 5})
    find(search, "cleo", {T4: 6, T5: 7})
    find(search, "dora", {T4: 5})
    look_again(second, "eve", {T1: 1, T2: 7, T3: 2})
    left = Question.objects.get(study=search, source__text=T5)
    adjudication.settle(question=left, choice="image_5", by=researcher, note="Clear.", now=NOON)
    hal = Annotator.objects.get(id_digest=digest_of("hal"))
    removals.withdraw(annotator=hal, project=project, by=researcher, now=REMOVED)
    return project.slug


def look_again(study: Study, person: str, places: dict[str, int]) -> None:
    """Let `person` choose the images at `places`, by text, and then rate once with 4."""
    session = arrive_at_work(study, person)
    rated = False
    for slot in responses.open_slots(session=session, limit=100):
        question, kind = slot.question, get_kind(slot.question.kind)
        if slot.part > session.part_begun:
            Session.objects.filter(pk=session.pk).update(part_begun=slot.part)
            session.refresh_from_db()
        text = (question.source or {}).get("text", "")
        is_rating = question.kind == "rating"
        if (rated and is_rating) or (text not in places and not is_rating):
            continue
        rated |= is_rating
        label = "4" if is_rating else PLACES[places[text] - 1]
        order = responses.order_for(session=session, question=question)
        posted = kind.simulate(question.content, order, dice=random.Random(0), label=label)
        sent = responses.Submission(slot=slot.pk, submission=uuid.uuid4(), posted=posted)
        responses.submit(token=session.token, sent=sent, now=NOON)
    sessions.leave(session=session, to=SessionState.RETURNED, now=NOON)


filled = kept(fill)


@pytest.fixture
def project(filled: str) -> Project:
    return Project.objects.get(slug=filled)


@pytest.fixture
def client(filled: str) -> Client:
    return signed_in(User.objects.get(username="researcher"))


@pytest.fixture
def report(filled: str, tmp_path: Path) -> Report:
    out = tmp_path / "report"
    call_command("report", "sets", "--format", "json", "--out", str(out), verbosity=0)
    tables = json.loads(next(out.glob("*.json")).read_text())["tables"]
    return {table["name"]: table["rows"] for table in tables}


def cells(rows: list[dict[str, Any]], names: Sequence[str], columns: Sequence[str]) -> dict[tuple[str, ...], list[Any]]:
    """Return the columns of each row by what names it."""
    return {tuple(row[name] for name in names): [row[column] for column in columns] for row in rows}


def page_of(client: Client, study: str) -> dict[str, list[list[str]]]:
    cards = client.get(f"/studies/sets/{study}/results/").context["cards"]
    tables = [table for shown in cards for table in shown.card.tables]
    return {table.name: [[cell.text for cell in row] for row in table.cells] for table in tables}


def exported(study: str, format: str, tmp_path: Path) -> list[dict[str, Any]]:
    out = tmp_path / f"{study}-{format}"
    call_command("export", "sets", study=study, format=format, out=out)
    (file,) = [path for path in out.rglob("*") if path.name.startswith(f"{study}-")]
    with file.open(newline="", encoding="utf-8") as rows:
        return list(csv.DictReader(rows))


def test_the_funnel(report: Report, client: Client) -> None:
    # Items are images. tell: b-five has no answer that counts, and c-one waits for another. find: a-one, b-one, c-five,
    # and a-five by T4 after T2 was rejected; of b-five T6 is undone. second accepts nothing, and asks about the same
    # images, of which it lacks c-five, and for ratings of the three whole sets, of which one of six is there; what T6
    # brought is undone, the image and the rating.
    columns = ("Instances asked", "Undecided", "Accepted", "Rejected", "Undone")
    said = cells(report["funnel"], ("Type", "Study"), columns)
    assert said["all", "tell"] == [3, 2, 4, 0, 0]
    assert said["all", "find"] == [3, 0, 4, 0, 1]
    assert said["all", "second"] == [3, 3, None, None, 2]
    steps = {step.study.slug: step.cell for step in client.get("/projects/sets/").context["funnel"].steps}
    counted = {slug: (cell.counts.asked, cell.counts.accepted) for slug, cell in steps.items()}
    assert counted == {"tell": (6, 4), "find": (5, 4), "second": (8, 0)}


def test_what_became_of_the_descriptions(report: Report, client: Client) -> None:
    # T1 to T5 count, and one "not possible". find has decided about all of them: T2 was filtered out, 1 of 5. second
    # was asked about T1 to T3, and decides nothing.
    found = {(row["Study"], row["Sets"]): list(row.values()) for row in report["descriptions"]}
    assert found["find", "all"][2:10] == [5, 1, 5, 4, 1, 0, 0, pytest.approx(0.2)]
    assert found["find", "static"][2:10] == [4, 0, 4, 3, 1, 0, 0, pytest.approx(0.25)]
    assert found["find", "video"][2:10] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert found["second", "all"][2:9] == [5, 1, 3, 0, 0, 0, 5]
    assert page_of(client, "find")["descriptions"][0][1:9] == ["5", "1", "5", "4", "1", "0", "0", "20.00"]


def test_accuracy_of_retrievers_and_of_describers(report: Report) -> None:
    # find, without T6: ben finds 4 of 5 (not T2), cleo 1 of 5 (T1), dora 2 of 2.
    names = ("Study", "Averaged over", "Descriptions of", "Answers used")
    found = cells(report["retrieval-accuracy"], names, ("Accuracy", "People", "Descriptions", "Answers"))
    near = pytest.approx
    assert found["find", "retrievers", "all", "all"] == [near(2 / 3), 3, 5, 12]
    assert found["find", "retrievers", "all", "asked for at first"] == [near(1 / 2), 2, 5, 10]
    # Of T1, T3, T4 and T5 ben finds all, cleo one of four, dora both that she was asked.
    assert found["find", "retrievers", "all", "after acceptance"] == [near(3 / 4), 3, 4, 10]
    # T5: ben does, cleo does not.
    assert found["find", "retrievers", "video", "all"] == [near(1 / 2), 2, 1, 2]
    # Ann's are found by 2 of 2, 0 of 2 and 2 of 3; fay's by 2 of 3 and 1 of 2.
    assert found["find", "describers", "all", "all"] == [near((4 / 7 + 3 / 5) / 2), 2, 5, 12]
    # second: eve finds T1 of three; all three are ann's. Ratings are no descriptions.
    assert found["second", "retrievers", "all", "all"] == [near(1 / 3), 1, 3, 3]
    assert found["second", "describers", "all", "all"] == [near(1 / 3), 1, 3, 3]
    # Said in the studies' own words of those who read no code.
    assert ("second", "retrievers", "all", "after acceptance") not in found


def test_alphas_three_ways(report: Report) -> None:
    # Observed: ordered pairs that differ over m - 1, over n answers. Expected: (n^2 - sum of squared counts) over
    # n (n - 1).
    # All: T1 0, T2 2, T3 4/2, T4 4/2, T5 2: 8/12. Counts 1 four times, 5 three times, 2, 6, 7, 8 and 9 once, squared
    # 30: 114/132 = 19/22. 1 - (2/3)(22/19) = 13/57.
    # First two: 0 2 2 2 2, 8/10; counts 3 2 and five ones, squared 18: 82/90. 1 - (4/5)(90/82) = 5/41.
    # Accepted, without T2: 6/10; counts 4 3 1 1 1, squared 28: 72/90. 1 - (3/5)(5/4) = 1/4.
    names = ("Study", "Sets", "Metric", "Answers used")
    columns = ("Krippendorff's alpha", "Descriptions", "With two or more answers", "Answers", "Retrievers")
    found = cells(report["retrieval-agreement"], names, columns)
    near = pytest.approx
    assert found["find", "all", "nominal", "all"] == [near(13 / 57), 5, 5, 12, 3]
    assert found["find", "all", "nominal", "asked for at first"] == [near(5 / 41), 5, 5, 10, 2]
    assert found["find", "all", "nominal", "after acceptance"] == [near(1 / 4), 4, 4, 10, 3]
    # Video: 5 and 7 alone: observed 8/2, expected (2 * 2 * 74 - 2 * 144)/2: 4 over 4.
    assert found["find", "video", "interval", "all"] == [near(0), 1, 1, 2, 2]
    # One answer each.
    assert found["second", "all", "nominal", "all"][1:] == [3, 0, 3, 1]
    intervals = cells(report["retrieval-agreement"], names, ["95 % interval"])
    # Five descriptions are too few for one.
    assert intervals["find", "all", "nominal", "all"] == [None]


def test_pay(report: Report) -> None:
    # Answers that were given: in tell ann's four, fay's two and hal's, who withdrew later; in find ben's and cleo's six
    # each and dora's two. Finished: fay once; ben and cleo twice, dora once.
    columns = ("Annotators", "Sessions finished", "Answers paid", "Cost of sessions", "Cost of answers")
    found = cells(report["cost"], ["Study"], (*columns, "Cost without fees"))
    assert {study: [float(cell) for cell in row] for (study,), row in found.items()} == {
        "tell": [2, 1, 7, 1.00, 1.40, 2.40],
        "find": [3, 5, 14, 10.00, 1.40, 11.40],
        "second": [1, 0, 0, 0, 0, 0],
    }


def test_how_the_texts_were_written_beside_who_found_them(filled: str, client: Client) -> None:
    # Tokens: "Ann a one." and all others four. Ann's three texts: 20 s each, nothing pasted; found in find by 4 of 7
    # and in second by 1 of 3. Fay's two: 8 s, pasted, and 30 s; found by 3 of 5.
    every, ann, fay = page_of(client, "tell")["writers"]
    assert every[:8] == ["all", "5", "4.00", "5", "20.00", "20.00", "15", "55.00"]
    assert ann[1:8] == ["3", "4.00", "3", "0.00", "20.00", "10", "50.00"]
    assert fay[1:8] == ["2", "4.00", "2", "50.00", "19.00", "5", "60.00"]
    # Texts, tokens; accepted by others T1, T3, T4 and T5.
    texts = {(row[0], row[1]): row[2:4] for row in page_of(client, "tell")["texts"]}
    assert texts["all", "written"] == ["5", "20"]
    assert texts["all", "accepted by others"] == ["4", "16"]
    page = client.get("/studies/sets/tell/results/").content.decode()
    assert all(f'href="/studies/sets/{study}/results/"' in page for study in ("find", "second"))
    assert "writers" not in page_of(client, "find")
    # That nothing could be written is said in words.
    page = client.get("/projects/sets/instances/video-c/").content.decode()
    assert "not possible" in page
    assert "not_possible" not in page


def test_what_is_exported(filled: str, client: Client, tmp_path: Path) -> None:
    # Accepted by find, and rejected nowhere: T1, T4 and T3, T5; T6 has left with hal.
    out = tmp_path / "whole"
    call_command("export", "sets", format="imagecode", out=out)
    (data,) = out.rglob("train_data.json")
    assert json.loads(data.read_text()) == {
        "static-open-images--static-a": {"0": T1, "4": T4},
        "static-open-images--static-b": {"0": T3},
        "video-c": {"4": T5},
    }
    counted = {
        study: [row["worker"] for row in exported(study, "responses", tmp_path) if row["counted"] == "true"]
        for study in ("tell", "find", "second")
    }
    sizes = {study: (len(workers), len(set(workers))) for study, workers in counted.items()}
    assert sizes == {"tell": (6, 2), "find": (14, 3), "second": (4, 1)}
    for study, outcomes in (("tell", ["none yet"] * 2), ("find", ["rejected", "undone"])):
        found = sorted(row["outcome"] for row in exported(study, "decisions", tmp_path))
        assert found == ["accepted"] * 4 + outcomes
    # The texts of whoever withdrew are nowhere.
    assert Response.objects.filter(annotator__id_digest=digest_of("hal")).exists()
    for page in ("studies/sets/tell/results", "studies/sets/find/results", "projects/sets/results"):
        assert T6 not in client.get(f"/{page}/").content.decode()
    assert all(T6 not in row["answer"] for row in exported("tell", "responses", tmp_path))
