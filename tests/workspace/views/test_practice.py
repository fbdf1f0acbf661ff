"""What a study practises is picked among the instances of its project, with the right answer that is known or given."""

import pytest
from django.test import Client

from studies.models import Instance, Study
from tests.factories import create_draft
from tests.pages import words_of

pytestmark = pytest.mark.django_db

ADDRESS = "/studies/vases/best-vase/practice/"


@pytest.fixture
def study() -> Study:
    return create_draft(instances=3)


def number(key: str) -> str:
    return str(Instance.objects.get(key=key).pk)


def practised() -> list[tuple[str, str, str]]:
    return [(each.instance, each.right, each.feedback) for each in Study.objects.get().design.practice.questions]


def test_instances_are_looked_for_and_one_is_shown_with_its_answers(editor: Client) -> None:
    page = editor.get(ADDRESS, {"words": "vase-1", "pick": number("vase-1")})
    assert [line.instance.key for line in page.context["page"].rows] == ["vase-1"]
    assert [option.key for option, _ in page.context["options"]][-1] == "none"
    # Nobody knows which is best.
    assert page.context["right"] == ""


def test_what_is_picked_stands_in_the_study_file_and_can_be_taken_out(editor: Client, study: Study) -> None:
    before = study.source
    editor.post(
        ADDRESS, {"pick": number("vase-1"), "right": "candidate-0", "feedback": "It has \u201ctwo\u201d handles."}
    )
    editor.post(ADDRESS, {"pick": number("vase-2"), "right": "none"})
    # In words, not as they are stored.
    page = words_of(editor.get(ADDRESS))
    assert '<strong>vase-1</strong>, right: <q dir="auto">Image 1</q>' in page
    assert '<strong>vase-2</strong>, right: <q dir="auto">None of these</q>' in page
    assert practised() == [("vase-1", "candidate-0", "It has \u201ctwo\u201d handles."), ("vase-2", "none", "")]
    assert Study.objects.get().source.startswith(before.rstrip("\n"))
    # Pressed again, by whoever saw nothing happen, it takes out nothing else.
    for _ in range(2):
        editor.post(ADDRESS, {"out": "vase-1"})
        assert practised() == [("vase-2", "none", "")]
    editor.post(ADDRESS, {"out": "vase-2"})
    assert "practice" not in Study.objects.get().source


def test_the_right_answer_is_suggested_where_the_instance_knows_it(editor: Client, study: Study) -> None:
    Instance.objects.filter(key="vase-1").update(captions={"caption": "A vase.", "other": "A jug."})
    Instance.objects.get(key="vase-1").images.filter(position__gt=0).delete()
    asked = {"images": ["candidate"], "captions": ["caption", "other"]}
    create_draft(study.project, study="which-caption", kind="image_to_text", ask=asked)
    page = editor.get("/studies/vases/which-caption/practice/", {"pick": number("vase-1")})
    # The first caption belongs to the first image.
    assert (page.context["known"], page.context["right"]) == (True, "caption")


@pytest.mark.parametrize("sent", [{}, {"pick": "77"}, {"pick": "x", "right": "none"}])
def test_what_was_not_picked_is_not_practised(editor: Client, sent: dict[str, str]) -> None:
    assert editor.post(ADDRESS, sent).status_code == 409
    assert practised() == []


def test_a_right_answer_must_be_one_of_the_question(editor: Client) -> None:
    for right in ("", "candidate-9"):
        assert editor.post(ADDRESS, {"pick": number("vase-1"), "right": right}).status_code == 409
    assert practised() == []


def test_nothing_is_practised_twice(editor: Client) -> None:
    picked = {"pick": number("vase-1"), "right": "candidate-0"}
    editor.post(ADDRESS, picked)
    assert "It is already a practice question" in editor.get(ADDRESS, {"pick": picked["pick"]}).content.decode()
    # Another tab does not know yet, and keeps what was written there.
    refused = editor.post(ADDRESS, picked | {"right": "none", "feedback": "No handles."})
    assert refused.status_code == 409
    page = refused.content.decode()
    assert "vase-1 is already a practice question. Take it out to choose another answer." in page
    assert "No handles.</textarea>" in page
    assert practised() == [("vase-1", "candidate-0", "")]


def test_a_comment_that_goes_with_what_is_taken_out_is_told(editor: Client, study: Study) -> None:
    practised = "practice:\n  questions:\n  - {instance: vase-1, right: none}  # plain\n  # hard\n"
    study.source += practised + "  - {instance: vase-2, right: none}\n"
    study.save()
    page = editor.post(ADDRESS, {"out": "vase-1"}, follow=True).content.decode()
    assert "Your change removed these comments of the study file: # plain" in page
    assert "# hard\n  - {instance: vase-2, right: none}\n" in Study.objects.get().source
