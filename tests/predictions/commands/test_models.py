"""`rename_model` and `delete_model`."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from predictions.models import Model
from tests.factories import make_model, make_project

pytestmark = pytest.mark.django_db


def test_a_model_is_named_by_as_much_as_tells_it_apart(capsys: pytest.CaptureFixture[str]) -> None:
    project = make_project("birds")
    for version, weights in (("1", "aa"), ("2", "ab"), ("2", "ba")):
        make_model(project, "CLIP", version=version, weights=weights)
    with pytest.raises(CommandError, match=r"several such models: CLIP 1 \(aa\), CLIP 2 \(ab\), CLIP 2 \(ba\)"):
        call_command("rename_model", "birds", "CLIP", name="SigLIP")
    with pytest.raises(CommandError, match=r"birds has no such model. It has CLIP 1 \(aa\)"):
        call_command("delete_model", "birds", "clip")
    call_command("rename_model", "birds", "CLIP", model_version="2", weights="b", new_version="")
    call_command("delete_model", "birds", "CLIP", model_version="1", dry_run=True)
    call_command("delete_model", "birds", "CLIP", model_version="2")
    assert capsys.readouterr().out.splitlines() == [
        "CLIP 2 (ba) was renamed to CLIP (ba).",
        "CLIP 1 (aa) would be deleted, with 0 predictions about 0 instances.",
        "CLIP 2 (ab) was deleted, with 0 predictions about 0 instances.",
    ]
    assert set(Model.objects.values_list("version", "weights")) == {("1", "aa"), ("", "ba")}


def test_what_cannot_be_done_is_said() -> None:
    project = make_project("birds")
    with pytest.raises(CommandError, match="The project has no models yet"):
        call_command("delete_model", "birds", "CLIP")
    make_model(project, "CLIP")
    with pytest.raises(CommandError, match=r"Nothing to rename\. Give --name or --new-version"):
        call_command("rename_model", "birds", "CLIP")
    make_model(project, "SigLIP")
    with pytest.raises(CommandError, match="another model of this name"):
        call_command("rename_model", "birds", "CLIP", name="SigLIP")
