import hashlib
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import global_settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoDbBlocker, Settings

from analytics.outcomes import Outcome
from annotation.models import Decision, Response, Seat, Session, SessionState
from annotation.models.outcomes import count_items
from predictions.models import Prediction, Run
from predictions.scorers.onnx import DEMO_FILE
from results.queries.reports.report_rows import project_facts
from results.reports.sections.funnel import accepted_items_of
from simulation.demo.scenes import describe_instances
from simulation.demo.study import practice_instances, study_file
from studies.design import read_design
from studies.models import Event, Image, Instance, Project, Question, Study, StudyState
from tests.databases import connected_to, rolled_back
from tests.servers import spare_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 480
STOP_SECONDS = 60
# Whichever test comes first waits for a demo to be made.
pytestmark = pytest.mark.timeout(900)
of_the_demo = pytest.mark.once(on="sqlite", because="a demo makes its own site, whose database is SQLite")


@dataclass(frozen=True)
class Shown:
    """What a demo said and served before it was stopped, and the folder that it leaves."""

    folder: Path
    site: str
    log: str
    returncode: int
    children: list[str]
    # The pages behind the links for an annotator and for somebody invited, and the headers of their stylesheets.
    pages: list[str]
    sheets: list[httpx.Headers]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Run `make demo`'s command in an empty folder until its models have answered, and stop it."""
    folder, port = tmp_path_factory.mktemp("demo"), spare_port()
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("STATIC_", "DJANGO_"))}
    environment |= {"DEMO_DIR": str(folder), "DEMO_PORT": str(port), "PYTHONUNBUFFERED": "1"}
    # Of another site: the demo must not touch it.
    environment["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/elsewhere"
    log, site = folder / "demo.log", f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        demo = subprocess.Popen(
            [sys.executable, "manage.py", "demo"], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        try:
            printed = _wait_for(log, demo, "Ctrl-C stops it.")
            children = _children(demo.pid)
            pages, sheets = _follow_links(printed, site)
            _wait_for_predictions(folder / "db.sqlite3", log, demo)
        finally:
            # The terminal closes; an impatient Ctrl-C meanwhile leaves no process behind.
            demo.send_signal(signal.SIGHUP)
            time.sleep(0.2)
            demo.send_signal(signal.SIGINT)
            demo.wait(timeout=STOP_SECONDS)
    return Shown(folder, site, log.read_text(), demo.returncode, children, pages, sheets)


@pytest.fixture
def demo_folder(
    shown: Shown, django_db_setup: None, django_db_blocker: DjangoDbBlocker, settings: Settings
) -> Iterator[Path]:
    """Stand in the database of a demo that was made before, with its files; what is stored is taken back."""
    # As its site has stored them.
    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    settings.DATA_DIR = shown.folder
    settings.MEDIA_ROOT = shown.folder / "media"
    with django_db_blocker.unblock(), connected_to(str(shown.folder / "db.sqlite3")), rolled_back():
        yield shown.folder


def _counts() -> dict[str, int]:
    models = (User, Instance, Image, Study, Question, Session, Response, Prediction)
    return {model.__name__: model._default_manager.count() for model in models}


def _baseline() -> list[Question]:
    return list(Question.objects.filter(study__slug="drawn-scenes-baseline"))


@of_the_demo
def test_the_demo_has_an_open_study_with_finished_sessions_and_free_seats(demo_folder: Path) -> None:
    study = Study.objects.get(slug="drawn-scenes")
    assert study.state == StudyState.OPEN
    # 70 scenes, 2 of them for practice.
    assert study.questions.count() == 68
    states = Session.objects.filter(study=study).values_list("state", flat=True)
    assert SessionState.FINISHED in states
    assert Seat.objects.filter(study=study, session=None).exists()
    assert Instance.objects.filter(project__slug="demo").exclude(type="").count() == 70
    # Nothing is asked before it was imported.
    assert not Instance.objects.filter(project__slug="demo", created_at__gt=study.launched_at).exists()
    # The next studies ask about what came before, and somebody has answered in each.
    fed = Study.objects.filter(fed_by__isnull=False, project__slug="demo")
    assert {study.slug: study.fed_by.slug for study in fed if study.fed_by} == {
        "drawn-scenes-filter": "drawn-scenes",
        "drawn-scenes-baseline": "drawn-scenes-filter",
        "drawn-scenes-ratings": "drawn-scenes",
        "drawn-scenes-statements": "drawn-scenes",
        "drawn-scenes-preferences": "drawn-scenes",
    }
    for following in fed:
        assert Response.objects.filter(study=following).count() >= 8
    # A model was asked the four questions about each of the 12 instances of the sample, and not one of them by hand.
    asked = {(question.instance_id, question.kind, question.variant) for question in _baseline()}
    assert len(asked) == 48
    said = Prediction.objects.select_related("model", "conditions")
    assert {(each.instance_id, each.kind, each.variant) for each in said} == asked
    for each in said:
        assert each.model.weights == hashlib.sha256(DEMO_FILE.read_bytes()).hexdigest()
        assert each.content_hash
        assert each.conditions is not None
        assert each.conditions.details["libraries"].keys() == {"onnxruntime", "Pillow", "numpy"}
    # Its people take their time: 12 questions of 2 to 60 seconds, and a minute to read.
    for session in Session.objects.filter(study=study, state=SessionState.FINISHED):
        assert session.ended_at is not None
        assert study.launched_at is not None
        assert study.launched_at < session.arrived_at
        assert 84 <= (session.ended_at - session.arrived_at).total_seconds() <= 900
    # Activity tells the same times.
    launches = Event.objects.filter(what="study launched").values_list("at", "study__launched_at")
    assert len(launches) == 8
    assert all(at == launched_at for at, launched_at in launches)
    begun = Event.objects.get(study=study, what="answers simulated").at
    assert not Session.objects.filter(study=study, arrived_at__lt=begun).exists()
    # What the demo prints: this name and password open the project and the study.
    password = (demo_folder / "demo-password").read_text()
    client = Client()
    signed_in = client.post(reverse("sign_in"), {"username": "researcher", "password": password})
    assert signed_in.status_code == 302
    assert client.get("/projects/demo/").status_code == 200
    assert client.get("/studies/demo/drawn-scenes/").status_code == 200
    assert client.get("/projects/demo-sets/").status_code == 200
    assert client.get("/studies/demo-sets/drawn-sets-retrieve/").status_code == 200


@of_the_demo
def test_the_demo_has_image_sets_that_people_describe_and_find(demo_folder: Path) -> None:
    sets = sorted(Instance.objects.filter(project__slug="demo-sets").values_list("key", "type"))
    assert sets == [(f"{type}-{number}", type) for type in ("static", "video") for number in (1, 2, 3)]
    described = Response.objects.filter(study__slug="drawn-sets-describe").select_related("question__instance")
    # Two people, six images each.
    assert described.count() == 12
    for response in described:
        # What they write is about the image that is marked.
        texts = response.question.instance.reference["other"]["made_up_texts"]
        assert response.answer["text"] in texts[f"set-{response.question.content['target']}"]
    found = Response.objects.filter(study__slug="drawn-sets-retrieve")
    assert found.count() >= 12
    for response in found.select_related("question__instance"):
        writers = described.filter(question__instance=response.question.instance).values_list("annotator", flat=True)
        assert response.annotator_id not in writers
    states = set(Decision.objects.filter(study__slug="drawn-sets-retrieve").values_list("state", flat=True))
    assert Decision.State.ACCEPTED in states


@of_the_demo
@pytest.mark.parametrize("project", ["demo", "demo-sets"])
def test_every_export_of_the_demo_has_a_row_for_each_accepted_item(
    demo_folder: Path, project: str, tmp_path: Path
) -> None:
    facts = project_facts(Project.objects.get(slug=project))
    counted = {study.slug: len(accepted_items_of(study)) if study.accepts else 0 for study in facts.studies}
    assert any(counted.values())
    call_command("export", project, format="jsonl", out=tmp_path, stdout=StringIO())
    written = {slug: (tmp_path / f"{slug}-instances.jsonl").read_text("utf-8").splitlines() for slug in counted}
    assert {slug: len(lines) for slug, lines in written.items()} == counted
    for slug, n in counted.items():
        assert count_items(Study.objects.get(slug=slug)).get(Outcome.ACCEPTED, 0) == n


@of_the_demo
def test_a_second_run_adds_nothing_and_keeps_the_password_which_only_its_owner_can_read(demo_folder: Path) -> None:
    first, password = _counts(), (demo_folder / "demo-password").read_text()

    call_command("demo", no_serve=True, stdout=StringIO())

    assert _counts() == first
    assert (demo_folder / "demo-password").read_text() == password
    assert (demo_folder / "demo-password").stat().st_mode & 0o777 == 0o600
    assert User.objects.get(username="researcher").check_password(password)


@of_the_demo
def test_without_what_computes_the_model_a_demo_says_so_and_goes_on_once_it_is_there(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Prediction.objects.all().delete()
    Run.objects.all().delete()
    with monkeypatch.context() as missing:
        missing.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(CommandError, match=r"Install it there: pip install onnxruntime\.$"):
            call_command("demo", no_serve=True, stdout=StringIO())
    assert not Prediction.objects.exists()
    call_command("demo", no_serve=True, stdout=StringIO())
    assert [(run.state, run.stored) for run in Run.objects.all()] == [(Run.State.DONE, 48)]


def test_a_port_in_use_gives_one_clear_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setenv("DEMO_PORT", str(port))

        with pytest.raises(CommandError, match=rf"^Port {port} cannot be used .*make demo DEMO_PORT="):
            call_command("demo")


def test_the_scenes_can_be_drawn_alone_to_try_every_step_oneself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulation.management.commands.demo.PER_CATEGORY", 1)
    monkeypatch.setattr("simulation.management.commands.demo.SETS_OF_EACH", 1)
    out = StringIO()

    call_command("demo", draw=tmp_path / "scenes", stdout=out)

    manifest = tmp_path / "scenes" / "manifest.jsonl"
    assert out.getvalue() == (
        f"Drew 7 scenes with four candidates each; {manifest} lists them.\n"
        f"Drew 2 sets of ten similar scenes; {tmp_path / 'scenes' / 'image-sets.jsonl'} lists them.\n"
    )
    assert len(manifest.read_text(encoding="utf-8").splitlines()) == 7
    assert len(list((tmp_path / "scenes" / "images").rglob("*.jpg"))) == 55
    studies = [read_design(file.read_text(encoding="utf-8")).study for file in (tmp_path / "scenes").glob("*.yaml")]
    names = ["drawn-scenes", "drawn-scenes-baseline", "drawn-scenes-filter", "drawn-scenes-ratings"]
    names += ["drawn-scenes-preferences", "drawn-scenes-statements", "drawn-sets-describe", "drawn-sets-retrieve"]
    assert sorted(studies) == sorted(names)


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(CommandError, match=r"file cannot be written .*Choose another folder"):
        call_command("demo", draw=tmp_path / "file")


@pytest.mark.parametrize("text", ["", "http", "0", "70000", "-1"])
def test_a_port_that_is_none_gives_one_clear_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_PORT", text)

    with pytest.raises(CommandError, match="Write a port number from 1 to 65535"):
        call_command("demo")


def test_the_study_file_is_a_design_and_practises_on_a_right_picture_and_on_none() -> None:
    instances = list(describe_instances(seed="demo", per_category=10))

    design = read_design(study_file(instances))

    assert len(design.practice.questions) == 2
    with_right, without = practice_instances(instances)
    assert [question.right for question in design.practice.questions] == [f"candidate-{with_right.right}", "none"]
    assert without.right is None


def test_the_demo_serves_its_links_and_stops_in_good_order(shown: Shown) -> None:
    for page, words in zip(shown.pages, ("demonstration", "Which image shows"), strict=True):
        assert words in page
    # The stylesheet is served as in production: named by its content, for ever cacheable.
    assert ["immutable" in sheet["Cache-Control"] for sheet in shown.sheets] == [True, True]
    assert shown.returncode == 0, shown.log
    # The web server, the worker of the site, the one with models, the local platform, and its participants.
    assert len(shown.children) == 5
    assert not [child for child in shown.children if Path(f"/proc/{child}").exists()]
    assert "The demo has stopped." in shown.log


def _wait_for(log: Path, demo: "subprocess.Popen[bytes]", text: str) -> str:
    def is_told() -> bool:
        assert demo.poll() is None, log.read_text()
        return text in log.read_text()

    wait_until(is_told, seconds=START_SECONDS, why=log.read_text)
    return log.read_text()


def _wait_for_predictions(database: Path, log: Path, demo: "subprocess.Popen[bytes]") -> None:
    """Wait until the worker with models has been asked, has answered, and the site's has stored all of it."""
    asked = "SELECT state, stored, wrong, total FROM predictions_run"
    with closing(sqlite3.connect(database)) as connection:

        def found() -> tuple[Any, ...]:
            assert demo.poll() is None, log.read_text()
            return tuple(connection.execute(asked).fetchone() or ())

        wait_until(
            lambda: found() == ("done", 48, 0, 48), seconds=START_SECONDS, why=lambda: (found(), log.read_text())
        )


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _follow_links(printed: str, site: str) -> tuple[list[str], list[httpx.Headers]]:
    links = re.findall(rf"{site}\S*", printed)
    annotator = next(link for link in links if "PROLIFIC_PID=" in link)
    invite = next(link for link in links if "invite=" in link)
    # Whoever opens the first presses Start there; the second is only looked at.
    asked = ((httpx.post, annotator), (httpx.get, invite))
    pages = [ask(link, timeout=30, follow_redirects=True).text for ask, link in asked]
    sheets = [re.search(r'href="(/static/css/app\.[0-9a-f]+\.css)"', page) for page in pages]
    return pages, [httpx.get(site + sheet[1], timeout=30).headers for sheet in sheets if sheet is not None]
