"""A study begins with a question type that fits the instances, on one page that says what a launch would give."""

import re
from typing import Any

import pytest
from django.test import Client

from annotation.actions.launching.launch import launch
from studies.models import Instance, InstanceImage, Project, Study
from tests.factories import NOON, TESTS, create_draft, draw_image, make_instance, make_member, make_project
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db

NEW = "/projects/vases/new-study/"
FORM = f"{NEW}form/?kind=best_of_n"


@pytest.fixture
def project() -> Project:
    """Return a project of three instances with two captions and four candidates each."""
    made = make_project()
    for number in range(3):
        make_instance(made, f"vase-{number}")
    return made


@pytest.fixture
def editor(project: Project) -> Client:
    return signed_in(make_member(project, "editor"))


def form(page: Any, **typed: str) -> dict[str, Any]:
    """Return what the form of a page sends after `typed` was typed."""
    sent = {"source": page.context["typed"], "named": page.context.get("named", ""), "do": "save"}
    for field in page.context["form"].all_fields():
        ticked = ["true"] if field.shown == "true" else []
        sent[field.name] = ["", *ticked] if field.control == "switch" else field.shown
    return sent | typed


def test_a_type_that_fits_is_shown_by_a_picture_and_others_say_what_they_need(editor: Client) -> None:
    page = editor.get(NEW, follow=True)
    fits = {each.kind.name: each.question is not None for each in page.context["types"]}
    assert {name for name, fitting in fits.items() if fitting} == {"best_of_n", "compare", "describe"}
    shown = page.content.decode()
    assert re.findall(r'<div class="question-picture" aria-hidden="true" inert><iframe src="(.*?)"', shown) == [
        f"{NEW}pictures/{name}/" for name in ("best_of_n", "compare", "describe")
    ]
    assert f'<a href="{NEW}form/?kind=best_of_n">' in shown
    assert "Yours have a caption (caption), a caption (negative_caption) and 4 images (candidate)." in shown
    assert "Needs a caption and two images, each in its own role." in shown
    picture = editor.get(f"{NEW}pictures/best_of_n/")
    assert picture["X-Frame-Options"] == "SAMEORIGIN"
    assert "A map, vase-0." in picture.content.decode()
    assert [editor.get(f"{NEW}pictures/{name}/").status_code for name in ("ambiguity", "none")] == [404, 404]


def test_a_type_that_needs_what_another_study_adds_starts_from_that_study(editor: Client, project: Project) -> None:
    for number, instance in enumerate(Instance.objects.all()):
        InstanceImage.objects.create(instance=instance, role="image", filename="o.png", image=draw_image(number))
    create_draft(project, instances=3)
    address = f"{NEW}form/?kind=ambiguity"
    page = editor.get(address, follow=True)
    assert page.context["chosen"].source == "best-vase"
    assert editor.post(address, form(page)).status_code == 302
    made = Study.objects.get(kind="ambiguity")
    assert (made.fed_by.slug if made.fed_by else "", made.slug) == ("best-vase", "ambiguity")


def test_a_type_that_asks_about_answers_starts_from_the_study_that_collects_them(
    editor: Client, project: Project
) -> None:
    create_draft(project, instances=3, study="describe", kind="describe", ask={"images": "candidate"})
    chosen = editor.get(f"{NEW}form/?kind=retrieve", follow=True).context["chosen"]
    assert (chosen.source, chosen.ask) == ("describe", {"images": "candidate"})
    assert chosen.question.content["caption"]


def test_the_short_form_makes_a_study_that_can_be_launched(editor: Client, project: Project) -> None:
    page = editor.get(FORM, follow=True)
    typed = form(page, title="Which vase?", contact="Ada", answers="2", **{"pay.per_session": "$8,00"})
    assert editor.post(FORM, typed)["Location"] == "/studies/vases/which-vase/"
    study = Study.objects.get()
    assert study.source == (
        "study: which-vase\ntitle: Which vase?\nkind: best_of_n\n"
        "time:\n  estimated_minutes: 3\ncontact: Ada\nanswers: 2\npay:\n  per_session: '8.00'\n"
    )
    launch(study=study, by=TESTS, now=NOON)
    assert study.questions.count() == 3


def test_the_minutes_follow_the_number_of_questions_and_the_time_that_one_takes(
    editor: Client, project: Project
) -> None:
    # Two minutes for the first pages and 15 seconds each for 3 questions are 2.75 minutes.
    assert form(editor.get(FORM, follow=True))["time.estimated_minutes"] == "3"
    for number in range(3, 100):
        make_instance(project, f"vase-{number}")
    # A survey of 100 takes 27 minutes, in fives; of 100 descriptions of a minute each, 102.
    assert form(editor.get(FORM, follow=True))["time.estimated_minutes"] == "30"
    assert form(editor.get(f"{NEW}form/?kind=describe", follow=True))["time.estimated_minutes"] == "105"


def test_contact_and_recruitment_are_those_of_the_last_study(editor: Client, project: Project) -> None:
    create_draft(project, instances=3, contact="Lab, lab@example.org", recruitment={"prolific": False})
    first = form(editor.get(FORM, follow=True))
    assert first["contact"] == "Lab, lab@example.org"
    assert first["recruitment.prolific"] == [""]
    assert first["recruitment.invite"] == ["", "true"]


def test_the_name_is_on_the_first_screen(editor: Client) -> None:
    page = editor.get(FORM, follow=True)
    names = [field.name for section in page.context["form"].first for field in section.fields]
    assert names[:2] == ["study", "title"]
    assert "If you change the title, it follows the title until you type a name." in words_of(page)


def test_the_name_follows_the_title_after_an_error_until_it_is_typed(editor: Client) -> None:
    typed = form(editor.get(FORM, follow=True), title="Which vase?", answers="many")
    refused = editor.post(FORM, typed)
    assert refused.status_code == 409
    again = form(refused)
    assert (again["study"], again["named"]) == ("which-vase", "which-vase")
    # Another title, another name.
    again = form(editor.post(FORM, again | {"title": "Which map?"}))
    assert again["study"] == "which-map"
    # A typed name stays.
    again = form(editor.post(FORM, again | {"title": "Which cup?", "study": "pilot"}))
    assert again["study"] == "pilot"
    # As suggested, title and name go together.
    back = typed | {"title": "Which image fits the caption best?"}
    assert form(editor.post(FORM, back))["study"] == "best-of-n"


def test_the_suggested_title_speaks_to_annotators(editor: Client) -> None:
    assert form(editor.get(FORM, follow=True))["title"] == "Which image fits the caption best?"


def test_create_pressed_twice_makes_one_study_and_another_study_gets_another_name(editor: Client) -> None:
    typed = form(editor.get(FORM, follow=True), title="Which vase?")
    places = [editor.post(FORM, typed)["Location"] for _ in range(2)]
    assert places == ["/studies/vases/which-vase/"] * 2
    assert Study.objects.count() == 1
    # Back, a change, and Create.
    assert editor.post(FORM, typed | {"answers": "3"})["Location"] == "/studies/vases/which-vase-2/"
    # A name that somebody has typed is theirs.
    refused = editor.post(FORM, typed | {"answers": "4", "study": "which-vase"})
    assert refused.status_code == 409
    assert '<a href="#study">' in refused.content.decode()


@pytest.mark.parametrize("title", ["花瓶はどれですか", "É" * 200, "!!!"])
def test_a_title_in_any_script_gives_a_name(editor: Client, title: str) -> None:
    assert editor.post(FORM, form(editor.get(FORM, follow=True), title=title)).status_code == 302
    assert Study.objects.get().title == title


def test_the_consequences_follow_what_is_typed(editor: Client, project: Project) -> None:
    """3 instances of 4 answers each are 12 answers by 4 people; 8.00 for 30 minutes is 16.00 an hour."""
    page = editor.get(FORM, follow=True)
    changed = {"pay.per_session": "8", "recruitment.prolific": "", "time.estimated_minutes": "30"}
    typed = form(page, answers="4", **changed)
    context = editor.post(f"{NEW}foresee/", typed).context
    assert (context["plan"].questions, context["plan"].answers, context["plan"].seats) == (3, 12, 4)
    assert (context["outlay"].rewards, context["outlay"].fee, context["outlay"].hourly) == (32, None, 16)
    shown = editor.post(f"{NEW}foresee/", typed | {"pay.per_session": "1778"}).content.decode()
    assert "USD 3,556.00 is unusually high" in shown
    shown = editor.post(f"{NEW}foresee/", typed | {"consent": "It takes about 20 minutes."}).content.decode()
    assert "The consent page says 20 minutes; the estimate of the study is 30." in shown
    shown = editor.post(f"{NEW}foresee/", typed | {"answers": "many"}).content.decode()
    assert "“Answers per question” must be a whole number" in shown
    shown = editor.post(f"{NEW}foresee/", typed | {"time.estimated_minutes": ""}).content.decode()
    assert "“Minutes per survey” is empty, so 30 minutes are assumed." in shown
    assert editor.post(f"{NEW}foresee/", {"source": "["}).status_code == 200
    assert not Study.objects.exists()


def test_missing_image_files_are_counted_and_lead_to_where_they_are_added(editor: Client, project: Project) -> None:
    InstanceImage.objects.update(image=None)
    page = editor.get(NEW)
    fits = {each.kind.name for each in page.context["types"] if each.lacks_files}
    assert fits == {"best_of_n", "compare", "describe"}
    shown = words_of(page)
    # Three instances of four candidates.
    assert "12 image files of" in shown
    assert f'<a href="/projects/{project.slug}/imports/new/">add the images</a>' in shown
    assert "question-picture" not in shown
    typed = form(editor.get(FORM, follow=True))
    preview = words_of(editor.post(f"{NEW}foresee/", typed))
    assert "None of the 3 selected instances can be asked about, so a launch is refused." in preview
    assert "12 image files are missing." in preview


def test_instances_that_cannot_be_asked_about_are_counted_before_the_draft_is_made(
    editor: Client, project: Project
) -> None:
    make_instance(project, "vase-3", candidates=0)
    typed = form(editor.get(FORM, follow=True))
    context = editor.post(f"{NEW}foresee/", typed).context
    unaskable = context["unaskable"]
    assert (unaskable.count, unaskable.tried, unaskable.selected) == (1, 4, 4)
    shown = words_of(editor.post(f"{NEW}foresee/", typed))
    assert "1 of the 4 selected instances cannot be asked about, so a launch is refused." in shown
    assert "For example: Instance vase-3 has 0 images in the role candidate" in shown


def test_a_role_that_no_instance_has_is_said_in_the_preview(editor: Client) -> None:
    typed = form(editor.get(FORM, follow=True), **{"ask.images": "photo"})
    shown = words_of(editor.post(f"{NEW}foresee/", typed))
    assert "names the role photo, but no instance of the project has images in it" in shown


def test_a_draft_is_not_its_own_source(editor: Client, project: Project) -> None:
    study = create_draft(project, instances=0)
    page = editor.get(f"/studies/{project.slug}/{study.slug}/form/")
    assert study.accepts
    sources = next(each for each in page.context["form"].all_fields() if each.name == "instances.from")
    assert study.slug not in sources.choices
    # The role that it adds itself is none of its instances' either.
    shown = next(each for each in page.context["form"].all_fields() if each.name == "ask.images")
    assert list(shown.choices) == ["candidate"]


def test_the_overview_of_a_draft_shows_what_a_launch_would_create(editor: Client, project: Project) -> None:
    study = create_draft(project, instances=0)
    page = editor.get(f"/studies/{project.slug}/{study.slug}/")
    assert page.context["plan"].questions == 3
    shown = page.content.decode()
    assert shown.count("then launch it") == 1
    assert f'<iframe src="/studies/{project.slug}/{study.slug}/picture/"' in shown
    assert "<dt>Questions</dt><dd>3</dd>" in shown
    assert "A map, vase-0." in editor.get(f"/studies/{project.slug}/{study.slug}/picture/").content.decode()


def test_roles_and_studies_are_chosen_from_those_that_are_there(editor: Client, project: Project) -> None:
    create_draft(project, instances=3)
    fields = {each.name: each for each in editor.get(FORM, follow=True).context["form"].all_fields()}
    assert fields["ask.caption"].choices == ["caption", "negative_caption"]
    assert fields["ask.images"].choices == ["candidate", "negative_image"]
    assert fields["instances.from"].choices == ["", "best-vase"]
    assert not fields["ask.becomes"].first


def test_several_roles_are_chosen_in_their_order(editor: Client) -> None:
    page = editor.get(f"{NEW}form/?kind=check", follow=True)
    typed = form(page) | {"ask.captions": ["negative_caption", "", "caption"], "ask.image": "candidate"}
    editor.post(FORM, typed)
    assert Study.objects.get().design.parts[0].ask["captions"] == ["negative_caption", "caption"]


def test_two_tabs_with_one_draft_lose_nothing(editor: Client, project: Project) -> None:
    study = create_draft(project, instances=3)
    address = f"/studies/vases/{study.slug}/form/"
    first, second = editor.get(address, follow=True), editor.get(address)
    seen = {"edited_from": first.context["edited_from"]}
    # Save pressed twice is no conflict.
    for _ in range(2):
        assert editor.post(address, form(first, title="First", **seen)).status_code == 302
    refused = editor.post(address, form(second, title="Second", **seen))
    assert refused.status_code == 409
    assert refused.context["differences"] == [("title", "Second", "First")]
    assert Study.objects.get().title == "First"
    # Knowing both, the person saves theirs.
    seen = {"edited_from": refused.context["edited_from"]}
    assert editor.post(address, form(refused, **seen)).status_code == 302
    assert Study.objects.get().title == "Second"


def test_launch_pressed_twice_says_that_the_study_is_open(editor: Client, project: Project) -> None:
    create_draft(project, instances=3)
    pages = [editor.post("/studies/vases/best-vase/launch/", follow=True) for _ in range(2)]
    assert [page.redirect_chain for page in pages] == [[("/studies/vases/best-vase/", 302)]] * 2
    assert "The study is already open." in pages[1].content.decode()


def test_a_launch_without_a_contact_leads_to_its_field(editor: Client, project: Project) -> None:
    create_draft(project, instances=3, contact="")
    page = editor.get("/studies/vases/best-vase/launch/").content.decode()
    assert '<a href="/studies/vases/best-vase/form/#contact">' in page


def test_a_launch_says_before_it_begins_that_an_instance_cannot_be_asked_about(
    editor: Client, project: Project
) -> None:
    create_draft(project, instances=3)
    InstanceImage.objects.filter(instance__key="vase-1").delete()
    page = editor.get("/studies/vases/best-vase/launch/")
    assert [*map(str, page.context["problems"])] == [
        "Instance vase-1 has 0 images in the role candidate; best_of_n needs 2 to 9.",
        "Correct these, or choose other instances by type, subtype, split, tag or key.",
    ]
    assert "plan" not in page.context


def test_a_launch_says_which_answers_are_right(editor: Client) -> None:
    project = Project.objects.get()
    ask = {"images": ["image", "negative_image"], "captions": ["caption", "negative_caption"]}
    for instance in project.instances.all():
        for number, role in enumerate(ask["images"]):
            InstanceImage.objects.create(instance=instance, role=role, position=0, image=draw_image(number))
    create_draft(project, instances=3, kind="image_to_text", ask=ask)
    assert editor.get("/studies/vases/best-vase/launch/").context["question_sentences"] == [
        "Pick the caption that describes an image. The images have the roles image and negative_image; the captions "
        "have the roles caption and negative_caption.",
        "Right answers: caption for image and negative_caption for negative_image.",
    ]


def test_cards_form_and_launch_say_that_a_baseline_makes_no_dataset(editor: Client, project: Project) -> None:
    for number, instance in enumerate(project.instances.all()):
        for role in ("image", "negative_image"):
            InstanceImage.objects.create(instance=instance, role=role, filename=role, image=draw_image(number))
    types = {each.kind.name: each.makes_dataset for each in editor.get(NEW, follow=True).context["types"]}
    assert types == {
        **dict.fromkeys(("best_of_n", "ambiguity", "describe", "rating", "compare", "check", "retrieve"), True),
        **dict.fromkeys(("image_to_text", "text_to_image"), False),
    }
    assert words_of(editor.get(NEW, follow=True)).count("Measures people; makes no dataset.") == 2
    said = "This study measures people; it accepts nothing, so it makes no dataset."
    baseline = f"{NEW}form/?kind=text_to_image"
    assert said in words_of(editor.get(baseline, follow=True))
    filtering = form(editor.get(baseline, follow=True), purpose="filter")
    assert said not in words_of(editor.post(f"{NEW}foresee/", filtering))
    assert said not in words_of(editor.get(FORM, follow=True))
    create_draft(project, instances=3, kind="text_to_image")
    assert said in words_of(editor.get("/studies/vases/best-vase/launch/"))


def test_a_project_without_instances_says_which_questions_make_a_dataset(editor: Client, project: Project) -> None:
    project.instances.all().delete()
    page = words_of(editor.get(NEW, follow=True))
    assert page.count("Measures people; makes no dataset.") == 2
    # A kind that only collects accepts whatever people answer.
    assert page.count("Keeps all answers as a dataset.") == 4
    assert page.count("Accepts instances for a dataset.") == 3


def test_the_design_says_in_sentences_what_was_chosen(editor: Client, project: Project) -> None:
    create_draft(project, instances=3, answers=2, surveys={"size": 1, "double_seats": 2})
    assert {
        "Pick the best image for a caption, or none. The caption has the role negative_caption; the images have the "
        "role candidate.",
        "Asked about: all instances of the project.",
        "Each question gets 2 answers.",
        "A survey has about 1 question; 2 surveys are answered twice to measure agreement.",
        "A survey takes about 30 minutes. It is unpaid.",
    } <= {*editor.get("/studies/vases/best-vase/design/").context["sentences"]}
