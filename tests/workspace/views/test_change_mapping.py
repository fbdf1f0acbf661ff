"""The mapping of an imported table, changed afterwards: nothing is lost, until a study asks."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from background.models import Job, JobState
from studies.actions.imports import change_mapping
from studies.actions.imports.change_mapping import MappingRefused
from studies.actions.imports.import_jobs import request_mapping_change
from studies.actions.projects.tags import tag_instances
from studies.models import Event, Import, Instance, Membership, Project, Question
from tests.factories import make_member, make_person, make_project, make_study
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from tests.workspace.views.test_uploads import NEW, jpeg, work, zipped

pytestmark = pytest.mark.django_db
TABLE = (
    b"nr,img_1,img_2,text,wrong,mood,best\n"
    b"7,red.jpg,blue.jpg,a red vase,a blue vase,calm,wrong\n"
    b"8,blue.jpg,red.jpg,a blue vase,a red vase,loud,\n"
)
MAPPING = {
    **{"best": "right", "img_1": "image:candidate", "img_2": "image:candidate", "mood": "other", "nr": "key"},
    **{"text": "caption:caption", "wrong": "caption:foil"},
}


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    ids: list[int] = []
    for module in ("imports", "change_mapping"):
        monkeypatch.setattr(f"workspace.views.projects.{module}.send", lambda job: ids.append(job.pk))
    return ids


@pytest.fixture
def editor() -> Client:
    return signed_in(make_member(make_project(), "editor"))


def form_of(mapping: dict[str, str], columns: Any = None) -> dict[str, str]:
    form = {}
    for number, column in enumerate(columns or sorted(mapping)):
        form[f"target-{number}"], _, form[f"role-{number}"] = mapping[column].partition(":")
    return form


def imported(client: Client, content: bytes = TABLE, mapping: dict[str, str] = MAPPING) -> Import:
    images = SimpleUploadedFile("all.zip", zipped(red=jpeg("red"), blue=jpeg("blue")))
    rows = SimpleUploadedFile("vases.csv", content)
    address = client.post(NEW, {"rows": rows, "images": images})["Location"]
    header = content.decode().partition("\n")[0].split(",")
    client.post(address, form_of(mapping, header) | {"at_once": "1", "caption_rule": "keep-case-v1"})
    work()
    one = Import.objects.latest("pk")
    assert one.error == ""
    return one


def address_of(one: Import) -> str:
    return f"/imports/{one.pk}/mapping/"


def test_a_role_that_was_wrong_is_changed_and_nothing_is_lost(editor: Client) -> None:
    one = imported(editor)
    before = dict(Instance.objects.values_list("key", "pk"))
    ids = list(before.values())
    tag_instances(project=one.project, name="good", instances=ids, by=make_person("ada"), now=timezone.now())
    page = words_of(editor.get("/projects/vases/imports/"))
    assert f'href="{address_of(one)}"' in page
    shown = editor.get(address_of(one))
    assert shown.content.decode().count("<img src=") == 4
    assert "a red vase" in words_of(shown)
    new = MAPPING | {"wrong": "caption:negative_caption", "mood": "type", "img_1": "image:set", "img_2": "image:set"}
    assert editor.post(address_of(one), form_of(new))["Location"] == "/projects/vases/imports/"
    assert "Change of the mapping of vases.csv" in words_of(editor.get("/jobs/"))
    # Nothing is changed before the worker comes.
    assert Instance.objects.get(key="7").captions["foil"] == "A blue vase."
    work()
    first = Instance.objects.get(key="7")
    assert dict(Instance.objects.values_list("key", "pk")) == before
    assert first.captions == {"caption": "A red vase.", "negative_caption": "A blue vase."}
    assert first.original_captions == {"caption": "a red vase", "negative_caption": "a blue vase"}
    assert (first.type, first.reference) == ("calm", {"right": "negative_caption"})
    assert list(first.images.values_list("role", "position", "filename")) == [
        ("set", 0, "red.jpg"),
        ("set", 1, "blue.jpg"),
    ]
    assert [tag.name for tag in first.tags.all()] == ["good"]
    told = words_of(editor.get("/projects/vases/imports/"))
    assert "The mapping of 2 instances was changed." in told
    assert Event.objects.filter(what="mapping changed").get().details == {
        "files": "vases.csv",
        "columns": "img_1 from image:candidate to image:set, img_2 from image:candidate to image:set, "
        "mood from other to type, wrong from caption:foil to caption:negative_caption",
    }
    assert "changed the mapping of vases.csv" in words_of(editor.get("/projects/vases/events/"))
    # The same file is the same import now.
    again = imported(editor, mapping=new)
    assert again.summaries[0]["already_there"] == 2


def test_a_set_is_split_into_roles_and_merged_again(editor: Client) -> None:
    one = imported(editor)
    split = MAPPING | {"img_1": "image:image", "img_2": "image:negative_image"}
    editor.post(address_of(one), form_of(split))
    work()
    first = Instance.objects.get(key="7")
    assert list(first.images.values_list("role", "filename")) == [("image", "red.jpg"), ("negative_image", "blue.jpg")]
    # The page begins with the changed mapping.
    page = editor.get(address_of(one)).content.decode()
    assert 'value="negative_image" list="roles"' in page
    swapped = MAPPING | {"img_1": "image:negative_image", "img_2": "image:image"}
    editor.post(address_of(one), form_of(swapped))
    work()
    assert list(first.images.values_list("role", "filename")) == [("image", "blue.jpg"), ("negative_image", "red.jpg")]
    editor.post(address_of(one), form_of(MAPPING))
    work()
    assert list(first.images.values_list("role", "filename")) == [("candidate", "red.jpg"), ("candidate", "blue.jpg")]
    assert Import.objects.exclude(error="").count() == 0


def test_its_page_is_marked_as_instances_in_the_rail(editor: Client) -> None:
    assert 'aria-current="page">Instances</a>' in words_of(editor.get(address_of(imported(editor))))


def test_rows_that_the_new_mapping_cannot_read_are_listed_and_nothing_changes(editor: Client) -> None:
    one = imported(editor)
    editor.post(address_of(one), form_of(MAPPING | {"wrong": "other"}))
    work()
    failed = Import.objects.latest("pk")
    assert failed.error == "Nothing was changed: 1 problem was found."
    assert failed.first_problems == ["Record 1, right: The right answer, 'foil', would not be a caption of the row."]
    assert Instance.objects.get(key="8").captions["foil"] == "A red vase."


def test_a_row_without_one_of_the_images_keeps_a_set_together(editor: Client) -> None:
    one = imported(editor, TABLE.replace(b"8,blue.jpg,red.jpg", b"8,,red.jpg"))
    editor.post(address_of(one), form_of(MAPPING | {"img_1": "image:image", "img_2": "image:foil"}))
    work()
    assert "1 rows do not have exactly 2 images of the role candidate" in Import.objects.latest("pk").error
    assert set(Instance.objects.values_list("images__role", flat=True)) == {"candidate"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"nr": "caption:nr"}, "Key cannot become Caption"),
        ({"wrong": "caption:caption"}, "is also the caption caption"),
        ({}, "Nothing was changed."),
    ],
)
def test_a_wrong_change_is_refused_and_nothing_typed_is_lost(
    editor: Client, change: dict[str, str], sentence: str
) -> None:
    one = imported(editor)
    answer = editor.post(address_of(one), form_of(MAPPING | change))
    assert answer.status_code == 409
    assert sentence in words_of(answer)
    assert Import.objects.count() == 1


def ask(project: Project) -> Question:
    study = make_study(project)
    instance = Instance.objects.filter(project=project).latest("pk")
    return Question.objects.create(study=study, instance=instance, kind="best_of_n", content={}, answers_wanted=1)


def test_once_a_study_has_asked_the_page_says_why_not(editor: Client) -> None:
    one = imported(editor)
    ask(one.project)
    page = words_of(editor.get(address_of(one), follow=True))
    assert "A study has asked about instances of this import, so its mapping cannot change any more" in page
    editor.post(address_of(one), form_of(MAPPING | {"wrong": "caption:negative_caption"}))
    assert Import.objects.count() == 1


def test_a_study_that_asks_while_the_change_waits_stops_it(editor: Client) -> None:
    one = imported(editor)
    editor.post(address_of(one), form_of(MAPPING | {"wrong": "caption:negative_caption"}))
    ask(one.project)
    work()
    assert "A study has asked about instances" in Import.objects.latest("pk").error
    assert "foil" in Instance.objects.first().captions  # type: ignore[union-attr]


def test_a_double_click_is_one_change_and_of_two_tabs_the_last_counts(editor: Client, sent: list[int]) -> None:
    one = imported(editor)
    for _ in range(2):
        editor.post(address_of(one), form_of(MAPPING | {"wrong": "caption:negative_caption"}))
    editor.post(address_of(one), form_of(MAPPING | {"wrong": "caption:distractor"}))
    assert Import.objects.filter(changes=one).count() == 2
    work()
    assert set(Instance.objects.get(key="7").captions) == {"caption", "distractor"}
    assert Event.objects.filter(what="mapping changed").count() == 2


def test_a_lost_worker_changes_it_once(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    one = imported(editor)
    editor.post(address_of(one), form_of(MAPPING | {"img_1": "image:set", "img_2": "image:set"}))
    job = Job.objects.latest("pk")

    class Killed(BaseException):
        pass

    def die(**_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("studies.actions.imports.change_mapping.record", die)
        with pytest.raises(Killed):
            run_now(job)
    assert set(Instance.objects.values_list("images__role", flat=True)) == {"candidate"}
    Job.objects.filter(pk=job.pk).update(beat_at=timezone.now() - timedelta(hours=1))
    assert run_now(job).state == JobState.DONE
    assert run_now(job).attempts == job.attempts
    assert set(Instance.objects.values_list("images__role", flat=True)) == {"set"}
    assert Event.objects.filter(what="mapping changed").count() == 1


def test_a_change_is_cancelled_and_repeated(editor: Client) -> None:
    one = imported(editor)
    editor.post(address_of(one), form_of(MAPPING | {"wrong": "caption:negative_caption"}))
    change = Import.objects.latest("pk")
    editor.post(f"/imports/{change.pk}/cancel/")
    assert "It was cancelled. Nothing was changed." in words_of(editor.get("/projects/vases/imports/"))
    assert Event.objects.filter(what="mapping change cancelled").count() == 1
    editor.post(f"/imports/{change.pk}/again/")
    work()
    assert "negative_caption" in Instance.objects.get(key="7").captions


def test_other_imports_with_the_same_file_name_keep_their_mapping(editor: Client) -> None:
    one = imported(editor)
    imported(editor, TABLE.replace(b"\n7,", b"\n17,").replace(b"\n8,", b"\n18,"))
    editor.post(address_of(one), form_of(MAPPING | {"wrong": "caption:negative_caption"}))
    work()
    assert {key: "foil" in captions for key, captions in Instance.objects.values_list("key", "captions")} == {
        **{"7": False, "8": False, "17": True, "18": True}
    }


def test_only_owners_and_editors_change_it(editor: Client) -> None:
    one = imported(editor)
    form = form_of(MAPPING | {"wrong": "caption:negative_caption"})
    stranger = signed_in(make_member(make_project("fish"), "owner", name="stranger"))
    viewer = signed_in(make_member(one.project, "viewer", name="viewer"))
    for client, status in ((stranger, 404), (viewer, 403)):
        assert (client.get(address_of(one)).status_code, client.post(address_of(one), form).status_code) == (
            status,
            status,
        )
    Project.objects.update(archived_at=timezone.now())
    assert editor.post(address_of(one), form).status_code == 403
    assert Import.objects.count() == 1
    Project.objects.update(archived_at=None)
    Membership.objects.filter(user__username="editor").update(role="owner")
    assert editor.post(address_of(one), form).status_code == 302


def test_an_archived_project_is_not_changed_by_what_still_waits(editor: Client) -> None:
    one = imported(editor)
    editor.post(address_of(one), form_of(MAPPING | {"wrong": "caption:negative_caption"}))
    Project.objects.update(archived_at=timezone.now())
    work()
    assert "The project was archived before" in Import.objects.latest("pk").error
    assert "foil" in Instance.objects.get(key="7").captions


def test_imports_without_a_mapping_have_none_to_change(editor: Client) -> None:
    rows = SimpleUploadedFile("a.jsonl", json.dumps({"key": "a", "caption": "A vase."}).encode())
    editor.post(NEW, {"rows": rows, "format": "jsonl", "at_once": "1"})
    work()
    one = Import.objects.get()
    assert "Change the mapping" not in words_of(editor.get("/projects/vases/imports/"))
    assert "it has no mapping to change" in words_of(editor.get(address_of(one), follow=True))


def test_a_new_project_begins_with_the_mapping_of_another_of_mine(editor: Client) -> None:
    imported(editor)
    new = make_project("vases-2")
    Membership.objects.create(project=new, user=Membership.objects.get().user, role="owner")
    rows = SimpleUploadedFile("vases.csv", TABLE)
    address = editor.post("/projects/vases-2/imports/new/", {"rows": rows})["Location"]
    assert 'value="foil" list="roles"' in editor.get(address).content.decode()
    stranger = signed_in(make_member(make_project("fish"), "owner", name="stranger"))
    address = stranger.post("/projects/fish/imports/new/", {"rows": SimpleUploadedFile("vases.csv", TABLE)})["Location"]
    assert 'value="foil" list="roles"' not in stranger.get(address).content.decode()


def test_the_action_takes_what_a_script_says(editor: Client) -> None:
    """A mapping may leave out columns that were notes."""
    one = imported(editor)
    wanted = {name: target for name, target in MAPPING.items() if name != "mood"} | {"text": "caption:words"}
    request_mapping_change(wanted=one, mapping=wanted, by=make_person("ada"), now=timezone.now())
    work()
    assert set(Instance.objects.get(key="8").captions) == {"words", "foil"}
    assert Instance.objects.get(key="8").reference == {"other": {"mood": "loud"}}


def test_columns_that_a_script_leaves_out_stay_what_they_are(editor: Client) -> None:
    one = imported(editor)
    wanted = request_mapping_change(wanted=one, mapping={"mood": "type"}, by=make_person("ada"), now=timezone.now())
    assert wanted.mapping == MAPPING | {"mood": "type"}
    work()
    first = Instance.objects.get(key="8")
    assert (first.captions, first.type) == ({"caption": "A blue vase.", "foil": "A red vase."}, "loud")


def test_a_name_that_no_database_stores_is_refused(editor: Client) -> None:
    one = imported(editor)
    with pytest.raises(MappingRefused, match="cannot be stored"):
        request_mapping_change(wanted=one, mapping={"a\0": "other"}, by=make_person("ada"), now=timezone.now())


def test_of_two_changes_at_once_the_second_is_refused(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second was checked against the mapping before the first."""
    one, ada = imported(editor), make_person("ada")
    request_mapping_change(wanted=one, mapping={"mood": "type"}, by=ada, now=timezone.now())
    mappings = [MAPPING, MAPPING | {"mood": "subtype"}]
    monkeypatch.setattr(Import, "current_mapping", property(lambda one: mappings.pop(0)))
    work()
    assert Import.objects.latest("pk").error == change_mapping.MEANWHILE
    assert Instance.objects.get(key="7").type == ""


def test_instances_that_may_be_of_another_import_are_left_alone(editor: Client) -> None:
    """Another import of a file of the same name waited while this one ran."""
    first = imported(editor)
    second = imported(editor, TABLE.replace(b"\n7,", b"\n17,").replace(b"\n8,", b"\n18,"))
    assert editor.get(address_of(first)).status_code == 200
    Import.objects.filter(pk=second.pk).update(requested_at=first.requested_at)
    Job.objects.filter(pk=second.job.pk if second.job else 0).delete()
    assert change_mapping.OTHERS_BESIDE in words_of(editor.get(address_of(second), follow=True))
