import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.actions.deciding.adjudication import settle
from annotation.actions.deciding.decisions import recount
from annotation.actions.removing import removals
from annotation.models import Annotator, Response
from background.models import Job
from predictions.models import Model, Prediction
from results.actions import cached_statistics
from results.actions.pseudonyms import name_annotators
from results.models import InstanceFigures, KeptNumbers, Pseudonym, Release
from results.queries.instances.explorer import InstanceFilters, list_instances
from results.queries.instances.facets import FacetTable
from studies.actions.projects.tags import tag_instances, untag_instances
from studies.models import Image, Instance, InstanceImage, Project, Question, Study, Tag
from tests.databases import kept
from tests.factories import NOON, draw_image, make_instance, make_project
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from tests.people import digest_of
from tests.plans import rows_read
from tests.removing import exclude, withdraw
from tests.results.pipelines import BASELINE, STEP_3, make_pipeline, open_study, sit_through
from tests.studies.test_names import BAD_KEYS, GOOD_KEYS

LIST = "/projects/vases/instances/"


made = kept(make_pipeline)


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(User.objects.get(username="researcher"))


def listed(client: Client, **query: str) -> list[str]:
    return [line.instance.key for line in client.get(LIST, query).context["page"].rows]


# What the list is asked for, and the keys that it shows.
NARROWED: list[tuple[dict[str, str], list[str]]] = [
    ({}, ["vase-0", "vase-1", "vase-2", "vase-3"]),
    ({"type": "swap"}, ["vase-2", "vase-3"]),
    ({"type": "swap", "subtype": "obj"}, []),
    ({"study": "step-4"}, ["vase-0", "vase-1"]),
    ({"state": "accepted"}, ["vase-0"]),
    ({"state": "accepted", "study": "step-3"}, ["vase-0", "vase-1"]),
    ({"state": "rejected"}, ["vase-1"]),
    ({"state": "rejected", "study": "step-3"}, []),
    ({"state": "lost"}, ["vase-1"]),
    ({"state": "lost", "study": "step-4"}, ["vase-1"]),
    ({"state": "lost", "study": "step-3"}, []),
    ({"without": "step-4"}, ["vase-2", "vase-3"]),
    ({"without": "step-4", "state": "accepted", "study": "step-3"}, []),
    ({"without": "step-3"}, []),
    ({"state": "none-yet"}, ["vase-2", "vase-3"]),
    ({"state": "not-asked"}, []),
    ({"state": "not-asked", "study": "step-4"}, ["vase-2", "vase-3"]),
    ({"words": "VASE-2"}, ["vase-2"]),
    ({"words": "a map, vase-1"}, ["vase-1"]),
    ({"words": "caption"}, []),
    ({"words": "a\0b"}, []),
    ({"study": "no-such-study"}, []),
    ({"split": "val"}, ["vase-1"]),
    ({"split": "val", "type": "swap"}, []),
    ({"tag": "odd"}, ["vase-3"]),
    ({"tag": "even"}, []),
    ({"images": "awaited"}, ["vase-2"]),
    ({"images": "there"}, ["vase-0", "vase-1", "vase-3"]),
    ({"question": "unanswered"}, ["vase-2", "vase-3"]),
    ({"question": "answered"}, ["vase-0", "vase-1"]),
    ({"question": "several"}, []),
    ({"progress": "complete"}, ["vase-0", "vase-1"]),
    ({"progress": "unanswered"}, ["vase-2", "vase-3"]),
    ({"progress": "unanswered", "study": "step-4"}, []),
    ({"progress": "open"}, []),
    ({"survey": "1", "study": "step-4"}, ["vase-0", "vase-1"]),
    ({"survey": "77"}, []),
    ({"model": "no such model"}, []),
    ({"person": "nobody"}, []),
    ({"question": "complete", "study": "step-4"}, ["vase-0", "vase-1"]),
    ({"question": "rejected"}, ["vase-1"]),
    ({"question": "settled"}, []),
    ({"longer": "4"}, ["vase-0", "vase-1"]),
    ({"longer": "4.2", "shorter": "4.2", "study": "step-4"}, ["vase-0", "vase-1"]),
    ({"longer": "4.3"}, []),
    ({"survey": "1x"}, []),
    ({"shorter": "٤"}, ["vase-0", "vase-1", "vase-2", "vase-3"]),
    # One answer to each question: nobody to agree with.
    ({"alike": "all"}, []),
    ({"reason": "broken"}, ["vase-0"]),
    ({"reason": "broken", "study": "step-3"}, []),
    ({"reason": "any"}, ["vase-0"]),
    ({"type": "(none)"}, []),
    ({"split": "(none)"}, ["vase-0", "vase-2", "vase-3"]),
    ({"reason": "not-shown"}, ["vase-1"]),
    ({"reason": "no-such-reason"}, ["vase-0", "vase-1", "vase-2", "vase-3"]),
    ({"parted": "people"}, []),
    ({"order": "newest"}, ["vase-3", "vase-2", "vase-1", "vase-0"]),
    ({"order": "longest", "study": "step-3"}, ["vase-1", "vase-0"]),
    ({"order": "shortest", "study": "step-3"}, ["vase-0", "vase-1"]),
    ({"look": "table", "type": "swap"}, ["vase-2", "vase-3"]),
    ({"page": "nonsense"}, ["vase-0", "vase-1", "vase-2", "vase-3"]),
]


@pytest.mark.both
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(("query", "keys"), NARROWED)
def test_the_list_is_narrowed_whether_few_match_or_many(
    client: Client, monkeypatch: pytest.MonkeyPatch, query: dict[str, str], keys: list[str]
) -> None:
    assert listed(client, **query) == keys
    monkeypatch.setattr("results.queries.instances.explorer.FEW", 0)
    assert listed(client, **query) == keys


def test_what_a_filter_matches_is_looked_for_once(client: Client) -> None:
    figures = {"question": "open"}
    client.get(LIST, figures)
    with CaptureQueriesContext(connection) as queries:
        client.get(LIST, figures)
    searched = [
        query["sql"] for query in queries if "annotation_decision" in query["sql"] and "answers_wanted" in query["sql"]
    ]
    assert len(searched) == len(set(searched)) > 0


def test_a_page_looks_instances_up_in_order_and_does_not_list_all_that_match_first(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.queries.instances.explorer.FEW", 0)
    with CaptureQueriesContext(connection) as queries:
        assert listed(client, study="step-3", state="accepted", order="key") == ["vase-0", "vase-1"]
    pages = [query["sql"] for query in queries if 'ORDER BY "studies_instance"."key"' in query["sql"]]
    assert ["EXISTS(SELECT 1" in page and "IN (SELECT" not in page for page in pages] == [True]


def test_a_lost_instance_says_why_on_its_card_and_on_its_page(client: Client) -> None:
    why = "The only answer did not identify the original image."
    rejected = client.get(LIST, {"state": "lost"})
    # At the card, and in the table of reasons.
    assert words_of(rejected).count(why) == 2
    ((reason),) = rejected.context["reasons"]
    assert (reason.study.slug, reason.outcome, reason.why, reason.instances) == ("step-4", "rejected", why, 1)
    assert '<a href="?study=step-4&amp;state=rejected">1</a>' in words_of(rejected)
    assert words_of(client.get(LIST, {"state": "lost", "look": "table"})).count(why) == 2
    # In the timeline, and at the question.
    assert words_of(client.get(f"{LIST}vase-1/")).count(why) == 2
    kept = words_of(client.get(f"{LIST}vase-0/"))
    assert why not in kept
    assert "The only answer chose it." in kept
    question = Question.objects.get(study__slug="step-4", instance__key="vase-1")
    Response.objects.filter(question=question).update(left_out="excluded")
    recount(questions=[question.pk], now=NOON)
    assert why not in words_of(client.get(LIST))


def test_the_outcomes_of_a_project_with_one_dataset_add_up_to_its_instances(client: Client, project: Project) -> None:
    """Also with a baseline, in which people agree on what the dataset has accepted."""
    baseline = open_study(project, BASELINE | {"answers": 1})
    sit_through(baseline, "cleo", lambda question: question.right)
    Study.objects.filter(slug="step-4").update(in_dataset=True)
    Study.objects.exclude(slug="step-4").update(in_dataset=False)
    (facet,) = [facet for facet in client.get(LIST).context["facets"] if facet.name == "state"]
    counts = {value.text: value.count for value in facet.values}
    assert counts == {"Undecided": 2, "Accepted": 1, "Rejected": 1}
    assert listed(client, state="agreed") == []
    assert listed(client, state="agreed", study="baseline") == ["vase-0"]


# Filters whose facets are followed.
FACETED: list[dict[str, str]] = [
    {},
    {"type": "swap"},
    {"study": "step-4"},
    {"state": "accepted"},
    {"state": "lost"},
    {"without": "step-4", "type": "swap"},
    {"state": "none-yet", "study": "step-3"},
    {"state": "not-asked", "study": "step-4", "split": "(none)"},
    {"tag": "odd", "images": "there"},
    {"tag": "even"},
    {"words": "vase-1", "images": "there"},
    {"question": "answered", "type": "replace"},
    {"longer": "4", "study": "step-4", "state": "accepted"},
    {"order": "longest", "study": "step-3"},
    {"study": "no-such-study", "state": "no-such-state"},
]


@pytest.mark.both
@pytest.mark.parametrize("query", FACETED)
def test_each_count_of_a_facet_is_the_number_of_instances_behind_its_link(
    client: Client, query: dict[str, str]
) -> None:
    page = client.get(LIST, query).context
    values = [value for facet in page["facets"] for value in facet.values if value.count is not None]
    assert values
    # The link of a chosen value takes it away.
    shown = [page if value.is_chosen else client.get(f"{LIST}?{value.query}").context for value in values]
    assert [(value.query, value.count) for value in values] == [
        (value.query, found["count"]) for value, found in zip(values, shown, strict=True)
    ]


def test_facets_follow_the_filter_and_leave_out_what_would_match_nothing(client: Client) -> None:
    def counts(**query: str) -> dict[str, dict[str, int | None]]:
        facets = client.get(LIST, query).context["facets"]
        return {facet.label: {value.text: value.count for value in facet.values} for facet in facets}

    assert counts() == {
        "Outcome": {"Undecided": 2, "Accepted": 1, "Rejected": 1},
        "Study": {"step-3": 4, "step-4": 2},
        "Type": {"replace": 2, "swap": 2},
        "Subtype": {"att": 2, "obj": 2},
        "Split": {"(none)": 3, "val": 1},
        "Tag": {"odd": 1},
        "Images": {"All are there": 3, "Some are missing": 1},
    }
    narrowed = counts(type="swap", state="none-yet")
    assert narrowed["Type"] == {"swap": 2}
    assert narrowed["Outcome"] == {"Undecided": 2}
    assert narrowed["Study"] == {"step-3": 2}
    # What is chosen stays, so that it can be taken away.
    assert counts(tag="even")["Tag"] == {"even": 0, "odd": 1}
    # An annotator's answers are counted in all studies together, so that single studies have no number.
    assert counts(question="answered")["Study"] == {"step-3": None, "step-4": None}


def test_instances_of_too_many_sorts_are_listed_without_counts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.queries.instances.facets.MOST_CELLS", 3)
    page = client.get(LIST, {"type": "swap"}).context
    assert page["count"] == 2
    assert {value.count for facet in page["facets"] for value in facet.values} == {None}


def test_each_filter_in_use_can_be_removed_alone(client: Client, project: Project) -> None:
    tag = Tag.objects.create(project=project, name='"quoted" & وسم')
    tag.instances.add(Instance.objects.get(key="vase-1"))
    query = {"tag": tag.name, "split": "val", "order": "key", "reason": "nonsense"}
    active = client.get(LIST, query).context["active"]
    assert [(each.label, each.text) for each in active] == [("Split", "val"), ("Tag", tag.name)]
    left = client.get(f"{LIST}?{active[0].query}").context["search"].values
    assert left == {"tag": tag.name, "order": "key", "reason": "nonsense"}
    assert listed(client, tag=tag.name) == ["vase-1"]


@pytest.mark.both
def test_an_instance_with_several_such_questions_is_counted_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps 3 and 4 both have answers about vase-0 and vase-1."""
    monkeypatch.setattr("results.queries.instances.explorer.PER_PAGE", 1)
    queries: list[tuple[dict[str, str], int]] = [
        ({"question": "answered"}, 2),
        ({"question": "answered", "study": "step-4"}, 2),
        ({"question": "answered", "split": "val"}, 1),
        ({"question": "unanswered", "words": "vase-2"}, 1),
    ]
    for query, count in queries:
        page = client.get(LIST, query).context
        assert (page["count"], len(page["page"].rows)) == (count, 1), query


@pytest.mark.parametrize(("person", "keys"), [("ann", ["vase-0", "vase-1"]), ("ben", [])])
def test_what_somebody_answered_is_found_by_their_name(
    client: Client, project: Project, person: str, keys: list[str]
) -> None:
    name_annotators(project=project)
    Response.objects.filter(annotator__id_digest=digest_of("ben")).update(is_current=False)
    name = Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name
    assert listed(client, person=name) == keys
    assert listed(client, person=name, study="step-4") == []


@pytest.mark.both
def test_a_picture_stands_in_small_until_it_is_loaded(client: Client, project: Project) -> None:
    instance = make_instance(project, "cat", candidates=1, source_row=9)
    shown = "data:image/webp;base64,UklGRg=="
    assert shown not in client.get(LIST, {"words": "cat"}).content.decode()
    Image.objects.filter(uses__instance=instance).update(placeholder="UklGRg==")
    assert f'<img class="placeholder" src="{shown}"' in client.get(LIST, {"words": "cat"}).content.decode()


def test_a_caption_is_found_in_any_alphabet(client: Client, project: Project) -> None:
    make_instance(project, "cat", captions={"note": "Рыжая кошка спит."}, source_row=9)
    assert listed(client, words="кошка") == ["cat"]


def test_each_line_says_where_its_instance_stands(client: Client, project: Project) -> None:
    lines = client.get(LIST).context["page"].rows
    assert [[(each.study.slug, each.outcome) for each in line.standings] for line in lines] == [
        [("step-3", "accepted"), ("step-4", "accepted")],
        [("step-3", "accepted"), ("step-4", "rejected")],
        [("step-3", "none yet")],
        [("step-3", "none yet")],
    ]


def test_what_was_chosen_stands_in_the_form(client: Client) -> None:
    form = words_of(client.get(LIST, {"question": "several"}))
    assert '<option value="several" selected>Answered by several</option>' in form


def test_pages_keep_the_filter(client: Client, project: Project) -> None:
    for number in range(30):
        make_instance(project, f"late-{number}", source_row=100 + number)
    page = client.get(LIST, {"state": "not-asked"}).content.decode()
    last = Instance.objects.get(key="late-23")
    assert f'href="?state=not-asked&amp;after={last.pk}"' in page
    assert listed(client, state="not-asked", after=str(last.pk)) == [f"late-{number}" for number in range(24, 30)]


def test_more_instances_take_no_more_queries(
    client: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    # Session, user, project; size of the project, kept statistics and whether they are current (7); studies, page,
    # images, decisions, tags; rights, who is simulated, all tags, dataset, models; in the rail the size of the project,
    # answers (2) and studies.
    # And why no study asks about those that come now (3).
    for more in ("late", "later"):
        for number in range(10):
            make_instance(project, f"{more}-{number}")
        client.get(LIST)
        with django_assert_num_queries(33):
            client.get(LIST)


def page_of(client: Client, key: str) -> str:
    return words_of(client.get(f"{LIST}{key}/"))


def test_the_page_of_an_instance_says_which_answers_moved_it_where(client: Client, project: Project) -> None:
    page = page_of(client, "vase-1")
    ann, ben = (Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name for person in ("ann", "ben"))
    way = page[page.index('id="timeline"') : page.index("</ol>", page.index('id="timeline"'))]
    assert 'accepted</span> <span title="candidate-1">Image 2</span>' in way
    assert way.index(ann) < way.index("rejected") < way.index(ben)
    answer = Response.objects.get(annotator__id_digest=digest_of("ann"), question__instance__key="vase-1")
    assert f"{answer.shown_order.index('candidate-1') + 1} of 5" in page
    assert "always last" in page
    assert "4.2 s" in page
    assert "Rule unambiguous-v1, 1 of 1 answer (Both 1)." in page


def test_votes_stand_under_what_people_chose_and_only_those_that_count(client: Client, project: Project) -> None:
    def votes(key: str) -> list[tuple[str, str, list[str], bool]]:
        page = client.get(f"{LIST}{key}/").context
        return [
            (image.name, vote.question.study.slug, list(vote.names), vote.wins)
            for image in page["images"]
            for vote in image.votes
            if vote.names
        ]

    client.get(f"{LIST}vase-1/")
    ann, ben = (Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name for person in ("ann", "ben"))
    assert votes("vase-1") == [("candidate-1", "step-3", [ann], True)]
    assert votes("vase-0") == [("image", "step-4", [ben], True), ("candidate-0", "step-3", [ann], True)]
    both = client.get(f"{LIST}vase-1/").context["other_votes"]
    assert [(question.study.slug, option.key, list(option.chosen_by)) for question, option in both] == [
        ("step-4", "both", [ben])
    ]
    exclude(project, "ann")
    withdraw(Project.objects.get(), "ben")
    assert votes("vase-0") == votes("vase-1") == []
    assert client.get(f"{LIST}vase-1/").context["other_votes"] == []


def test_the_timeline_names_the_releases_that_hold_the_instance(client: Client, project: Project) -> None:
    step_3, step_4 = (Study.objects.get(slug=slug) for slug in ("step-3", "step-4"))
    about = {"project": project, "file": "rows.jsonl", "sha256": "0"}
    Release.objects.create(name="before", study=step_4, made_at=NOON - timedelta(minutes=1), **about)
    Release.objects.create(name="of-step-4", study=step_4, made_at=NOON, **about)
    both = Release.objects.create(name="of-both", study=step_4, made_at=NOON + timedelta(days=1), **about)
    both.beside.add(step_3)
    Release.objects.create(name="unfinished", project=project, study=step_3, made_at=NOON)
    found = {key: client.get(f"{LIST}{key}/").context["releases"] for key in ("vase-0", "vase-1", "vase-2")}
    assert {key: [release.name for release in releases] for key, releases in found.items()} == {
        "vase-0": ["of-step-4", "of-both"],
        # Step 3 accepted it, and step 4 rejected it.
        "vase-1": ["of-both"],
        "vase-2": [],
    }


def test_scores_of_models_stand_under_what_they_are_about(client: Client, project: Project) -> None:
    instance = Instance.objects.get(key="vase-0")
    model = Model.objects.create(project=project, name="clip", created_at=NOON)

    def predict(kind: str, variant: str, **about: Any) -> None:
        given = {"caption_rule": instance.caption_rule, "source_row": 1, "created_at": NOON} | about
        Prediction.objects.create(model=model, instance=instance, kind=kind, variant=variant, **given)

    predict("text_to_image", "caption", scores={"image": 0.2, "negative_image": 0.4}, is_right=False)
    predict("image_to_text", "image", scores={"caption": -1.0, "negative_caption": 1.0}, is_right=False)
    predict("image_to_text", "negative_image", is_right=True)
    # Of captions written otherwise, and of options that the question does not have.
    predict("text_to_image", "negative_caption", scores={"image": 1.0}, is_right=False, caption_rule="other-v1")
    predict("text_to_image", "other", scores={"image": 1.0}, is_right=False, problem="Not its options.")
    page = client.get(f"{LIST}vase-0/").context
    scored = [
        *((each.role, each.scores) for each in page["captions"]),
        *((each.name, each.scores) for each in page["images"]),
    ]
    assert {name: [(one.about, one.score, one.percent) for one in scores] for name, scores in scored if scores} == {
        # The highest has the whole bar, and the bar begins at nothing or at the lowest.
        "image": [("caption", 0.2, 50)],
        "caption": [("image", -1.0, 0)],
        "negative_caption": [("image", 1.0, 100)],
    }
    assert page["unscored"] == [("clip", "negative image", True)]


def test_the_page_of_an_instance_shows_what_was_imported(client: Client, project: Project) -> None:
    Instance.objects.filter(key="vase-0").update(original_captions={"caption": "a VASE"}, caption_rule="some-rule-v1")
    page = page_of(client, "vase-0")
    assert "row 1 of vases.csv" in page
    assert "before some-rule-v1: a VASE" in page
    assert "no licence given" in page
    assert page.count("/full") >= 5


def described_set(project: Project) -> None:
    """Store a set of ten pictures with two descriptions, one of which a companion file speaks of."""
    instance = make_instance(project, "kitchen", source_row=9)
    instance.images.all().delete()
    for place in range(10):
        image = draw_image(place)
        InstanceImage.objects.create(
            instance=instance,
            role="set",
            position=place,
            filename=f"kitchen/#{place}of10",
            image=image,
            licence="Apache-2.0",
        )
    instance.captions = {"description_1": "A cup.", "description_2": "Two cups."}
    instance.reference = {
        "targets": [4, 0],
        "noted": {"4": {"author": "unseen_worker", "tags": [], "looked_for": ["con"]}},
    }
    instance.save()


def test_an_image_set_is_shown_whole_with_what_the_import_knew_of_its_descriptions(
    client: Client, project: Project
) -> None:
    described_set(project)
    line = client.get(LIST, {"words": "kitchen"}).content.decode()
    assert (line.count('alt="set"'), "and 4 more" in line) == (6, True)
    page = page_of(client, "kitchen")
    assert [f"<strong>set-{place}</strong>" in page for place in range(10)] == [True] * 10
    assert "about set-4 · unseen worker · phenomena: none" in page
    assert "about set-0</span>" in page
    # What is the same for all ten is said once.
    assert page.count("Apache-2.0") == 1
    InstanceImage.objects.filter(role="set", position=3).update(licence="CC0-1.0")
    again = page_of(client, "kitchen")
    assert (again.count("Apache-2.0"), again.count("CC0-1.0")) == (9, 1)


def test_answers_that_do_not_count_are_told_apart(client: Client, project: Project) -> None:
    Response.objects.filter(annotator__id_digest=digest_of("ann")).update(slot=None)
    Response.objects.filter(annotator__id_digest=digest_of("ben")).update(is_current=False)
    page = page_of(client, "vase-0")
    assert page.count("its place had gone to somebody else, not counted") == 1
    assert page.count("changed later") == 1


def test_an_answer_of_somebody_who_withdrew_is_not_shown_and_of_somebody_excluded_is_marked(
    client: Client, project: Project
) -> None:
    exclude(project, "ann")
    assert page_of(client, "vase-0").count("excluded, not counted") == 1
    withdraw(Project.objects.get(), "ann")
    page = page_of(client, "vase-0")
    assert "excluded, not counted" not in page
    assert "withdrawn, not counted" not in page
    assert Pseudonym.objects.get(annotator__id_digest=digest_of("ann")).name not in page


def test_the_timeline_counts_right_answers_of_those_given(client: Client, project: Project) -> None:
    """Four questions about vase-0, two answers wanted to each; the second annotator is wrong once."""
    baseline = open_study(project, BASELINE | {"answers": 2})
    assert "right." not in page_of(client, "vase-0")
    sit_through(baseline, "dora", lambda question: question.right)
    page = page_of(client, "vase-0")
    assert "4 of 8 answers, last" in page
    assert "4 of 4 answers right." in page
    sit_through(baseline, "emil", lambda question: "caption" if question.kind == "image_to_text" else question.right)
    assert "7 of 8 answers right." in page_of(client, "vase-0")
    exclude(project, "dora")
    assert "3 of 4 answers right." in page_of(client, "vase-0")
    withdraw(project, "emil")
    assert "right." not in page_of(client, "vase-0")


def test_what_was_settled_counts_as_nobodys_right_answer(client: Client, project: Project) -> None:
    baseline = open_study(project, BASELINE | {"answers": 2})
    sit_through(baseline, "dora", lambda question: question.right)
    sit_through(baseline, "emil", lambda question: "caption" if question.kind == "image_to_text" else question.right)
    assert "7 of 8 answers right." in page_of(client, "vase-0")
    (split,) = Question.objects.filter(study=baseline, kind="image_to_text").exclude(right="caption")
    settle(question=split, choice=split.right, by=User.objects.get(), note="", now=NOON)
    assert "7 of 8 answers right." in page_of(client, "vase-0")


@pytest.mark.both
def test_a_key_with_a_slash_has_a_page(client: Client, project: Project) -> None:
    make_instance(project, "train/1 ü")
    assert client.get(LIST, {"words": "train/"}).content.decode().count("train/1%20%C3%BC/") == 1
    assert "train/1 ü" in page_of(client, "train/1 ü")


@pytest.mark.both
@pytest.mark.parametrize("key", GOOD_KEYS)
def test_every_key_that_is_let_in_has_a_page(key: str, client: Client, project: Project) -> None:
    instance = make_instance(project, key)
    address = reverse("instance", args=[project.slug, instance.name_in_address])
    assert address.startswith(LIST)
    assert "by-id" not in address
    assert client.get(address).context["instance"] == instance


@pytest.mark.both
@pytest.mark.parametrize("key", [key for key, _ in BAD_KEYS if key and len(key) <= 200 and "\ud800" not in key])
def test_a_key_that_an_older_version_let_in_has_one_too(key: str, client: Client, project: Project) -> None:
    instance = make_instance(project, key)
    page = client.get(LIST, {"type": instance.type}).content.decode()
    address = f"{LIST}by-id/{instance.pk}/"
    assert address in page
    assert client.get(address).context["instance"] == instance


def test_a_key_that_looks_like_an_id_is_not_taken_for_one(client: Client, project: Project) -> None:
    instance = make_instance(project, f"by-id/{Instance.objects.get(key='vase-0').pk}")
    address = reverse("instance", args=[project.slug, instance.name_in_address])
    assert client.get(address).context["instance"] == instance


@pytest.mark.both
def test_an_instance_of_another_project_is_not_found(client: Client, project: Project) -> None:
    instance = make_instance(make_project("maps"), "elsewhere")
    assert client.get(f"{LIST}elsewhere/").status_code == 404
    assert client.get(f"{LIST}by-id/{instance.pk}/").status_code == 404
    assert client.get(f"{LIST}by-id/{10**30}/").status_code == 404


def test_more_answers_take_no_more_queries(
    client: Client, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    key = "vase-0"
    client.get(f"{LIST}{key}/")
    # Session, user, project; names to give, instance, studies, questions, responses, names, gold,
    # images, who is simulated; where it stands in the list, the ones beside it, tags; predictions, releases; why
    # it has its outcome (two); what they may do; in the rail the size of the project, answers (2) and studies.
    with django_assert_num_queries(28):
        client.get(f"{LIST}{key}/")
    sit_through(open_study(project, STEP_3 | {"study": "again"}), "cleo", "none")
    client.get(f"{LIST}{key}/")
    with django_assert_num_queries(28):
        client.get(f"{LIST}{key}/")


def test_what_is_large_is_counted_behind_the_page(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    first = client.get(LIST, {"state": "rejected"})
    assert (first.context["count"], "computed in the background" in first.content.decode()) == (0, True)
    run_now(jobs.pop())
    second = client.get(LIST, {"state": "rejected"})
    assert (second.context["count"], "nothing has changed since" in second.content.decode()) == (1, True)
    # What rests on no figures asks for none.
    assert client.get(LIST, {"type": "swap"}).context["kept"] is None
    assert jobs == []


def test_a_large_list_counts_by_its_kept_facets_only_while_nothing_has_changed(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.queries.instances.explorer.PER_PAGE", 1)
    counts = [client.get(LIST, query).context["count"] for query in FACETED]
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    tag_instances(project=project, instances=[Instance.objects.get(key="vase-0").pk], name="odd", by="tests", now=NOON)
    KeptNumbers.objects.update(as_of=NOON)
    client.get(LIST)
    run_now(jobs.pop())
    untag_instances(
        project=project, instances=[Instance.objects.get(key="vase-3").pk], name="odd", by="tests", now=NOON
    )
    page = client.get(LIST, {"tag": "odd"})
    # One has it now; the facets are older, and say so.
    assert page.context["count"] == 1
    assert [value.count for facet in page.context["facets"] if facet.name == "tag" for value in facet.values] == [2]
    assert "Counts as of" in page.content.decode()
    tag_instances(project=project, instances=[Instance.objects.get(key="vase-3").pk], name="odd", by="tests", now=NOON)
    untag_instances(
        project=project, instances=[Instance.objects.get(key="vase-0").pk], name="odd", by="tests", now=NOON
    )
    KeptNumbers.objects.update(as_of=NOON)
    client.get(LIST)
    run_now(jobs.pop())
    assert [client.get(LIST, query).context["count"] for query in FACETED] == counts
    assert "Counts as of" not in client.get(LIST).content.decode()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("counted", "told"), [("1", False), ("2", True), ("0", True), ("", False), ("x", False), ("9" * 50, False)]
)
def test_the_list_says_where_the_page_that_led_to_it_counted_others(client: Client, counted: str, told: bool) -> None:
    page = client.get(LIST, {"state": "rejected", "counted": counted})
    assert (page.context["count"], "The page you came from counted" in page.content.decode()) == (1, told)


def test_figures_go_when_somebody_withdraws(client: Client, project: Project) -> None:
    assert listed(client, longer="4") == ["vase-0", "vase-1"]
    ann = Annotator.objects.get(id_digest=digest_of("ann"))
    removals.withdraw(annotator=ann, project=project, by="tests", now=NOON)
    assert not InstanceFigures.objects.exists()
    # ben alone answered about them by now.
    assert listed(client, longer="4", study="step-3") == []
    assert listed(client, longer="4") == ["vase-0", "vase-1"]


def test_true_captions_and_pictures_stand_before_foils_with_their_roles(client: Client, project: Project) -> None:
    instance = Instance.objects.filter(project=project).order_by("pk")[0]
    instance.captions = {"foil": "A red map.", "true_sentence": "A red vase."}
    instance.save()
    instance.images.all().delete()
    for number, role in enumerate(("negative_image", "image", "mask")):
        InstanceImage.objects.create(instance=instance, role=role, filename=role, image=draw_image(number))
    card = words_of(client.get("/projects/vases/instances/")).partition('<li class="instance"')[2].partition("</li>")[0]
    assert re.findall(r'<small aria-hidden="true">(\w+)</small>', card) == ["image", "mask", "negative_image"]
    assert re.findall(r'<span class="muted">(\w+): </span>', card) == ["true_sentence", "foil"]
    page = words_of(client.get(f"/projects/vases/instances/{instance.key}/"))
    assert re.findall(r"<strong>(\w+)</strong>", page.partition('class="gallery"')[2])[:3] == [
        *("image", "mask", "negative_image"),
    ]
    assert page.index("<dt>true_sentence") < page.index("<dt>foil")


def test_instances_that_are_not_asked_about_are_looked_up_one_by_one(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL reads a long list in NOT IN once for each instance."""
    monkeypatch.setattr("results.queries.instances.explorer.FEW", 0)
    with CaptureQueriesContext(connection) as captured:
        client.get(LIST, {"state": "not-asked"})
        client.get(LIST, {"without": "step-4"})
    statements = [query["sql"] for query in captured.captured_queries]
    assert any("NOT EXISTS" in statement or "NOT (EXISTS" in statement for statement in statements)
    assert not any(re.search(r'NOT \("studies_instance"."id" IN \(SELECT', statement) for statement in statements)


def test_more_matches_than_are_counted_are_said_to_be_more(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("results.queries.instances.explorer", "results.views.instances"):
        monkeypatch.setattr(f"{module}.MOST_COUNTED", 3)
    monkeypatch.setattr("results.queries.instances.explorer.PER_PAGE", 2)
    text = words_of(client.get(LIST))
    assert '<span class="muted">more than 3</span>' in text
    assert "Select all results, more than 3" in text
    text = words_of(client.get(LIST, {"type": "swap"}))
    assert '<span class="muted">2</span>' in text


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite does not say how many rows it reads.")
@pytest.mark.parametrize("wanted", [InstanceFilters(), InstanceFilters(words="a")])
def test_counting_matches_reads_no_more_instances_than_it_counts(
    project: Project, monkeypatch: pytest.MonkeyPatch, wanted: InstanceFilters
) -> None:
    monkeypatch.setattr("results.queries.instances.explorer.MOST_COUNTED", 1)
    monkeypatch.setattr("results.queries.instances.explorer.FEW", 0)
    shown = list_instances(project, list(project.studies.all()), wanted)
    assert shown.count() == 2
    assert rows_read(shown.count)["studies_instance"] == 2


def test_instances_asked_about_or_imported_since_the_numbers_were_stored_are_looked_up(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored numbers say where to look, and questions decide."""
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    jobs: list[Job] = []
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    lower = make_instance(project, "lower")
    last = make_instance(project, "unasked")
    freed = lower.pk
    lower.delete()
    client.get(LIST)
    run_now(jobs[0])
    without = {"without": "step-4"}
    assert sorted(listed(client, **without)) == ["unasked", "vase-2", "vase-3"]
    assert listed(client, state="not-asked") == ["unasked"]
    with CaptureQueriesContext(connection) as captured:
        listed(client, state="not-asked")
    assert any(f"IN ({last.pk}) OR" in query["sql"] for query in captured.captured_queries)
    question = Question.objects.filter(study__slug="step-4").first()
    assert question is not None
    question.pk, question.instance = None, Instance.objects.get(key="vase-3")
    question.save()
    make_instance(project, "newer")
    assert sorted(listed(client, **without)) == ["newer", "unasked", "vase-2"]
    assert sorted(listed(client, state="not-asked")) == ["newer", "unasked"]
    # An import that began before another one, and ended after it.
    make_instance(project, "lower", pk=freed)
    assert sorted(listed(client, state="not-asked")) == ["lower", "newer", "unasked"]
    assert sorted(listed(client, **without)) == ["lower", "newer", "unasked", "vase-2"]


def test_few_instances_are_looked_up_where_nobody_is_asked_about_many(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_instance(project, f"late-{number}")
    listed(client)
    table = FacetTable.read(KeptNumbers.objects.get(page=KeptNumbers.Page.INSTANCES).content)
    step_4 = project.studies.get(slug="step-4").pk
    everybody = set(project.studies.values_list("pk", flat=True))
    late = list(Instance.objects.filter(key__startswith="late").order_by("pk").values_list("pk", flat=True))
    vases = list(Instance.objects.filter(key__in=["vase-2", "vase-3"]).order_by("pk").values_list("pk", flat=True))
    assert table.unasked(everybody) == (late, late[-1], 7)
    assert table.unasked({step_4}) == (vases + late, late[-1], 7)
    monkeypatch.setattr("results.queries.instances.facets.MOST_LOOKED_UP", 3)
    assert table.unasked(everybody) == (late, late[-1], 7)
    assert table.unasked({step_4}) is None
