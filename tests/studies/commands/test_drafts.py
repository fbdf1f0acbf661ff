"""Drafts on the command line: replaced, duplicated, deleted."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from studies.models import Event, Study
from tests.factories import create_draft, launch_study, make_member

pytestmark = pytest.mark.django_db


def write(folder: Path, *, answers: int = 3) -> str:
    file = folder / "study.yaml"
    file.write_text(f"study: best-vase\ntitle: Which one?\nkind: best_of_n\nanswers: {answers}\n", encoding="utf-8")
    return str(file)


def test_a_file_replaces_the_draft_of_its_name_when_asked_to(tmp_path: Path) -> None:
    draft = create_draft()
    with pytest.raises(CommandError, match="already has a study called best-vase"):
        call_command("create_study", write(tmp_path), project="vases")
    call_command("create_study", write(tmp_path), project="vases", replace=True, verbosity=0)
    assert [(study.pk, study.design.answers) for study in Study.objects.all()] == [(draft.pk, 3)]


def test_a_study_is_duplicated_under_another_name(capsys: pytest.CaptureFixture[str]) -> None:
    make_member(launch_study().project, "editor", name="anna")
    call_command("duplicate_study", "best-vase", "again", by="anna")
    copy = Study.objects.get(slug="again")
    assert (copy.title, copy.state) == ("Which vase?", "draft")
    assert "Launch it with: manage.py launch_study vases/again" in capsys.readouterr().out
    assert Event.objects.get(what="study duplicated").by_name == "anna"


@pytest.mark.parametrize("name", ["best-vase", "B B"])
def test_a_copy_that_cannot_be_made_is_told_why(name: str) -> None:
    create_draft()
    with pytest.raises(CommandError, match=r"best-vase was not duplicated:\n.*(best-vase|small letters)"):
        call_command("duplicate_study", "best-vase", name)


def test_a_draft_is_deleted_and_a_launched_study_is_not() -> None:
    create_draft()
    call_command("delete_study", "vases/best-vase", verbosity=0)
    assert not Study.objects.exists()
    launch_study()
    with pytest.raises(CommandError, match=r"was launched.* Close it"):
        call_command("delete_study", "best-vase")
