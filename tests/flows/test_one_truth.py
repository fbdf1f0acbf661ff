"""One filled project, walked whole: whatever two pages, exports and reports say of the same quantity is the same.

Eight vases. Step 3 wants three answers each, of Ann, Ben and Cleo:

    vase-0, 1, 2   candidate-1 three times
    vase-3         candidate-1, candidate-1, candidate-2
    vase-4         candidate-1, candidate-2, candidate-1
    vase-5         None three times
    vase-6         candidate-0, candidate-1, candidate-2
    vase-7         candidate-0, candidate-1, None; a researcher settles it with candidate-0

So six are accepted (one of them settled), one is rejected and one conflicting. Step 4 asks a program about these six;
it keeps vase-0 to vase-4, and not vase-7. The baseline asks Eve and Fay about those five, twenty questions each: Eve is
always right, Fay is wrong about every image (10 of 20 right). Gus answers a second baseline of five questions, always
right; a pilot that was launched last has no answer. A file declares that a model is right about all four questions on
vase-0 to vase-3, and on vase-7.

Then Cleo withdraws. Two of three answers are left to every question of step 3: vase-0 to 2 keep their majority of two,
and vase-3 its own; vase-5 stays rejected. Vase-4 has one against one, and vase-6 too: nothing is decided while an
answer is missing. What was drawn from vase-4 is undone, so the dataset has four instances. Then Fay is excluded.
"""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from annotation.actions.deciding import adjudication
from annotation.actions.removing import removals
from annotation.models import Annotator, Session
from annotation.simulation_ids import SIMULATED_STUDY
from predictions.models import QUESTIONS, Model
from results.actions.cached_statistics import compute_now
from results.models import KeptNumbers
from results.reports.page_tables import PageTable
from studies.models import Project, Question
from tests.databases import kept
from tests.factories import NOON, make_model, make_person, make_prediction, store_missing_files
from tests.pages import signed_in
from tests.people import digest_of
from tests.results.pipelines import BASELINE, STEP_3, STEP_4, open_study, project_of, sit_through
from tests.workspace.api.asking import API, Script, script_of

CHOICES = {
    "ann": ["1", "1", "1", "1", "1", "none", "0", "0"],
    "ben": ["1", "1", "1", "1", "2", "none", "1", "1"],
    "cleo": ["1", "1", "1", "2", "1", "none", "2", "none"],
}
SECOND = {"study": "captions", "kind": "image_to_text", "ask": {"images": ["image"]}, "instances": {"from": "step-4"}}

# What a hand counts. Answers that count; instances by outcome.
BEFORE: dict[str, tuple[int, dict[str, int]]] = {
    "step-3": (24, {"accepted": 6, "rejected": 1, "conflicting": 1}),
    "step-4": (6, {"accepted": 5, "rejected": 1}),
    "baseline": (40, {"agreed": 0, "conflicting": 5}),
    "captions": (5, {"agreed": 5}),
    "pilot": (0, {"none yet": 8}),
}
AFTER: dict[str, tuple[int, dict[str, int]]] = {
    "step-3": (16, {"accepted": 5, "rejected": 1, "none yet": 2}),
    "step-4": (6, {"accepted": 4, "rejected": 1, "undone": 1}),
    "baseline": (20, {"none yet": 4, "undone": 1}),
    "captions": (5, {"agreed": 4, "undone": 1}),
    "pilot": (0, {"none yet": 8}),
}

# The rows of each table of the report, by its name.
Report = dict[str, list[dict[str, Any]]]


def by_vase(person: str) -> Any:
    def choose(question: Question) -> str:
        said = CHOICES[person][int(question.instance.key[-1])]
        return said if said == "none" else f"candidate-{said}"

    return choose


def right_about_captions(question: Question) -> str:
    if question.kind == "image_to_text":
        return question.right
    return next(str(option["key"]) for option in question.content["options"] if option["key"] != question.right)


def fill() -> str:
    researcher = make_person("researcher")
    project = project_of(researcher, instances=8)
    step_3 = open_study(project, STEP_3 | {"answers": 3})
    for person in CHOICES:
        sit_through(step_3, person, by_vase(person))
    vase_7 = Question.objects.get(study=step_3, instance__key="vase-7")
    adjudication.settle(question=vase_7, choice="candidate-0", by=researcher, note="Clear.", now=NOON)
    step_4 = open_study(project, STEP_4)
    played = sit_through(step_4, "dan", lambda q: "both" if q.instance.key == "vase-7" else "original")
    Session.objects.filter(pk=played.pk).update(provider_study_id=f"{SIMULATED_STUDY}1")
    baseline = open_study(
        project, BASELINE | {"answers": 2, "instances": {"from": "step-4", "sample": 5}, "surveys": {"size": 20}}
    )
    sit_through(baseline, "eve", lambda question: question.right)
    sit_through(baseline, "fay", right_about_captions)
    captions = open_study(project, SECOND)
    sit_through(captions, "gus", lambda question: question.right)
    open_study(project, {"study": "pilot", "purpose": "pilot", "kind": "best_of_n"})
    declare(project, make_model(project), ["vase-0", "vase-1", "vase-2", "vase-3", "vase-7"])
    store_missing_files()
    return project.slug


def declare(project: Project, model: Model, keys: list[str]) -> None:
    """Store that `model` is right about all four questions on these instances."""
    for instance in project.instances.filter(key__in=keys):
        for kind, variant in QUESTIONS.values():
            make_prediction(model, instance, kind, variant)


filled = kept(fill)


@pytest.fixture
def project(filled: str) -> Project:
    return Project.objects.get(slug=filled)


@pytest.fixture
def researcher(filled: str) -> User:
    return User.objects.get(username="researcher")


@pytest.fixture
def client(researcher: User, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Return a browser that asks for each address once, since nothing changes after the first."""
    browser = signed_in(researcher)
    monkeypatch.setattr(browser, "get", cache(browser.get))
    return browser


def take_out(project: Project, researcher: User) -> None:
    cleo, fay = (Annotator.objects.get(id_digest=digest_of(person)) for person in ("cleo", "fay"))
    removals.withdraw(annotator=cleo, project=project, by=researcher, now=NOON)
    removals.exclude(annotator=fay, project=project, reason="Fay clicked at random.", by=researcher, now=NOON)


def report_of(tmp_path: Path) -> Report:
    out = tmp_path / "report"
    call_command("report", "vases", "--format", "json", "--out", str(out), verbosity=0)
    report = json.loads(next(out.glob("*.json")).read_text())
    return {table["name"]: table["rows"] for table in report["tables"]}


def exported(study: str, format: str, tmp_path: Path) -> list[dict[str, Any]]:
    out = tmp_path / f"{study}-{format}"
    call_command("export", "vases", study=study, format=format, out=out)
    (file,) = [path for path in out.rglob("*") if path.name.startswith(f"{study}-")]
    if file.suffix == ".csv":
        with file.open(newline="", encoding="utf-8") as rows:
            return list(csv.DictReader(rows))
    return [json.loads(line) for line in file.read_text().splitlines()]


def words(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", response.content.decode()))


def rows_of(script: Script, address: str) -> list[dict[str, Any]]:
    told = script.get(f"{address}?limit=1000").json()
    assert told["next"] is None
    return list(told["results"])


def answers_said(study: str, client: Client, script: Script, tmp_path: Path) -> Iterator[tuple[str, int]]:
    """Yield where it is said how many answers of `study` count, and how many."""
    monitor = re.search(r"Answers ([0-9,]+) of", words(client, f"/studies/vases/{study}/"))
    assert monitor
    yield "monitor", int(monitor[1])
    tile = re.search(rf"\b{study} \w+ T ([0-9,]+) of [0-9,]+ answers", words(client, "/projects/vases/"))
    assert tile
    yield "project page", int(tile[1])
    yield "responses", sum(row["counted"] in {"true", "True", True} for row in exported(study, "responses", tmp_path))
    decisions = exported(study, "decisions", tmp_path)
    yield "decisions", sum(int(row["answers"]) for row in decisions)
    yield "votes", sum(sum(json.loads(row["votes"] or "{}").values()) for row in decisions)
    tables = client.get(f"/studies/vases/{study}/annotators/").context["tables"]
    column = tables[0].headings.index("Answers") if tables else 0
    yield "annotators", sum(int(row[column].text) for table in tables for row in table.cells)
    # Every one of them was timed.
    times = tables_of(client, f"/studies/vases/{study}/results/").get("times")
    yield "times", sum(int(row[1].text) for row in times.cells) if times else 0
    listed = client.get(f"/projects/vases/instances/?study={study}").context["page"].rows
    yield "instances", sum(line.figures.answers for line in listed if line.figures)
    asked = f"{API}projects/vases/studies/{study}/"
    yield "API: progress", script.get(f"{asked}progress/").json()["answers"]["given"]
    yield "API: responses", len(rows_of(script, f"{asked}responses/"))
    yield "API: decisions", sum(row["answers"] for row in rows_of(script, f"{asked}decisions/"))


def outcomes_said(study: str, client: Client, report: Report) -> Iterator[tuple[str, dict[str, int]]]:
    """Yield where it is said how many instances of `study` have which outcome."""
    row = next(row for row in report["funnel"] if (row["Study"], row["Type"], row["Subtype"]) == (study, "all", "all"))
    known = ("none yet", "agreed", "conflicting", "accepted", "rejected", "undone")
    # Columns call what has no outcome yet as pages do.
    columns = {word: "Undecided" if word == "none yet" else word.capitalize() for word in known}
    yield "report", {word: row[column] for word, column in columns.items() if row.get(column)}
    step = next(s for s in client.get("/projects/vases/").context["funnel"].steps if s.study.slug == study)
    yield "project page", {str(word): n for word, n in step.cell.counts.of.items() if n}
    listed = {word: shown_by(f"?study={study}&state={word.replace(' ', '-')}", client) for word in known}
    yield "instances", {word: n for word, n in listed.items() if n}
    stages: Counter[str] = Counter()
    for number in range(8):
        history = client.get(f"/projects/vases/instances/vase-{number}/").context["stages"]
        stages.update(str(stage.outcome) for stage in history if stage.study.slug == study)
    yield "instance pages", dict(stages)


def tables_of(client: Client, page: str) -> dict[str, PageTable]:
    """Return the tables of a page of results by name."""
    return {table.name: table for shown in client.get(page).context.get("cards", ()) for table in shown.card.tables}


@pytest.mark.parametrize(("moment", "expected"), [("before", BEFORE), ("after", AFTER)])
def test_no_two_places_disagree(
    moment: str, expected: Any, project: Project, researcher: User, client: Client, tmp_path: Path
) -> None:
    if moment == "after":
        take_out(project, researcher)
    report = report_of(tmp_path)
    script = script_of(researcher)
    compute_now(page=KeptNumbers.Page.INSTANCES, project=project, now=NOON)
    for study, (answers, outcomes) in expected.items():
        said_of_answers = dict(answers_said(study, client, script, tmp_path))
        assert said_of_answers == dict.fromkeys(said_of_answers, answers), study
        said = {word: n for word, n in outcomes.items() if n}
        assert dict(outcomes_said(study, client, report)) == dict.fromkeys(
            ("report", "project page", "instances", "instance pages"), said
        ), study
        accepted = exported(study, "jsonl", tmp_path)
        assert len(accepted) == outcomes.get("accepted", 0), study
        disagreements = client.get(f"/studies/vases/{study}/disagreements/?show=conflicting").context["filters"]
        monitor = client.get(f"/studies/vases/{study}/").context["progress"].questions
        assert {name: n for name, _, n, _ in disagreements}["conflicting"] == monitor.outcomes["conflicting"]
        decided = Counter(row["outcome"] for row in exported(study, "decisions", tmp_path))
        assert {word: n for word, n in monitor.outcomes.items() if n} == dict(decided), study
        asked = f"{API}projects/vases/studies/{study}/"
        assert script.get(f"{asked}progress/").json()["questions"]["outcomes"] == monitor.outcomes
        assert Counter(row["outcome"] for row in rows_of(script, f"{asked}decisions/")) == decided
    of_all = sum(answers for answers, _ in expected.values())
    assert f"Answers {of_all}" in words(client, "/")
    assert script.get(f"{API}projects/vases/").json()["answers"] == of_all


# Counts of something else, as a hand has them: how many instances the link shows, and the numbers that lead to them.
ELSEWHERE = {
    "before": {
        # Every question of step 3 has three answers, and those about six instances were accepted.
        "?study=step-3&question=several": (8, {"8"}),
        "?study=step-3&state=accepted&question=several": (6, {"6"}),
        "?study=step-3&question=settled": (1, {"1"}),
        "?study=step-3&survey=1": (8, {"8"}),
        # Two kinds with ten questions each.
        "?study=baseline&question=several": (5, {"10"}),
        # Four groups of four questions, eight of each kind.
        "?study=baseline&question=answered&model=CLIP": (4, {"4", "8", "16"}),
    },
    "after": {
        "?study=step-3&question=several": (8, {"8"}),
        "?study=step-3&state=accepted&question=several": (5, {"5"}),
        "?study=step-3&survey=1": (8, {"8"}),
        "?study=step-3&question=settled": (1, {"1"}),
        "?study=baseline&question=answered&model=CLIP": (4, {"4", "8", "16"}),
    },
}


def shown_by(query: str, client: Client) -> int:
    return int(client.get(f"/projects/vases/instances/{query}").context["count"])


@pytest.mark.parametrize("moment", ["before", "after"])
def test_every_count_leads_to_as_many_instances_as_it_says(
    moment: str, project: Project, researcher: User, client: Client
) -> None:
    if moment == "after":
        take_out(project, researcher)
    compute_now(page=KeptNumbers.Page.INSTANCES, project=project, now=NOON)
    pages = [f"/studies/vases/{study}/{page}/" for study in BEFORE for page in ("results", "annotators")]
    counts = {
        (cell.query, cell.text, cell.tooltip)
        for page in ["/projects/vases/results/", *pages]
        for table in [*client.get(page).context.get("tables", ()), *tables_of(client, page).values()]
        for row in table.cells
        for cell in row
        if cell.query
    }
    listed = {query: shown_by(query, client) for query, *_ in counts}
    of_instances = {(query, cell) for query, cell, explained in counts if not explained}
    assert of_instances == {(query, f"{listed[query]:,}") for query, _ in of_instances}
    elsewhere = {(query, explained) for query, _, explained in counts if explained}
    for query, explained in elsewhere:
        assert explained.startswith(f"The {listed[query]:,} instances that " if listed[query] > 1 else "The instance ")
    said: dict[str, set[str]] = defaultdict(set)
    for query, cell, explained in counts:
        if explained:
            said[query].add(cell)
    assert {query: (listed.get(query), said[query]) for query in ELSEWHERE[moment]} == ELSEWHERE[moment]
    assert sum("person=" in query for query in said) == {"before": 7, "after": 5}[moment]
    # Of the study that keeps the dataset: what it asked, accepted and rejected, and all that is complete; of another,
    # whose instances have four questions each, those about which all are as far.
    assert {query for query, _ in of_instances} > {
        "?study=step-4",
        "?study=step-4&state=accepted",
        "?study=step-4&progress=complete",
        f"?study=baseline&progress={'complete' if moment == 'before' else 'open'}",
        "?study=baseline&question=answered",
        "?study=step-4&model=CLIP&state=accepted",
    }


@pytest.mark.parametrize(("moment", "size", "examples"), [("before", 5, 5), ("after", 4, 4)])
def test_the_dataset_is_the_same_everywhere(
    moment: str, size: int, examples: int, project: Project, researcher: User, client: Client, tmp_path: Path
) -> None:
    if moment == "after":
        take_out(project, researcher)
    assert report_of(tmp_path)["dataset"][0]["Instances"] == size
    assert tables_of(client, "/projects/vases/results/")["dataset"].cells[0][2].text == str(size)
    assert shown_by("?state=accepted", client) == size
    assert len(exported("step-4", "jsonl", tmp_path)) == size
    call_command("release", "vases", study="step-4", name="v1", format="jsonl", out=tmp_path / "out")
    released = [path for path in (tmp_path / "out").rglob("*.jsonl") if "instances" in path.name]
    assert len(released[0].read_text().splitlines()) == size
    (card,) = list((tmp_path / "out").rglob("README.md"))
    assert f"{size:,} instances" in card.read_text()


def test_human_scores_are_each_baselines_own_and_leave_out_only_who_was_excluded(
    project: Project, researcher: User, client: Client, tmp_path: Path
) -> None:
    def scores() -> dict[tuple[str, str], Any]:
        return {
            (row["Study"], row["Score"]): (row["Value"], row["People"])
            for row in report_of(tmp_path)["intervals"]
            if row["Who"] == "Humans"
        }

    before = scores()
    # Eve 100 %, Fay 100 % of the captions and 0 % of the images: of both, the mean over two people.
    assert before["baseline", "I2T"] == (pytest.approx(1.0), 2)
    assert before["baseline", "T2I"] == (pytest.approx(0.5), 2)
    assert before["baseline", "Group"] == (pytest.approx(0.5), 2)
    assert before["captions", "Right (image_to_text)"] == (pytest.approx(1.0), 1)
    take_out(project, researcher)
    assert scores()["baseline", "T2I"] == (pytest.approx(1.0), 1)
    page = tables_of(client, "/studies/vases/baseline/results/")["intervals"]
    score, value = page.headings.index("Score"), page.headings.index("Value (%)")
    assert {row[score].text: row[value].text for row in page.cells}["T2I"] == "100.00"


def test_what_rests_on_a_program_says_so_everywhere(project: Project, client: Client, tmp_path: Path) -> None:
    notice = "1 of 1 annotators of step-4"
    for address in ("", "instances/", "instances/vase-0/", "results/"):
        assert notice in words(client, f"/projects/vases/{address}"), address
    for study in ("step-4", "baseline"):
        for page in ("", "results/", "disagreements/", "annotators/"):
            assert notice in words(client, f"/studies/vases/{study}/{page}"), (study, page)
    assert notice not in words(client, "/studies/vases/step-3/")
    assert {row["simulated"] for row in exported("step-4", "responses", tmp_path)} <= {"true", "True"}
    assert {row["simulated"] for row in exported("step-3", "responses", tmp_path)} <= {"false", "False"}
