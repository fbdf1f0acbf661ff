"""The examples of docs/api.md against a running site: in Python, statement after statement, and for a shell."""

import ast
import inspect
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from config.celery import app
from lineup_client import Lineup
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Instance
from tests.factories import draw_image, make_instance, make_model, make_person, make_project
from tests.lineup_client.inside import people_answer
from tests.studies.source_files import picture_bytes
from tests.workspace.api.asking import token_of

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
STUDY_FILE = """
study: step-3
title: Which image fits?
contact: Ada
kind: best_of_n
ask: {caption: caption, becomes: image}
answers: 3
surveys: {size: 2}
rule: majority-v1
"""


def examples() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def inline_calls() -> list[str]:
    """Return what stands in the sentences of the guide between backticks and is called on what the client returns."""
    inline = re.findall(r"`([^`\n]+)`", GUIDE.read_text(encoding="utf-8"))
    return [code for code in inline if re.match(r"(project|study|site)\.[\w.]+\(", code)]


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the examples name."""
    monkeypatch.chdir(tmp_path)
    Path("images").mkdir()
    for number, name in enumerate(("1a.jpg", "1b.jpg")):
        Path("images", name).write_bytes(picture_bytes(size=(80 + number, 60)))
    Path("study.yaml").write_text(STUDY_FILE, encoding="utf-8")
    Path("rows.jsonl").write_text(
        '{"key": "big", "caption": "A bird.", "images": ["2.png", "3.png"]}\n', encoding="utf-8"
    )
    with zipfile.ZipFile("images.zip", "w") as packed:
        for name, size in (("2.png", (90, 60)), ("3.png", (91, 60))):
            packed.writestr(name, picture_bytes(size=size))


@pytest.fixture
def _worker() -> Iterator[None]:
    """What is sent to a worker is done by who sends it."""
    app.conf.task_always_eager = True
    yield
    app.conf.task_always_eager = False


@pytest.fixture
def owner(transactional_db: None) -> User:
    """Somebody with a project in which other rows, with known answers, and a model are already."""
    owner = make_person("ann", superuser=True)
    project = make_project("birds")
    make_model(project, "CLIP openai")
    for number in range(3):
        known = {"captions": {"caption": "A bird."}, "reference": {"right": "candidate-0"}}
        instance = make_instance(project, f"row-{number}", candidates=0, source_row=number + 1, **known)
        for place in range(2):
            image = draw_image(10 * number + place)
            instance.images.create(role="candidate", position=place, filename=f"{place}.png", image=image)
    return owner


def three_people_answer() -> None:
    """Three people answer the first survey; the questions of the other stay undecided."""
    name_annotators(project=people_answer().project)
    Pseudonym.objects.filter(pk=Pseudonym.objects.order_by("pk")[0].pk).update(name="A-34679")


def run(statement: ast.stmt, names: dict[str, Any]) -> Any:
    """Run a statement; return the value of one that is an expression, lists of the site read to the end."""
    if not isinstance(statement, ast.Expr):
        exec(compile(ast.Module([statement], []), GUIDE.name, "exec"), names)  # noqa: S102
        return None
    value = eval(compile(ast.Expression(statement.value), GUIDE.name, "eval"), names)  # noqa: S307
    return list(value) if isinstance(value, Iterator) or type(value).__name__ == "Rows" else value


@pytest.mark.once(on="sqlite", because="what the API does on both is tried by its own tests")
@pytest.mark.usefixtures("_files", "_worker")
def test_every_statement_runs_against_a_site(live_server: LiveServer, owner: User, settings: Settings) -> None:
    settings.SITE_URL = live_server.url
    names: dict[str, Any] = {}
    values: dict[str, Any] = {}
    token = token_of(owner)
    try:
        for example in examples():
            here = example.replace("https://lineup.example", live_server.url).replace("lineup_...", token)
            for statement in ast.parse(here).body:
                code = ast.unparse(statement)
                values[code] = run(statement, names)
                if "launch()" in code:
                    three_people_answer()
        assert len(list(names["project"].instances(progress="complete"))) == 2
    finally:
        names["project"]._site.close()
    link = values["study.launch()['invite_url']"]
    assert httpx.get(link).status_code == 200
    assert len(values["study.responses().to_pandas()"]) == 6
    assert values["study.progress()"]["answers"] == {"given": 6, "wanted": 12}
    assert {Path(name).exists() for name in ("birds.parquet", "birds-v1.zip")} == {True}
    assert Instance.objects.filter(key="big").exists()


@pytest.mark.once(on="sqlite", because="what the API does on both is tried by its own tests")
@pytest.mark.usefixtures("_files")
def test_the_example_for_a_shell_imports_its_rows(live_server: LiveServer, owner: User) -> None:
    token, picture = token_of(owner), picture_bytes(size=(95, 60))
    digest = sha256(picture).hexdigest()
    Path("birds.jsonl").write_text('{"key": "shell", "caption": "A bird.", "images": ["a.png"]}\n', encoding="utf-8")
    images = f"{live_server.url}/api/v1/projects/birds/images/{digest}/"
    httpx.put(images, content=picture, headers={"Authorization": f"Bearer {token}"}).raise_for_status()
    (example,) = re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    here = example.replace("https://lineup.example", live_server.url).replace("9f86d0...", digest)
    environment = os.environ | {"TOKEN": token}
    ran = subprocess.run(["sh", "-c", here], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert Instance.objects.get(key="shell").images.get().image_id == digest, ran.stdout


@pytest.mark.parametrize("code", inline_calls())
def test_what_stands_in_its_sentences_can_be_called_so(code: str) -> None:
    site = Lineup("https://lineup.example", "lineup_abc")
    project = site.project("birds")
    names = {"site": site, "project": project, "study": project.study("pick")}
    (call,) = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call) and ".wait" not in ast.unparse(node.func)
    ]
    method = eval(ast.unparse(call.func), names)  # noqa: S307
    inspect.signature(method).bind(*call.args, **{str(each.arg): each.value for each in call.keywords})


def test_the_guide_has_examples() -> None:
    assert len(examples()) == 2
    assert len(inline_calls()) >= 3
