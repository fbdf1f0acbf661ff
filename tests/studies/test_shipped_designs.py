"""The study files that ship work in several projects of one site, each under its own name."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client

from studies.models import InstanceImage, Study
from tests.factories import make_instance, make_person, make_project

pytestmark = pytest.mark.django_db

# In the order in which they feed each other.
FIRST = ("bivlc-step-3", "bivlc-step-4", "bivlc-baseline")
FILES = {file.stem: file for file in (Path(settings.BASE_DIR) / "studies" / "designs").glob("*.yaml")}
DESIGNS = [FILES[name] for name in (*FIRST, *sorted(FILES.keys() - set(FIRST)))]


@pytest.fixture
def two_projects(tmp_path: Path) -> None:
    """As somebody uses them: with a line that says whom to write to."""
    for name in ("birds", "fish"):
        instance = make_instance(make_project(name), f"{name}-1")
        for role in ("image", "model_a", "model_b", "model_c"):
            InstanceImage.objects.create(instance=instance, role=role, position=0, filename=f"{role}.png")
        for position in range(10):
            InstanceImage.objects.create(
                instance=instance, role="set", position=position, filename=f"img{position}.jpg"
            )
        for design in DESIGNS:
            own = tmp_path / design.name
            own.write_text(design.read_text(encoding="utf-8").replace('contact: ""', "contact: Ada"), encoding="utf-8")
            call_command("create_study", str(own), project=name, stdout=StringIO())


@pytest.mark.usefixtures("two_projects")
def test_each_project_has_them_all_and_each_is_fed_by_its_own() -> None:
    assert Study.objects.count() == 2 * len(DESIGNS)
    for study in Study.objects.exclude(fed_by=None).select_related("fed_by"):
        assert study.fed_by is not None
        assert study.fed_by.project_id == study.project_id


@pytest.mark.usefixtures("two_projects")
def test_a_command_says_which_ones_there_are_and_takes_the_one_that_is_named(client: Client) -> None:
    with pytest.raises(CommandError, match="birds/bivlc-step-4, fish/bivlc-step-4"):
        call_command("launch_study", "bivlc-step-4")
    call_command("launch_study", "fish/bivlc-step-4", stdout=StringIO())
    states = Study.objects.filter(slug="bivlc-step-4").order_by("project__slug").values_list("state", flat=True)
    assert list(states) == ["draft", "open"]
    client.force_login(make_person("root", superuser=True))
    assert "Draft" in client.get("/studies/birds/bivlc-step-4/").content.decode()
    assert "Open" in client.get("/studies/fish/bivlc-step-4/").content.decode()
    assert client.get("/studies/bivlc-step-4/").status_code == 404
