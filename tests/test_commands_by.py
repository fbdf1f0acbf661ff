"""Whom `--by` may name: every command that takes it asks the table of roles and verbs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.core.management.base import CommandError

from results.models import Pseudonym
from studies.models import Event, Study
from tests.databases import kept
from tests.factories import draw_instance, make_launched, make_member, make_person, make_project, make_study
from tests.people import make_annotator

ROOMS = {"studies", "annotation", "predictions", "results", "simulation"}
CHANGES, OWNS, SUPERUSER = {"owner", "editor", "root"}, {"owner", "root"}, {"root"}
PEOPLE = {"owner", "editor", "viewer", "stranger", "root", "gone"}
# command: (its arguments, whom --by may name). What lets each stop later, for another reason, does not matter here.
TABLE: dict[str, tuple[list[str], set[str]]] = {
    "import_instances": (["birds", "no-such-file", "--format", "jsonl"], CHANGES),
    "import_instances --in-background": (["birds", "no-such-file", "--format", "jsonl"], CHANGES),
    "make_image_sets": (["birds", "--photos", "no-such-folder"], CHANGES),
    "import_predictions": (["birds", "no-such-file", "--format", "scores", "--model", "clip"], CHANGES),
    "predict": (["birds", "--model", "no-such-model", "--study", "open"], CHANGES),
    "rename_model": (["birds", "no-such-model", "--name", "clip"], CHANGES),
    "delete_model": (["birds", "no-such-model"], CHANGES),
    "delete_training": (["birds", "no-such-training"], CHANGES),
    "train": (["negclip", "--data", "birds", "--model", "no-such-model", "--name", "clip"], CHANGES),
    "create_study": (["FILE", "--project", "birds"], CHANGES),
    "create_study --replace": (["FILE", "--project", "birds"], CHANGES),
    "set_dataset": (["birds"], CHANGES),
    "set_group": (["birds", "testers", "no-such-file"], OWNS),
    "duplicate_study": (["birds/draft", "copy"], CHANGES),
    "delete_study": (["birds/open"], CHANGES),
    "launch_study": (["birds/draft"], CHANGES),
    "close_study": (["birds/open"], CHANGES),
    "simulate": (["birds/open", "--annotators", "1"], CHANGES),
    "export": (["birds", "--format", "jsonl", "--out", "OUT"], CHANGES),
    "release": (["birds", "--study", "draft", "--name", "v1", "--out", "OUT"], CHANGES),
    "release --with-provider-ids": (["birds", "--study", "draft", "--name", "v1", "--out", "OUT"], OWNS),
    "flag_sessions": (["birds"], CHANGES),
    "exclude": (["birds", "A-34679", "--reason", "clicked"], CHANGES),
    "exclude --provider-id=ann": (["birds", "--reason", "clicked"], OWNS),
    "include": (["birds", "A-34679"], CHANGES),
    "include --provider-id=ann": (["birds"], OWNS),
    "withdraw": (["birds", "A-34679"], CHANGES),
    "withdraw --provider-id=ann": (["birds"], OWNS),
    "forget": (["birds", "A-34679"], CHANGES),
    "forget --provider-id=ann": (["birds"], OWNS),
    # In every project at once.
    "expire_sessions": ([], SUPERUSER),
}


def make_everybody() -> str:
    project = make_project("birds")
    draw_instance(project, 1)
    make_launched(make_study(project, "open"))
    make_study(project, "draft")
    for role in ("owner", "editor", "viewer"):
        make_member(project, role)
    make_member(make_project("fish"), "owner", name="stranger")
    make_person("root", superuser=True)
    gone = make_member(project, "owner", name="gone")
    gone.is_active = False
    gone.save()
    annotator = make_annotator("ann")
    Pseudonym.objects.create(project=project, annotator=annotator, name="A-34679")
    return project.slug


made = kept(make_everybody)


@pytest.fixture
def run(made: str, tmp_path: Path) -> Callable[..., str]:
    """Run a command of the table and return what it complained of."""
    (tmp_path / "study.yaml").write_text("nothing")
    paths = {"FILE": str(tmp_path / "study.yaml"), "OUT": str(tmp_path / "out")}

    def run(called: str, *more: str) -> str:
        name, *option = called.split()
        arguments = [paths.get(argument, argument) for argument in TABLE[called][0]]
        try:
            call_command(name, *arguments, *option, *more, verbosity=0)
        except CommandError as error:
            return str(error)
        return ""

    return run


def takes_by(app: Any, name: str) -> bool:
    return "--by" in load_command_class(app, name).create_parser("manage.py", name)._option_string_actions


def test_every_command_that_takes_by_is_in_the_table() -> None:
    taking = {name for name, app in get_commands().items() if app in ROOMS and takes_by(app, name)}
    assert {called.split()[0] for called in TABLE} == taking


@pytest.mark.parametrize("called", TABLE)
def test_who_is_named_needs_the_right(run: Callable[..., str], called: str) -> None:
    events = Event.objects.count()
    refused = {who for who in sorted(PEOPLE - TABLE[called][1]) if "--by, or leave it out." in run(called, "--by", who)}
    assert refused == PEOPLE - TABLE[called][1]
    assert Event.objects.count() == events
    allowed = {who for who in sorted(TABLE[called][1]) if "--by, or leave it out." not in run(called, "--by", who)}
    assert allowed == TABLE[called][1]


@pytest.mark.parametrize("called", TABLE)
def test_without_a_name_the_shell_is_trusted(run: Callable[..., str], called: str) -> None:
    assert "--by" not in run(called)


@pytest.mark.parametrize(
    ("who", "sentence"),
    [
        ("viewer", "viewer is a viewer. Only owners and editors of birds may launch, pause, close and extend "),
        (
            "stranger",
            "stranger is not a member. Only owners and editors of birds may launch, pause, close and extend ",
        ),
        ("gone", "gone cannot sign in any more. Only owners and editors of birds may launch, pause, close and "),
        ("nobody", "There is no user called 'nobody'. Create one with createsuperuser."),
    ],
)
def test_the_refusal_says_who_may(run: Callable[..., str], who: str, sentence: str) -> None:
    assert run("close_study", "--by", who).startswith(sentence)
    assert Study.objects.get(slug="open").state == "open"
