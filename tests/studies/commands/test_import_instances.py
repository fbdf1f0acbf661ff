import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from background.tasks import run_job
from studies.importing import IMPORTERS
from studies.models import Event, Import, Instance, Membership, Project
from tests.jobs import run_now
from tests.studies.source_files import manifest_bytes, manifest_row, write_images

pytestmark = pytest.mark.django_db


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    file = tmp_path / "manifest.csv"
    file.write_bytes(manifest_bytes(manifest_row(0), manifest_row(1)))
    return file


def run(*arguments: Any, **options: Any) -> None:
    call_command("import_instances", *map(str, arguments), **({"format": "bivlc-manifest"} | options))


def test_it_makes_the_project_and_says_what_was_imported(
    manifest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("cats", manifest, "--images", write_images(tmp_path / "pictures"))
    output = capsys.readouterr().out
    assert "manifest.csv: 2 records: 2 added, 0 already there. 8 images read" in output
    assert "The project cats was made." in output
    assert Project.objects.get().slug == "cats"
    run("cats", manifest, "--images-later")
    output, errors = capsys.readouterr()
    assert "0 added, 2 already there." in output
    assert "made" not in output
    # Progress bars go to the error stream.
    assert "rows" in errors
    assert "%" not in output
    run("dogs", manifest, "--images-later", "--dry-run")
    assert "2 would be added" in capsys.readouterr().out
    assert not Project.objects.filter(slug="dogs").exists()


def test_anybody_can_be_named_for_a_project_that_does_not_exist_but_only_its_editors_afterwards(manifest: Path) -> None:
    anna = User.objects.create_user("anna")
    ben = User.objects.create_user("ben")
    run("cats", manifest, "--images-later", "--owner", "ben", "--by", "anna")
    membership = Membership.objects.get()
    assert (membership.project.slug, membership.user, membership.role) == ("cats", ben, "owner")
    assert set(Event.objects.values_list("by", flat=True)) == {anna.pk}
    with pytest.raises(
        CommandError, match=r"anna is not a member\. Only owners and editors of cats may import instances"
    ):
        run("cats", manifest, "--images-later", "--by", "anna")
    run("cats", manifest, "--images-later", "--by", "ben")


def test_in_the_background_it_returns_at_once_and_says_where_to_look(
    manifest: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.SITE_URL = "https://lineup.example.org"
    sent: list[int] = []
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: sent.append(*args))
    monkeypatch.chdir(tmp_path)
    write_images(tmp_path / "pictures")
    with django_capture_on_commit_callbacks(execute=True):
        run("cats", "manifest.csv", "--images", "pictures", "--in-background")
    wanted = Import.objects.get()
    output = capsys.readouterr().out
    assert "https://lineup.example.org/projects/cats/imports/ shows its progress and result." in output
    assert "The project cats was made." in output
    assert not Instance.objects.exists()
    assert wanted.job is not None
    assert sent == [wanted.job.pk]
    monkeypatch.chdir("/")
    run_now(wanted.job)
    assert Instance.objects.filter(images__image__isnull=False).distinct().count() == 2
    with pytest.raises(CommandError, match="not allowed with argument"):
        call_command("import_instances", "cats", "manifest.csv", "--format=jsonl", "--dry-run", "--in-background")


def test_a_table_is_read_by_a_mapping_which_is_guessed_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, mapping = tmp_path / "vases.csv", tmp_path / "mapping.json"
    table.write_text("id,text\n7,A vase.\n", encoding="utf-8")
    with pytest.raises(CommandError, match="needs a mapping") as refused:
        run("vases", table, format="table")
    mapping.write_text("{" + str(refused.value).partition("{")[2], encoding="utf-8")
    assert json.loads(mapping.read_text()) == {"id": "key", "text": "caption:caption"}
    run("vases", table, "--mapping", mapping, format="table")
    assert "vases.csv: 1 record: 1 added" in capsys.readouterr().out
    assert Instance.objects.get().key == "7"


def test_a_refusal_lists_the_problems_and_makes_nothing(manifest: Path, tmp_path: Path) -> None:
    folder = write_images(tmp_path / "pictures")
    (folder / "1.jpg").unlink()
    with pytest.raises(CommandError) as refused:
        run("cats", manifest, "--images", folder)
    heading, *problems, options = str(refused.value).splitlines()
    assert options == "--images names their folder; --images-later lets them come later."
    assert (refused.value.returncode, heading) == (1, "Nothing was imported from manifest.csv.")
    assert [problem[:9] for problem in problems] == ["Record 1,", "Record 2,"]
    assert all("The file 1.jpg is not among the images. Add what is missing" in problem for problem in problems)
    assert not Project.objects.exists()
    assert not Instance.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("cats", "{tmp}/none.csv"), {}, r"none.csv cannot be opened \(No such file or directory\)\. Check the name\."),
        (("cats", "{file}"), {}, "Choose their folder or zip, or choose to let images come later"),
        (("cats", "{tmp}"), {}, "is a folder. Name the file inside it."),
        (("cats", "/dev/null"), {}, "is not a regular file."),
        (("cats", "{file}", "--images", "{tmp}/none"), {}, "none does not exist or is not a folder."),
        (("cats", "{file}", "--images", "{file}"), {}, "does not exist or is not a folder."),
        (("cats", "{file}"), {"format": "xml"}, f"'xml' is unknown. Use one of {', '.join(IMPORTERS)}."),
        (("cats", "{file}", "--caption-rule", "best"), {}, "The caption rule 'best' is unknown. Use one of as-is-v1,"),
        (("cats", "{file}", "--owner", "nobody"), {}, "There is no user called 'nobody'."),
        (("cats", "{file}", "--mapping", "{file}"), {}, "manifest.csv cannot be read as JSON"),
        (("cats", "{tmp}/none.csv"), {"format": "table"}, r"The format table needs a mapping"),
        (("two cats", "{file}"), {}, "'two cats' cannot name a project."),
        (("cats\n", "{file}"), {}, "cannot name a project. Use letters, digits, hyphens and underscores only."),
        (("c" * 51, "{file}"), {}, "It is too long. Use at most 50 characters."),
    ],
)
def test_a_mistake_of_the_user_gets_a_sentence(
    arguments: tuple[str, ...], options: dict[str, str], sentence: str, manifest: Path, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=sentence):
        run(*(argument.format(tmp=tmp_path, file=manifest) for argument in arguments), **options)
    assert not Project.objects.exists()
