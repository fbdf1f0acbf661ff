"""Finding the image that a description is about: imported descriptions, and those that a study has just collected."""

import pytest

from annotation.actions.answering import advance_session, responses
from annotation.actions.deciding.adjudication import settle, unsettle
from annotation.actions.deciding.description_outcomes import downstream_outcomes
from annotation.errors import AnnotationError, NothingLeft
from annotation.models import Decision, Response
from results.actions.pseudonyms import name_annotators
from results.queries.exports.export_rows import given_responses
from results.queries.people.annotators import persons_answers
from results.queries.reports.answers import answer_details
from results.queries.reports.label_spaces import label_spaces
from results.queries.reports.report_rows import study_facts
from results.queries.studies.overview import count_categories
from results.queries.studies.pipeline import funnel
from results.reports.sections.agreement import reliabilities
from studies import rules
from studies.actions.questions import practice_questions, sample_questions
from studies.errors import StudyError
from studies.models import Instance, InstanceImage, Question
from tests.factories import NOON, arrive_at_work, launch_study, make_image, make_project
from tests.flows.retrieving import choose, find_study, make_set, project_of, send, states_of, write_study
from tests.results.describing import launched

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("writing_is_made_up")]


def test_every_imported_description_whose_image_is_known_is_a_question() -> None:
    project = make_project()
    make_set(project, "kitchen", {"The full one.": 4, "The empty one.": 9})
    make_set(project, "street", {"Nobody tells which one.": None}, type="video")
    find = find_study(project)
    asked = Question.objects.filter(study=find)
    assert [(each.source_type, each.source_id, each.source, each.right) for each in asked] == [
        ("description", 1, {"text": "The full one.", "target": 4}, "image_5"),
        ("description", 2, {"text": "The empty one.", "target": 9}, "image_10"),
    ]
    assert [each.content["caption"] for each in asked] == ["The full one.", "The empty one."]
    session = arrive_at_work(find, "ann")
    choose(session, place=4 if session.seat.slots.get().question == asked[0] else 9)
    assert Response.objects.get().choice == Response.objects.get().question.right


def test_a_study_of_sets_without_a_description_cannot_be_launched() -> None:
    project = project_of("kitchen")
    with pytest.raises(StudyError, match="has a description whose image is known"):
        find_study(project)


def test_its_preview_and_its_practice_ask_about_imported_descriptions() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key, {f"The first of {key}.": 0, f"The last of {key}.": 9})
    practice = {"pass": 1, "questions": [{"instance": "street", "right": "image_1"}]}
    find = find_study(project, practice=practice)
    assert [each["content"]["caption"] for each in sample_questions(find, per_part=3)] == [
        "The first of kitchen.",
        "The last of kitchen.",
    ]
    (tried,) = practice_questions(find)
    assert tried["content"]["caption"] == "The first of street."


def test_what_somebody_writes_is_found_by_somebody_else_and_never_by_its_author() -> None:
    project = project_of("kitchen", type="video")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"})
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "ann")
    session = arrive_at_work(find, "ben")
    question = Question.objects.get(study=find)
    assert (question.source, question.right) == ({"text": "The one that is half open.", "target": 2}, "image_3")
    assert responses.order_for(session=session, question=question) == [f"image_{place}" for place in range(1, 11)]
    choose(session, place=2)
    assert Decision.objects.get(question=question).state == "accepted"
    assert Decision.objects.get(question__study=write).state == "accepted"


def test_the_export_of_descriptions_says_how_many_found_each() -> None:
    project = project_of("kitchen", type="video")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=3)
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    # The target is the third image.
    for person, place in (("ben", 2), ("cleo", 7), ("dora", 2)):
        choose(arrive_at_work(find, person), place=place)
    name_annotators(project=project)
    (written,) = given_responses(write)
    assert (written.retrievers, written.found) == (3, 2)
    assert {(row.retrievers, row.found) for row in given_responses(find)} == {(None, None)}
    Response.objects.filter(study=find, choice="image_8").update(left_out="excluded")
    (written,) = given_responses(write)
    assert (written.retrievers, written.found) == (2, 2)


def test_two_of_three_asks_two_first_and_a_third_only_where_one_of_them_found_it() -> None:
    project = make_project()
    make_set(project, "kitchen", {"Both find it.": 1, "Nobody finds it.": 2, "One of two finds it.": 3})
    find = find_study(project, rule="retrieved-2-of-3-v1", answers=2, max_answers=3, surveys={"size": 100})
    found = {1: (1, 1), 2: (5, 6), 3: (3, 7)}
    for turn, person in enumerate(("ann", "ben")):
        session = arrive_at_work(find, person)
        for _ in range(3):
            (slot,) = responses.open_slots(session=session, limit=1)
            choose(session, place=found[slot.question.source_id][turn])
    assert states_of(find) == ["accepted", "rejected", "undecided"]
    session = arrive_at_work(find, "cleo")
    assert [slot.question.source_id for slot in responses.open_slots(session=session, limit=9)] == [3]
    choose(session, place=3)
    assert states_of(find) == ["accepted", "rejected", "accepted"]
    for person in ("ann", "dora"):
        with pytest.raises(AnnotationError):
            arrive_at_work(find, person, session=f"again-{person}")


def test_what_two_people_left_open_a_researcher_settles_and_the_description_follows() -> None:
    project = project_of("kitchen")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=2)
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    for person, place in (("ben", 2), ("cleo", 7)):
        choose(arrive_at_work(find, person), place=place)
    assert (states_of(find), states_of(write)) == (["undecided"], ["undecided"])
    question = Question.objects.get(study=find)
    # The third image is the one that was described.
    for choice, outcome in (("image_3", "accepted"), ("image_8", "rejected")):
        settle(question=question, choice=choice, by="test", note="", now=NOON)
        assert (states_of(find), states_of(write)) == ([outcome], [outcome])
        unsettle(question=question, by="test", now=NOON)
        assert (states_of(find), states_of(write)) == (["undecided"], ["undecided"])


def test_a_description_that_nobody_found_is_written_anew_by_somebody_else_until_there_were_enough() -> None:
    project = project_of("kitchen")
    write = write_study(project, max_answers=3)
    find = find_study(project, selection={"from": "write"})
    for author, finder in (("ann", "ben"), ("cleo", "dora"), ("eve", "finn")):
        send(arrive_at_work(write, author), text=f"What {author} wrote.")
        assert states_of(write) == ["undecided"]
        with pytest.raises(NothingLeft):
            arrive_at_work(write, "gil", session=f"gil-after-{author}")
        choose(arrive_at_work(find, finder), place=7)
        with pytest.raises(AnnotationError):
            arrive_at_work(write, author, session=f"{author}-again")
    assert states_of(write) == ["rejected"]
    assert states_of(find) == ["rejected"] * 3
    with pytest.raises(NothingLeft):
        arrive_at_work(write, "gil")


def test_where_somebody_cannot_describe_it_somebody_else_is_asked_at_once() -> None:
    project = project_of("kitchen")
    write = write_study(project, max_answers=2)
    send(arrive_at_work(write, "ann"), text="not possible")
    assert Decision.objects.get(study=write).asks_more
    send(arrive_at_work(write, "ben"), text="not possible")
    assert states_of(write) == ["rejected"]


def test_agreement_is_told_apart_for_sets_at_random_and_for_videos_in_time() -> None:
    project = make_project()
    make_set(project, "still", {"The full one.": 0})
    make_set(project, "film", {"The last but one.": 8}, type="video")
    find = find_study(project, answers=2, surveys={"size": 2})
    # The still is found by one of them; in the film one is a place off.
    said = {"ann": {"still": 0, "film": 8}, "ben": {"still": 9, "film": 9}}
    for person, places in said.items():
        session = arrive_at_work(find, person)
        for _ in range(2):
            (slot,) = responses.open_slots(session=session, limit=1)
            choose(session, place=places[slot.question.instance.key])
    (part,) = study_facts(find).parts
    assert part.label_space.scale.level == "nominal"
    assert [scale.level for scale, _ in part.label_space.apart] == ["interval", "nominal"]
    found = {(each.labels, each.measure): each for each in reliabilities(study_facts(find)) if each.when == "before"}
    titles = ["options", "scale image_1 to image_10, where they have one", "options, where they have no order"]
    assert list(dict.fromkeys(labels for labels, _ in found)) == titles
    for title, n in zip(titles, (2, 1, 1), strict=True):
        assert {each.questions for (labels, _), each in found.items() if labels == title} == {n}
    # Two answers to one question, two values: what is observed is what is expected, so that alpha is 0 by its formula.
    interval = found[titles[1], "Krippendorff's alpha (interval)"]
    assert interval.value == pytest.approx(0)
    assert (titles[2], "Krippendorff's alpha (interval)") not in found


def test_places_in_a_video_are_no_sign_of_choosing_by_place() -> None:
    project = make_project()
    make_set(project, "still", {"The full one.": 0})
    make_set(project, "film", {"The last but one.": 8}, type="video")
    find = find_study(project, surveys={"size": 2})
    session = arrive_at_work(find, "ann")
    for _ in range(2):
        choose(session, place=8)
    kinds = label_spaces(find)
    shown = {each.category[0]: (each.position is None, each.positions) for each in answer_details(find, kinds)}
    assert shown == {"static": (False, 10), "video": (True, 0)}
    name_annotators(project=project)
    assert sorted((one.position is None, one.positions) for one in persons_answers(find, kinds)) == [
        (False, 10),
        (True, 0),
    ]


def test_what_is_described_in_earnest_is_found_and_whoever_cannot_is_followed_by_somebody_else() -> None:
    project = project_of("kitchen", type="video")
    ask = {"images": "candidate", "targets": 1}
    write = launch_study(
        project, instances=0, study="write", kind="describe", ask=ask, rule="described-v1", max_answers=2
    )
    find = find_study(project, selection={"from": "write"})
    send(arrive_at_work(write, "ann"), text="", not_possible="yes")
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "cleo")
    send(arrive_at_work(write, "ben"), text="The cat looks up and its left paw is not on the table yet.")
    session = arrive_at_work(find, "cleo")
    target = Question.objects.get(study=write).content["target"]
    assert Question.objects.get(study=find).right == f"image_{target + 1}"
    choose(session, place=target)
    assert states_of(write) == states_of(find) == ["accepted"]


def test_whoever_only_measures_accepts_and_rejects_no_description() -> None:
    project = project_of("kitchen")
    write = write_study(project, max_answers=2)
    find = find_study(project, selection={"from": "write"})
    other = find_study(project, study="people", purpose="baseline", selection={"from": "write"})
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    choose(arrive_at_work(other, "ben"), place=2)
    assert states_of(write) == ["undecided"]
    assert downstream_outcomes(Response.objects.filter(study=write)) == {}
    choose(arrive_at_work(find, "cleo"), place=5)
    assert states_of(find) == ["rejected"]
    # So that it is written once more.
    assert Decision.objects.get(study=write).asks_more
    assert list(downstream_outcomes(Response.objects.filter(study=write)).values()) == [[rules.State.REJECTED]]


def test_of_a_study_that_asks_for_more_than_descriptions_only_these_are_asked_about() -> None:
    project = make_project()
    made = make_set(project, "kitchen")
    Instance.objects.update(captions={"caption": "A door."})
    InstanceImage.objects.create(instance=made, role="image", filename="door.png", image=make_image("door"))
    parts = "[{kind: write_about}, {kind: rating}]"
    write = launched(project, study="write", parts=parts, rule="collected-v1", purpose="collection")
    find = find_study(project, selection={"from": "write"})
    session = arrive_at_work(write, "ann")
    send(session, text="The one that is half open.")
    advance_session.begin(session=session, part=1, now=NOON)
    session.refresh_from_db()
    send(session, choice="1")
    assert Response.objects.filter(study=write).count() == 2
    (slot,) = responses.open_slots(session=arrive_at_work(find, "ben"), limit=9)
    assert slot.question.source == {"text": "The one that is half open.", "target": 2}
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "cleo")


def test_a_set_with_two_descriptions_is_two_items_of_the_pipeline() -> None:
    project = make_project()
    make_set(project, "kitchen", {"The full one.": 0, "The empty one.": 3})
    find = find_study(project, surveys={"size": 1})
    choose(arrive_at_work(find, "ann"), place=0)
    choose(arrive_at_work(find, "ben"), place=0)
    assert states_of(find) == ["accepted", "rejected"]
    (step,) = funnel([find], count_categories(project)).steps
    counts = step.cell.counts
    assert (counts.asked, counts.accepted) == (2, 1)
    # The list shows the set once for both.
    assert counts.asked_tooltip == "The instance that these 2 items are about"
    assert step.cell.tooltip == "The instance that this item is about"
    assert counts.others == [("rejected", "rejected", 1, "The instance that this item is about")]
