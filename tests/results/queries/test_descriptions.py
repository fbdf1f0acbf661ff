"""Which descriptions leave: those that were written and accepted, after those that were imported."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from analytics.outcomes import Outcome
from annotation.actions.removing import removals
from annotation.models import Annotator, Decision, Response
from results.actions.cached_statistics import CachedStatistics, look_up, make
from results.actions.pseudonyms import name_annotators
from results.exporting.rows import DescribedImage
from results.models import KeptNumbers
from results.queries.exports.descriptions import descriptions_of_project, descriptions_of_studies
from results.queries.people.annotators import persons_answers
from results.queries.reports.label_spaces import label_spaces
from results.queries.reports.report_rows import project_facts, study_facts
from results.reports.build import report_of
from results.reports.facts import DescribedSets, DescriptionFacts, WrittenFacts
from studies.actions.projects.datasets import set_dataset
from studies.models import Instance, Study
from tests.factories import NOON, TESTS, make_project
from tests.people import digest_of
from tests.removing import REMOVED as LATER
from tests.results.describing import find, launched, make_set, two_studies, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("describing")]


def told(rows: list[DescribedImage]) -> list[tuple[str, int, str, int | None]]:
    return [(row.key, row.number, row.text, row.target) for row in rows]


def some_of_each() -> tuple[Study, Study]:
    """Ann writes of two sets; ben and cleo find what her first text is about and not her second; one finds the last."""
    tell, search = two_studies("static-a", "video-b")
    texts = {"static-a one": "The red one.", "static-a five": "The blue one."}
    write(tell, "ann", texts | {"video-b one": "Before it falls.", "video-b five": "not possible"})
    find(search, "ben", {"The red one.": 1, "The blue one.": 9, "Before it falls.": 1})
    find(search, "cleo", {"The red one.": 1, "The blue one.": 8})
    states = Decision.objects.filter(study=search).order_by("question_id").values_list("state", "answers")
    assert list(states) == [("accepted", 2), ("rejected", 2), ("undecided", 1)]
    return tell, search


def test_what_was_accepted_leaves_and_nothing_else() -> None:
    tell, search = some_of_each()
    assert told(list(descriptions_of_studies([search]))) == [("static-a", 1, "The red one.", 0)]
    # The study that collects texts accepts each, and knows nothing of "not possible" that could leave.
    assert told(list(descriptions_of_studies([tell]))) == [
        ("static-a", 1, "The red one.", 0),
        ("static-a", 2, "The blue one.", 4),
        ("video-b", 1, "Before it falls.", 0),
    ]
    (row,) = descriptions_of_project(tell.project)
    assert (row.study, row.worker, row.split) == ("find", "", "train")
    asked = Decision.objects.get(study=search, state="accepted").question
    assert row.task == f"static-a/response-{asked.source_id}"
    # Writers leave under the names that are given, and with who withdrew go the texts.
    ann = Annotator.objects.get(id_digest=digest_of("ann"))
    assert [row.worker for row in descriptions_of_studies([search], {ann.pk: "A-1"})] == ["A-1"]
    removals.withdraw(annotator=ann, project=tell.project, by=TESTS, now=LATER)
    assert list(descriptions_of_project(tell.project)) == []


def test_accepted_descriptions_stand_after_the_imported_ones_of_their_set() -> None:
    tell, search = some_of_each()
    Instance.objects.filter(key="static-a").update(
        captions={"description_1": "Old.", "description_2": "Older."},
        reference={"targets": [7, 0], "noted": {"7": {"tags": ["s"], "looked_for": ["con", "s"]}}},
    )
    make_set(tell.project, "static-c", captions={"description_1": "Alone."}, reference={"targets": [2]})
    assert told(list(descriptions_of_studies([search]))) == [("static-a", 3, "The red one.", 0)]
    assert told(list(descriptions_of_project(tell.project))) == [("static-a", 3, "The red one.", 0)]
    set_dataset(project=tell.project, studies=[], by=TESTS, now=LATER)
    rows = list(descriptions_of_project(tell.project))
    assert told(rows) == [
        ("static-a", 1, "Old.", 7),
        ("static-a", 2, "Older.", 0),
        ("static-a", 3, "The red one.", 0),
        ("static-c", 1, "Alone.", 2),
    ]
    assert [(row.tags, row.looked_for) for row in rows] == [(("s",), ("con", "s")), ((), ()), ((), ()), ((), ())]


def test_sets_have_as_many_images_as_they_have() -> None:
    project, old = make_project("sets"), {"description_1": "Old."}
    small = make_set(project, "static-four", size=4, captions=old, reference={"targets": [3]})
    make_set(project, "static-twelve", size=12, captions=old, reference={"targets": [11]})
    assert [row.set_size for row in descriptions_of_project(project)] == [4, 12]
    # As many as were shown to those who found what was written, whatever became of the set since.
    tell, search = two_studies()
    write(tell, "ann", {"static-four one": "The red one."})
    for person in ("ben", "cleo"):
        find(search, person, {"The red one.": 1})
    small.images.filter(position=3).delete()
    set_dataset(project=project, studies=[], by=TESTS, now=LATER)
    found = [(row.text, row.set_size) for row in descriptions_of_project(project)]
    assert found == [("Old.", 3), ("The red one.", 4), ("Old.", 12)]


def test_a_study_that_asks_about_imported_descriptions_gives_those_that_it_accepted() -> None:
    project = make_project("sets")
    texts = {"description_1": "Old.", "description_2": "Older.", "description_3": "Oldest."}
    make_set(project, "static-a", captions=texts, reference={"targets": [7, 0, 3]})
    search = launched(project, study="find", kind="retrieve", purpose="filter", rule="retrieved-1-of-1-v1")
    find(search, "ben", {"Old.": 1, "Older.": 1})
    (row,) = descriptions_of_studies([search])
    assert (row.number, row.text, row.target, row.study) == (2, "Older.", 0, "find")
    assert row.task == "static-a/description-2"
    # Where all instances are the dataset, what was imported stays what it was in the export of the project.
    assert [row.text for row in descriptions_of_project(project)] == ["Older."]
    set_dataset(project=project, studies=[], by=TESTS, now=LATER)
    assert [row.text for row in descriptions_of_project(project)] == ["Old.", "Older.", "Oldest."]


def test_whether_an_author_also_wrote_for_the_training_split() -> None:
    two_studies("static-a")
    train = Study.objects.get(slug="tell")
    tell, search = two_studies("static-v", split="valid", name="-valid")
    write(tell, "ann", {"static-v one": "By ann."})
    for person in ("ben", "cleo"):
        find(search, person, {"By ann.": 1})
    # Nobody has written for the training split here, so nobody knows.
    assert [row.author for row in descriptions_of_studies([search])] == [""]
    write(train, "dora", {"static-a one": "By dora, whatever becomes of it."})
    assert [row.author for row in descriptions_of_studies([search])] == ["unseen_worker"]
    more, _ = two_studies(name="-more")
    write(more, "ann", {"static-a five": "By ann, for train."})
    assert [row.author for row in descriptions_of_studies([search])] == ["train_worker"]


@pytest.mark.parametrize("again", ["rejected", "accepted"])
def test_a_description_stands_once_in_a_dataset_of_two_studies_that_asked_about_it(again: str) -> None:
    tell, search = some_of_each()
    asked = Decision.objects.get(study=search, state="accepted").question
    other = two_studies(name="-again")[1]
    asked.pk, asked.study = None, other
    asked._state.adding = True
    asked.save()
    winner = asked.right if again == "accepted" else ""
    Decision.objects.create(study=other, question=asked, rule="retrieved-2-of-3-v1", state=again, winner=winner)
    other.refresh_from_db()
    assert len(list(descriptions_of_studies([other]))) == (1 if again == "accepted" else 0)
    set_dataset(project=tell.project, studies=[search, other], by=TESTS, now=LATER)
    assert [row.study for row in descriptions_of_project(tell.project)] == ["find"]


def test_what_reports_are_told_of_descriptions_that_were_written() -> None:
    tell, search = some_of_each()
    Response.objects.filter(answer__text="The red one.").update(writing={"keys": 9, "pastes": 2})
    Response.objects.filter(answer__text="The blue one.").update(writing={"keys": 90, "pastes": 0})
    facts, ann = study_facts(search), Annotator.objects.get(id_digest=digest_of("ann"))
    described = [(facts.described[question.id], question.outcome) for question in facts.questions]
    assert {(each.text, each.writer, each.pasted, outcome) for each, outcome in described} == {
        ("The red one.", ann.pk, True, Outcome.ACCEPTED),
        ("The blue one.", ann.pk, False, Outcome.REJECTED),
        ("Before it falls.", ann.pk, None, Outcome.NONE_YET),
    }
    assert facts.written == {"static": WrittenFacts(2, 0), "video": WrittenFacts(1, 1)}
    # The study that collects asks about no description.
    assert (study_facts(tell).described, study_facts(tell).written) == ({}, {})
    # What others made of each text.
    name_annotators(project=tell.project)
    became = Counter(one.became for one in persons_answers(tell, label_spaces(tell)))
    assert became == {"accepted": 1, "rejected": 1, "": 2}
    assert {one.became for one in persons_answers(search, label_spaces(search))} == {""}
    # The project counts what leaves with its data.
    make_set(tell.project, "video-c", split="valid", captions={"description_1": "Old."}, reference={"targets": [2]})
    red = {("train", "static"): DescribedSets(1, ["The red one."])}
    assert project_facts(tell.project).described == red
    set_dataset(project=tell.project, studies=[], by=TESTS, now=LATER)
    assert project_facts(tell.project).described == {**red, ("valid", "video"): DescribedSets(1, ["Old."])}


def test_what_reports_are_told_of_imported_descriptions() -> None:
    project = make_project("sets")
    noted = {"7": {"author": "unseen_worker", "tags": ["s"], "looked_for": ["con", "s"]}}
    texts = {"description_1": "Old.", "description_2": "Older."}
    make_set(project, "video-a", captions=texts, reference={"targets": [7, 0], "noted": noted})
    search = launched(project, study="find", kind="retrieve", rule="retrieved-1-of-1-v1", purpose="filter")
    facts = study_facts(search)
    told = {facts.described[question.id] for question in facts.questions}
    assert told == {DescriptionFacts("Old.", None, "unseen_worker", ("s",), ("con", "s")), DescriptionFacts("Older.")}
    assert facts.written == {"video": WrittenFacts(2, 0)}


@pytest.mark.parametrize(("slug", "other"), [("tell", "find"), ("find", "tell")])
def test_kept_numbers_are_old_once_the_other_study_has_new_answers(slug: str, other: str) -> None:
    tell, search = two_studies("static-a", "static-b")
    write(tell, "ann", {"static-a one": "The red one."})
    studies = {"tell": tell, "find": search}
    page = KeptNumbers.Page.STUDY_ANNOTATORS

    def look() -> CachedStatistics:
        return look_up(page=page, project=tell.project, study=studies[slug], now=NOON)

    make(kept=KeptNumbers.objects.get(pk=look().pk), now=NOON)
    assert look().is_current
    if other == "find":
        find(search, "ben", {"The red one.": 1})
    else:
        write(tell, "cleo", {"static-b one": "The blue one."})
    assert not look().is_current


def test_a_third_answer_is_none_of_those_asked_for_at_first() -> None:
    tell, search = two_studies("video-a")
    write(tell, "ann", {"video-a one": "Before it falls."})
    for person, place in (("ben", 1), ("cleo", 2), ("dora", 1)):
        find(search, person, {"Before it falls.": place})
    report = report_of(project_facts(tell.project))
    used = {row[3]: [row[4], *row[6:9]] for row in report.table("retrieval-agreement").rows if row[2] == "interval"}
    # 1 2 1 moments: the only unit, in which what is observed is what is expected; the first two are 1 and 2.
    assert used == {"all": [0, 1, 1, 3], "asked for at first": [0, 1, 1, 2], "after acceptance": [0, 1, 1, 3]}


def test_reports_ask_no_more_of_twice_as_many_descriptions(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    tell, search = two_studies("static-a")
    write(tell, "ann", {"static-a one": "The red one.", "static-a five": "The blue one."})
    find(search, "ben", {"The red one.": 1, "The blue one.": 9})
    with CaptureQueriesContext(connection) as first:
        study_facts(search)
    more, again = two_studies("static-b", "static-c", name="-again")
    write(more, "ann", {f"static-{key} {which}": f"{key} {which}" for key in "abc" for which in ("one", "five")})
    find(again, "ben", {f"{key} {which}": 1 for key in "abc" for which in ("one", "five")})
    with django_assert_num_queries(len(first)):
        facts = study_facts(again)
    assert len(facts.described) == 6
