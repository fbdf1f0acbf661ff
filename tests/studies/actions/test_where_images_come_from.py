"""Source, licence and generator belong to the use of a picture, not to its bytes."""

from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from studies.actions.imports.import_state import ImportSummary
from studies.models import Event, Image, InstanceImage, Project
from tests.factories import NOON, draw_image, draw_instance, make_project
from tests.studies.source_files import import_file, json_lines, write_images

pytestmark = pytest.mark.django_db

CONFIDENTIAL: dict[str, Any] = {
    "source": "the clinic's archive",
    "licence": "not for anybody",
    "generator": "secret-model",
}
upgrade = import_module("studies.migrations.0006_tell_uses_where_images_come_from")


def import_rows(
    project: Project, tmp_path: Path, *, images: bool = True, later: bool = False, dry_run: bool = False, **said: Any
) -> ImportSummary:
    file = tmp_path / "rows.jsonl"
    file.write_bytes(json_lines({"key": "x", "caption": "A cat.", "images": ["0.jpg", "1.jpg"], **said}))
    folder = write_images(tmp_path / "pictures") if images else None
    return import_file(file, folder, to=project, format="jsonl", images_later=later, dry_run=dry_run)


def said_in(project: Project) -> set[tuple[str, str, str]]:
    uses = InstanceImage.objects.filter(instance__project=project)
    return set(uses.values_list("source", "licence", "generator"))


def test_another_project_with_the_same_picture_learns_nothing_of_it(tmp_path: Path) -> None:
    clinic, school = make_project("clinic"), make_project("school")
    import_rows(clinic, tmp_path, **CONFIDENTIAL)
    import_rows(school, tmp_path, licence="CC0-1.0")
    assert Image.objects.count() == 2
    assert said_in(clinic) == {tuple(CONFIDENTIAL.values())}
    assert said_in(school) == {("", "CC0-1.0", "")}
    # The bytes say nothing themselves.
    assert set(Image.objects.values_list("source", "licence", "generator")) == {("", "", "")}


@pytest.mark.parametrize("images", [True, False])
def test_a_corrected_licence_counts_from_the_next_import_on(images: bool, tmp_path: Path) -> None:
    project = make_project("clinic")
    import_rows(project, tmp_path, licence="CC-BY-4.0", source="the archive")
    summary = import_rows(project, tmp_path, images=images, licence=["CC-BY-4.0", "CC0-1.0"])
    assert (summary.added, summary.already_there, summary.corrected) == (0, 1, 1)
    assert "1 existing image has a new source, licence or generator." in str(summary)
    uses = InstanceImage.objects.order_by("position")
    # What the second file leaves out stays.
    assert list(uses.values_list("source", "licence")) == [("the archive", "CC-BY-4.0"), ("the archive", "CC0-1.0")]
    events = [event.details["files"][0] for event in Event.objects.order_by("pk")]
    assert [(file["added"], file["corrected"]) for file in events] == [(1, 0), (0, 1)]
    again = import_rows(project, tmp_path, images=images, licence=["CC-BY-4.0", "CC0-1.0"])
    assert again.corrected == 0
    assert Event.objects.count() == 2
    assert "another source" not in str(again)


def test_an_image_that_is_awaited_has_its_licence_already(tmp_path: Path) -> None:
    project = make_project("clinic")
    import_rows(project, tmp_path, images=False, later=True, **CONFIDENTIAL)
    assert said_in(project) == {tuple(CONFIDENTIAL.values())}
    summary = import_rows(project, tmp_path, **CONFIDENTIAL)
    assert (summary.filled, summary.corrected) == (2, 0)
    assert said_in(project) == {tuple(CONFIDENTIAL.values())}


def test_a_dry_run_counts_corrections_and_makes_none(tmp_path: Path) -> None:
    project = make_project("clinic")
    import_rows(project, tmp_path, licence="CC-BY-4.0")
    summary = import_rows(project, tmp_path, images=False, dry_run=True, licence="CC0-1.0")
    assert summary.corrected == 2
    assert "would have a new source" in str(summary)
    assert said_in(project) == {("", "CC-BY-4.0", "")}


def used(project: Project, number: int, *, at: datetime) -> None:
    """Let `project` use the picture 5, of an instance imported at a moment; older versions said nothing there."""
    instance = draw_instance(project, number, candidates=0)
    type(instance).objects.filter(pk=instance.pk).update(created_at=at)
    InstanceImage.objects.filter(instance=instance).update(image=known(), source="", licence="", generator="")


def known(at: datetime = NOON) -> Image:
    image = draw_image(5)
    Image.objects.filter(pk=image.pk).update(created_at=at, **CONFIDENTIAL)
    return image


def told(project: Project) -> bool:
    (said,) = said_in(project)
    assert said in (("", "", ""), tuple(CONFIDENTIAL.values()))
    return any(said)


def test_an_upgrade_tells_the_only_project_that_uses_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    clinic = make_project("clinic")
    draw_instance(clinic, 3)
    upgrade.tell(apps, None)
    # There is nothing to say.
    assert capsys.readouterr().out == ""
    for number, day in ((1, -9), (2, 9)):
        used(clinic, number, at=NOON + timedelta(days=day))
    upgrade.tell(apps, None)
    assert ("drawn", "", "") in said_in(clinic)
    assert said_in(clinic) >= {tuple(CONFIDENTIAL.values())}
    assert not Event.objects.filter(by_name="upgrade").exists()
    assert "copied to 2 uses of images. For 0 images in 0 projects" in capsys.readouterr().out


SECOND, WEEK = timedelta(seconds=1), timedelta(days=7)


@pytest.mark.parametrize(
    ("clinic", "school", "owner"),
    [
        # Both made instances after the picture was stored: the first one brought it.
        (SECOND, WEEK, "clinic"),
        (SECOND, 9 * SECOND, "clinic"),
        # The clinic's place had waited for its file; the school came a week later and found the picture there.
        (-WEEK, WEEK, "clinic"),
        # The clinic's place had waited, and the school's instance came with the picture, or right after it was filled.
        (-WEEK, SECOND, None),
        # Both had waited.
        (-WEEK, -WEEK, None),
        # Whose import brought it has no instance any more.
        (WEEK, 2 * WEEK, None),
    ],
)
def test_an_upgrade_tells_only_the_project_that_surely_brought_a_picture(
    clinic: timedelta, school: timedelta, owner: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    projects = {"clinic": make_project("clinic"), "school": make_project("school")}
    used(projects["clinic"], 1, at=NOON + clinic)
    used(projects["school"], 2, at=NOON + school)
    upgrade.tell(apps, None)
    assert {name for name, project in projects.items() if told(project)} == ({owner} if owner else set())
    events = Event.objects.filter(what="image sources not told", by_name="upgrade")
    assert {event.project.slug for event in events} == set(projects) - {owner}
    for event in events:
        assert event.details == {"images": 1, "first": [known().pk]}
    said = f"to {1 if owner else 0} uses of images. For {1 if owner else 2} images in {1 if owner else 2} projects"
    assert said in capsys.readouterr().out


def test_going_back_lets_the_picture_say_what_a_use_says() -> None:
    draw_instance(make_project("birds"), 1, candidates=1)
    upgrade.give_back(apps, None)
    assert set(Image.objects.values_list("source", "licence", "generator")) == {
        ("drawn", "", ""),
        ("drawn", "CC0", "Pillow"),
    }
