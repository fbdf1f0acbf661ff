from dataclasses import asdict, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.work.answer_times import TimeEvidence
from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.actions.answering.responses import Submission
from annotation.models import Annotator, PracticeAnswer, Response, Session, SessionFlag, SessionState, Skip
from results.actions.erasure import forget
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.studies.progress import study_progress
from results.reports.base import Column, Table, Undefined
from results.views.participants import _most_important_first, _person_tables, _with_kind_titles
from studies.kinds import get_kind
from studies.models import InstanceImage, Membership, PracticeQuestion, Project, Question, Study, StudyState
from tests.factories import NOON, arrive_at_work, make_image, make_project
from tests.pages import words_of
from tests.people import digest_of
from tests.removing import exclude, withdraw
from tests.results.describing import find as find_image
from tests.results.describing import two_studies, write
from tests.results.pipelines import STEP_3, STEP_4, by_key, go_on, open_study, project_of, sit_through

PAGE = "/projects/vases/people/"


@pytest.fixture
def project(researcher: User) -> Project:
    """Ann answers all four questions of two studies, ben those of the first, and he is excluded."""
    project = project_of(researcher)
    for slug in ("step-3", "again"):
        open_study(project, STEP_3 | {"study": slug, "answers": 2})
    for person, slug in (("ann", "step-3"), ("ben", "step-3"), ("ann", "again")):
        sit_through(Study.objects.get(slug=slug), person, "none")
    exclude(project, "ben")
    return project


def name(person: str) -> str:
    return Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name


@pytest.mark.usefixtures("project")
def test_people_stand_there_once_with_their_studies_and_answers_those_excluded_last(client: Client) -> None:
    lines = client.get(PAGE).context["people"].object_list
    assert [(line.name, line.studies, line.sessions, line.counted, line.answers) for line in lines] == [
        (name("ann"), ["step-3", "again"], 2, 8, 8),
        (name("ben"), ["step-3"], 1, 0, 4),
    ]
    page = words_of(client.get(PAGE))
    assert "0 <small>of 4</small>" in page
    assert f"/studies/vases/step-3/annotators/?who={name('ben')}#people" in page
    assert "Excluded" in page


def test_people_are_compared_and_sorted_over_all_studies(client: Client, researcher: User) -> None:
    """Ann and ben agree on all four questions, cleo with neither of them on any, and dora stops before the first.

    Of the 8 answers of others to her questions, 4 are the same as ann's, and none as cleo's.
    """
    project = project_of(researcher)
    pay = {"per_session": "2.50", "currency": "EUR"}
    study = open_study(project, STEP_3 | {"study": "step-3", "answers": 4, "pay": pay})
    for person, choice in (("ann", "none"), ("ben", "none"), ("cleo", "candidate-1")):
        sit_through(study, person, choice)
    sessions.leave(session=arrive_at_work(study, "dora"), to=SessionState.GIVEN_UP, now=NOON)
    page = client.get(PAGE)
    shares = {line.name: [cell.text for cell in cells[:2]] for line, cells, *_ in page.context["rows"]}
    first, second = sorted([name("ann"), name("ben")])
    assert list(shares) == [name("cleo"), first, second, name("dora")]
    assert (shares[name("cleo")][0], shares[name("ann")][0], shares[name("dora")][0]) == ("0.0", "50.0", "—")
    lines = {line.name: line for line in page.context["people"].object_list}
    assert (lines[name("dora")].sessions, lines[name("dora")].early) == (1, 1)
    assert {who: dict(line.owed) for who, line in lines.items()} == {
        **{name(person): {"EUR": Decimal("2.50")} for person in ("ann", "ben", "cleo")},
        name("dora"): {},
    }
    by_answers = client.get(PAGE, {"order": "answers"}).context["people"].object_list
    assert [line.counted for line in by_answers] == [4, 4, 4, 0]
    # What no page offers is sorted as without it.
    assert client.get(PAGE, {"order": "height"}).context["order"] == ""


@pytest.mark.usefixtures("project")
def test_people_are_found_by_pseudonym(client: Client) -> None:
    client.get(PAGE)
    found = client.get(PAGE, {"who": name("ann")}).context["people"].object_list
    assert [line.name for line in found] == [name("ann")]
    assert "No annotator of this name took part." in words_of(client.get(PAGE, {"who": "A-00000\0"}))


def test_a_project_without_people_says_so(client: Client, researcher: User) -> None:
    project_of(researcher)
    assert "Nobody has taken part yet." in words_of(client.get(PAGE))


def test_others_can_be_asked_with_the_exclusion(client: Client, project: Project) -> None:
    client.get(PAGE)
    address = f"/projects/vases/people/{name('ann')}/exclude/"
    assert "Ask other people these questions again: 8 answers</label>" in words_of(client.get(address))
    done = words_of(client.post(address, {"reason": "Clicked through.", "replace": "yes"}, follow=True))
    assert f"{name('ann')} is excluded. 8 answers no longer count." in done
    assert "Other people are asked for 8 answers." in done
    assert "open session" not in done, "none was open"


ASKED_AGAIN = "Answers requested from other people"


@pytest.fixture
def partly_undone(researcher: User) -> Project:
    """Ann gives the only answers: four in step-3, which accept two, and those to the two questions that follow."""
    project = project_of(researcher)
    first = open_study(project, STEP_3 | {"pay": {"per_session": "2.00", "per_answer": "0.25"}})
    sit_through(first, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="none", vase_3="none"))
    second = STEP_4 | {"pay": {"per_session": "3.00"}}
    sit_through(open_study(project, second), "ann", "original")
    name_annotators(project=project)
    return project


def to_come(project: Project) -> dict[str, int]:
    """Return study -> answers to come, as its overview counts them."""
    return {study.slug: study_progress(study).answers.to_come for study in project.studies.order_by("pk")}


def test_as_many_answers_are_to_come_afterwards_as_the_preview_says(client: Client, partly_undone: Project) -> None:
    """Without her answers nothing is accepted, so her two later questions are undone, and nobody is asked those."""
    address = f"/projects/vases/people/{name('ann')}/exclude/"
    assert to_come(partly_undone) == {"step-3": 0, "step-4": 0}
    # One place for USD 2.00 and four answers for USD 0.25 each.
    offered = "Ask other people these questions again: 4 answers, for USD 3.00 without fees</label>"
    assert offered in words_of(client.get(address))
    # Looking changes nothing.
    assert to_come(partly_undone) == {"step-3": 0, "step-4": 0}
    done = words_of(client.post(address, {"reason": "Clicked through.", "replace": "yes"}, follow=True))
    assert "6 answers no longer count." in done
    assert "2 questions of later studies are undone." in done
    assert "Other people are asked for 4 answers." in done
    assert to_come(partly_undone) == {"step-3": 4, "step-4": 0}


def test_the_preview_shows_what_the_box_adds(client: Client, partly_undone: Project) -> None:
    address = f"/projects/vases/people/{name('ann')}/exclude/"
    alone = words_of(client.get(address))
    assert ASKED_AGAIN not in alone
    assert "<dt>Answers still to come</dt><dd>0 now, 0 afterwards</dd>" in alone
    # By script the box sends its form, and gets what follows alone.
    ticked = {"reason": "Clicked.", "replace": "yes", "preview": "yes"}
    part = words_of(client.post(address, ticked, headers={"HX-Request": "true"}))
    assert "<html" not in part
    assert f"<dt>{ASKED_AGAIN}</dt><dd>4</dd>" in part
    assert "<dt>Their pay, without fees</dt><dd>USD 3.00</dd>" in part
    assert "<dt>Answers still to come</dt><dd>0 now, 4 afterwards</dd>" in part
    assert "<dt>Cost to come, without fees</dt><dd>USD 0.00 now, USD 3.00 afterwards</dd>" in part
    assert ASKED_AGAIN not in words_of(client.post(address, {"preview": "yes"}, headers={"HX-Request": "true"}))
    # Without scripts the whole page comes, with what was typed.
    page = words_of(client.post(address, ticked))
    assert f"<dt>{ASKED_AGAIN}</dt><dd>4</dd>" in page
    assert 'value="Clicked." required' in page
    assert 'hx-target="#follows" checked>' in page
    assert not partly_undone.removals.exists()


def test_a_refused_exclusion_keeps_the_preview(client: Client, partly_undone: Project) -> None:
    refused = client.post(f"/projects/vases/people/{name('ann')}/exclude/", {"reason": " ", "replace": "yes"})
    assert refused.status_code == 409
    page = words_of(refused)
    assert "Say why their answers are not to count" in page
    assert f"<dt>{ASKED_AGAIN}</dt><dd>4</dd>" in page


def test_nobody_is_offered_to_be_asked_in_closed_studies(client: Client, partly_undone: Project) -> None:
    partly_undone.studies.update(state=StudyState.CLOSED, closed_at=NOON)
    page = words_of(client.get(f"/projects/vases/people/{name('ann')}/exclude/"))
    assert 'name="replace"' not in page
    assert "Other people cannot be asked these questions again" in page


def page_of(client: Client, person: str, query: str = "") -> Any:
    client.get(PAGE)
    return client.get(f"{PAGE}{name(person)}/{query}")


def numbers_of(client: Client, person: str) -> list[dict[str, str]]:
    """Return the row of each study on a person's page, by heading."""
    return [
        {
            heading: cell.text
            for table, row in zip(tables, rows, strict=True)
            for heading, cell in zip(table.headings, row, strict=True)
        }
        for tables in [page_of(client, person).context["tables"]]
        for rows in zip(*(table.cells for table in tables), strict=True)
    ]


def keys(page: Any) -> list[str]:
    return [
        f"{each.asked.question.study.slug} {each.asked.question.instance.key}"
        for each in page.context["answers"].object_list
    ]


@pytest.fixture
def three(researcher: User) -> Project:
    """Three answers a question in step-3: ann, ben and cleo tie on vase-0, and cleo differs on vase-1. Ann and ben
    differ in the second study, where nobody else answers. Dora answers one question alone."""
    project = project_of(researcher)
    first = open_study(project, STEP_3 | {"answers": 3})
    sit_through(first, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1"))
    sit_through(first, "ben", by_key(vase_0="candidate-1", vase_1="candidate-1"))
    sit_through(first, "cleo", by_key(vase_0="candidate-2", vase_1="none"))
    again = open_study(project, STEP_3 | {"study": "again", "answers": 2})
    sit_through(again, "ann", by_key(vase_0="candidate-0"))
    sit_through(again, "ben", by_key(vase_0="none"))
    for minute, (slug, key) in enumerate([("step-3", "vase-0"), ("step-3", "vase-1"), ("again", "vase-0")]):
        given = Response.objects.filter(study__slug=slug, question__instance__key=key)
        given.update(received_at=NOON + timedelta(minutes=minute))
    alone = open_study(project, STEP_3 | {"study": "alone", "answers": 2})
    sit_through(alone, "dora", by_key(vase_0="candidate-0"))
    return project


@pytest.mark.usefixtures("three")
def test_the_page_of_a_person_has_the_numbers_of_each_study(client: Client) -> None:
    first, again = numbers_of(client, "ann")
    # Others say the same 0 of 2 times about vase-0 and 1 of 2 times about vase-1: 1 of 4. In the second study 0 of 1,
    # where Wilson's interval ends at z^2 / (1 + z^2) = 3.8415 / 4.8415.
    assert (first["Study"], first["Answers"], first["Shared questions"]) == ("step-3", "2", "2")
    assert (first["Agreement with others (%)"], again["Agreement with others (%)"]) == ("25.0", "0.0")
    assert again["Agreement, 95 % interval (%)"] == "0.0–79.3"
    assert (first["Median seconds"], first["Seconds, middle half"]) == ("4.20", "4.20–4.20")
    (table,) = client.get("/studies/vases/step-3/annotators/").context["tables"]
    shown = {row[0].text: dict(zip(table.headings, [cell.text for cell in row], strict=True)) for row in table.cells}
    same = set(first) - {"Study", "State"}
    assert {heading: shown[name("ann")][heading] for heading in same} == {heading: first[heading] for heading in same}
    (alone,) = numbers_of(client, "dora")
    assert alone["Answers"] == "1"
    # Nobody else answered: the column is left out, and a note says why.
    assert "Agreement with others (%)" not in alone


@pytest.mark.usefixtures("three")
def test_the_numbers_of_a_person_begin_with_the_most_important(client: Client) -> None:
    Session.objects.filter(study__slug="again").update(state=SessionState.GIVEN_UP, ended_at=NOON)
    first, again = numbers_of(client, "ann")
    assert list(first)[:4] == ["Study", "State", "Answers", "Agreement with others (%)"]
    assert list(first)[4:6] == ["Agreement, 95 % interval (%)", "Median seconds"]
    labels = (
        SessionState(Session.objects.get(study__slug="step-3", annotator__id_digest=digest_of("ann")).state).label,
    )
    assert (first["State"], again["State"]) == (*labels, SessionState.GIVEN_UP.label)


def test_the_other_numbers_of_a_person_stand_in_a_second_table() -> None:
    """Each fits beside the rail of a laptop."""
    columns = [Column("Study"), Column("Lean", "coefficient"), Column("Answers", "count"), Column("Kind")]
    table = Table("answers-by-study", "Answers by study", columns, [("a", 1.0, 2, "rating")], ["A note."])
    first, second = _person_tables(table)
    assert (first.headings, second.headings) == (["Study", "Answers", "Kind"], ["Study", "Kind", "Lean"])
    assert (first.notes, second.notes) == (["A note."], [])
    assert (first.name, second.name) == ("answers-by-study", "answers-by-study-more")
    (only,) = _person_tables(replace(table, columns=columns[:1], rows=[("a",)]))
    assert only.headings == ["Study"]


def test_a_column_without_a_number_in_any_row_is_left_out() -> None:
    columns = [Column("Study"), Column("Right", "share"), Column("Lean", "coefficient")]
    rows = [("a", None, 1.0), ("b", Undefined("Unknown."), None)]
    table = _most_important_first(Table("answers-by-study", "Answers by study", columns, rows, []), {})
    assert [column.title for column in table.columns] == ["Study", "Lean"]
    assert table.rows == [("a", 1.0), ("b", None)]


def test_few_answers_alone_put_nobody_first(client: Client, researcher: User) -> None:
    """Dora and cleo agree with nobody: dora on four instances, cleo on one, which gives no interval: it ends at 1."""
    project = project_of(researcher)
    study = open_study(project, STEP_3 | {"answers": 4})
    for person, choice in (("ann", "none"), ("ben", "none"), ("dora", "candidate-0")):
        sit_through(study, person, choice)
    sit_through(study, "cleo", by_key(vase_0="candidate-1"))
    page = client.get(PAGE)
    shares = {line.name: cells[0].text for line, cells, *_ in page.context["rows"]}
    assert next(iter(shares)) == name("dora")
    assert list(shares)[-1] == name("cleo")
    assert shares[name("cleo")] == "0.0"
    assert "Sorted by “Agreement at most”, the upper end of the 95 % interval, lowest first." in words_of(page)
    most = [most for *_, most in page.context["rows"] if most is not None]
    assert most == sorted(most)
    assert ">Agreement at most, %</th>" in page.content.decode()
    assert ">Right at most, %</th>" in client.get(PAGE, {"order": "right"}).content.decode()
    other = words_of(client.get(PAGE, {"order": "answers"}))
    assert "Sorted by “" not in other
    assert "at most, %" not in other


def test_errors_come_first_where_right_answers_are_known(client: Client, researcher: User) -> None:
    """Ann has all questions right, ben and cleo none, so that ann agrees with nobody."""
    project = project_of(researcher)
    for instance in project.instances.all():
        image = make_image(f"n{instance.pk}")
        InstanceImage.objects.create(instance=instance, role="negative_image", filename="n.png", image=image)
    study = open_study(project, {"study": "pairs", "kind": "image_to_text", "answers": 3})

    def wrong(question: Question) -> str:
        options = get_kind(question.kind).options(question.content)
        return next(each.key for each in options if each.key != question.right)

    for person, choice in (("ann", lambda question: question.right), ("ben", wrong), ("cleo", wrong)):
        sit_through(study, person, choice)
    page = client.get(PAGE)
    assert [line.name for line, *_ in page.context["rows"]][-1] == name("ann")
    assert ">Right at most, %</th>" in page.content.decode()
    by_agreement = client.get(PAGE, {"order": "agreement"})
    assert "also those that people may answer differently" in words_of(by_agreement)
    assert next(line.name for line, *_ in by_agreement.context["rows"]) == name("ann")


def test_people_excluded_are_counted_beside_all_people(client: Client, researcher: User) -> None:
    project = project_of(researcher)
    study = open_study(project, STEP_3 | {"answers": 2})
    for person in ("ann", "ben"):
        sit_through(study, person, "none")
    exclude(project, "ann")
    page = words_of(client.get(PAGE))
    assert 'People <span class="muted">2</span>' in page
    assert "1 of them excluded or withdrawn, listed last" in page
    assert "<small>of them 1 excluded or withdrawn</small>" in words_of(client.get("/projects/vases/"))


@pytest.mark.usefixtures("three")
def test_flags_have_a_column_once_somebody_has_one(client: Client) -> None:
    head = '<th scope="col">Flags</th>'
    assert head not in client.get(PAGE).content.decode()
    Session.objects.filter(annotator__id_digest=digest_of("ann")).update(state=SessionState.LEFT_OUT, ended_at=NOON)
    assert head in client.get(PAGE).content.decode()


def test_the_share_of_right_answers_says_of_how_many(client: Client, researcher: User) -> None:
    study = open_study(project_of(researcher), STEP_3 | {"answers": 2})
    study.questions.filter(instance__key__in=["vase-0", "vase-1"]).update(right="candidate-0")
    sit_through(study, "ann", "candidate-0")
    page = client.get(PAGE)
    ((line, cells, *_),) = page.context["rows"]
    assert (line.counted, line.with_right, cells[2].text) == (4, 2, "100.0")
    assert "34.2–100.0,<br>2 questions</small>" in words_of(page)


def test_answers_of_several_parts_are_compared_part_by_part_in_the_table_and_in_the_list(
    client: Client, researcher: User
) -> None:
    """Of two statements about each of four images, ann and ben agree on the first: on 4 of 8 parts, on no answer."""
    ask = {"captions": [], "statements": ["It is old.", "It is new."]}
    study = open_study(project_of(researcher), {"study": "says", "kind": "check", "ask": ask, "answers": 2})
    check(study, "ann", ["true", "true"])
    check(study, "ben", ["true", "false"])
    (row,) = numbers_of(client, "ann")
    assert (row["Agreement with others (%)"], row["Compared with"]) == ("50.0", "8 parts of others")
    page = page_of(client, "ann")
    shown = page.context["answers"].object_list
    assert [(each.same, each.compared, each.others) for each in shown] == [(1, 2, 1)] * 4
    assert words_of(page).count("1 of 2 parts the same in 1 answer of others") == 4


def check(study: Study, person: str, says: list[str]) -> None:
    """Let `person` say the same about both statements of each question of `study`."""
    session = arrive_at_work(study, person)
    for slot in responses.open_slots(session=session, limit=100):
        content = slot.question.content
        said = dict(zip([statement["key"] for statement in content["statements"]], says, strict=True))
        posted = get_kind("check").form_data(
            content, responses.order_for(session=session, question=slot.question), said
        )
        sent = Submission(slot=slot.pk, submission=uuid4(), posted=posted)
        responses.submit(token=session.token, sent=sent, now=NOON)


@pytest.mark.usefixtures("three")
def test_answers_stand_as_they_were_shown_the_newest_first(client: Client) -> None:
    page = page_of(client, "ann")
    assert keys(page) == ["again vase-0", "step-3 vase-1", "step-3 vase-0"]
    shown = page.context["answers"].object_list[1]
    response = Response.objects.get(question=shown.asked.question, annotator__id_digest=digest_of("ann"))
    assert [option.key for option in shown.asked.options] == response.shown_order
    assert [option.letter for option in shown.asked.options] == ["A", "B", "C", "D", ""]
    assert [option.key for option in shown.asked.options if option.is_own] == ["candidate-1"]
    assert {option.key: list(option.chosen_by) for option in shown.asked.options if option.chosen_by} == {
        "candidate-1": [name("ben")],
        "none": [name("cleo")],
    }
    assert (shown.seconds, shown.same, shown.others, shown.given.status) == (4.2, 1, 2, "counted")


@pytest.mark.usefixtures("three")
def test_answers_are_filtered_by_study_and_by_whether_others_differ(client: Client) -> None:
    assert keys(page_of(client, "ann", "?study=again")) == ["again vase-0"]
    assert keys(page_of(client, "ann", "?answers=differ")) == ["again vase-0", "step-3 vase-1", "step-3 vase-0"]
    assert keys(page_of(client, "dora", "?answers=differ")) == []
    # A study in which the person was not, and what is no filter, are ignored.
    assert len(keys(page_of(client, "dora", "?study=step-3&answers=%00&page=x"))) == 1
    exclude(Project.objects.get(), "ben")
    assert keys(page_of(client, "ann", "?answers=differ")) == ["step-3 vase-1", "step-3 vase-0"]


def test_answers_of_somebody_excluded_are_shown_and_do_not_count(client: Client, project: Project) -> None:
    page = page_of(client, "ben")
    assert [each.given.status for each in page.context["answers"].object_list] == ["excluded, not counted"] * 4
    assert [each.others for each in page.context["answers"].object_list] == [1] * 4
    assert page.context["tables"] == []
    assert "clicked through" in words_of(page)
    # Nobody is left to agree with.
    assert not any("Agreement with others (%)" in row for row in numbers_of(client, "ann"))


def test_a_withdrawn_persons_page_shows_their_sessions_and_no_answers(client: Client, project: Project) -> None:
    Session.objects.filter(annotator__id_digest=digest_of("ann")).update(comment="I liked the vases.")
    withdraw(project, "ann")
    page = page_of(client, "ann")
    assert "withdrew on" in words_of(page)
    assert list(page.context["answers"].object_list) == page.context["tables"] == []
    assert len(page.context["sessions"]) == 2
    for hidden in ("I liked the vases.", "candidate-", "/images/"):
        assert hidden not in page.content.decode()


@pytest.mark.usefixtures("describing")
def test_texts_are_shown_until_their_author_withdraws(client: Client, researcher: User) -> None:
    tell, search = two_studies("static-a")
    Membership.objects.create(project=tell.project, user=researcher)
    write(tell, "ann", {"static-a one": "A heron, ثم بطة."})
    find_image(search, "ben", {"A heron, ثم بطة.": 1})
    client.get("/projects/sets/people/")
    ann, ben = (f"/projects/sets/people/{name(person)}/" for person in ("ann", "ben"))
    (written,) = client.get(ann).context["answers"].object_list
    assert (written.given.said, written.compared, written.others) == ("A heron, ثم بطة.", 0, 0)
    assert "A heron, ثم بطة." in words_of(client.get(ben))
    withdraw(tell.project, "ann")
    assert "A heron" not in words_of(client.get(ann)) + words_of(client.get(ben))
    assert len(keys(client.get(ben))) == 1


def test_a_forgotten_person_and_one_of_another_project_have_no_page(client: Client, project: Project) -> None:
    client.get(PAGE)
    gone = name("ann")
    forget(annotator=Annotator.objects.get(id_digest=digest_of("ann")), project=project, by="tests", now=NOON)
    other = Pseudonym.objects.create(
        project=make_project("other"), annotator=Annotator.objects.get(id_digest=digest_of("ben")), name="A-34679"
    )
    for unknown in (gone, other.name):
        page = client.get(f"{PAGE}{unknown}/")
        assert page.status_code == 404
        assert "their page is gone too" in words_of(page)


def test_somebody_who_only_skipped_and_practised_has_a_page_without_answers(client: Client, project: Project) -> None:
    study = Study.objects.get(slug="again")
    session, asked = arrive_at_work(study, "eve"), study.questions.earliest("pk")
    about = {"session": session, "annotator": session.annotator}
    Skip.objects.create(study=study, question=asked, at=NOON, images=[], file_missing=False, **about)
    practised = {"kind": asked.kind, "content": asked.content, "right": "none"}
    question = PracticeQuestion.objects.create(study=study, position=0, **practised)
    PracticeAnswer.objects.create(practice_question=question, choice="none", is_right=True, at=NOON, **about)
    page = page_of(client, "eve")
    assert (page.status_code, page.context["tables"], keys(page)) == (200, [], [])
    assert [(each.skips, each.amount_owed) for each in page.context["sessions"]] == [(1, 0)]
    assert "No answers yet." in words_of(page)


def test_what_may_be_done_leads_from_the_page(client: Client, project: Project) -> None:
    arrive_at_work(Study.objects.get(slug="again"), "eve")
    session = Session.objects.get(annotator__id_digest=digest_of("eve"))
    actions = [f"/people/{{}}/{act}/" for act in ("exclude", "withdraw")] + [f"/sessions/{session.pk}/free/"]
    page = page_of(client, "eve").content.decode()
    assert all(act.format(name("eve")) in page for act in actions)
    Membership.objects.update(role="viewer")
    page = page_of(client, "eve").content.decode()
    assert not any(act.format(name("eve")) in page for act in actions)


def test_unlikely_times_are_told_with_their_numbers(client: Client, project: Project) -> None:
    times = TimeEvidence(4, 4, claimed=2, possible=2, least=8, is_too_quick=True, claims_too_much=False)
    sessions = Session.objects.filter(annotator__id_digest=digest_of("ann"), study__slug="again")
    sessions.update(time_evidence=asdict(times))
    assert "4 of 4 answers were too fast" in words_of(page_of(client, "ann"))


def test_flags_stand_in_words_until_they_are_dismissed(client: Client, project: Project) -> None:
    session = Session.objects.get(annotator__id_digest=digest_of("ann"), study__slug="again")
    evidence: dict[str, dict[str, Any]] = {
        "too_fast": {"quick": 4, "answers": 4, "p": 0.0005, "seconds": 2.0, "least_seconds": 8.0},
        "place_habit": {"place": 1, "chosen": 12, "answers": 12, "expected": 3.0, "effect": 1.73, "p": 0.0001},
        "hidden_tab": {"hidden": 5, "measured": 6},
    }
    for rule, found in evidence.items():
        SessionFlag.objects.create(session=session, rule=rule, evidence=found, found_at=NOON)
    SessionFlag.objects.filter(rule="hidden_tab").update(cleared_at=NOON)
    titles = ["Position bias", "Too fast"]
    assert page_of(client, "ann").context["line"].flags == titles
    assert [row["Flags"] for row in numbers_of(client, "ann")] == ["", ", ".join(titles)]
    lines = client.get(PAGE).context["people"].object_list
    assert sorted(list(line.flags) for line in lines) == [[], titles]
    SessionFlag.objects.update(verdict="dismissed", reviewed_at=NOON)
    assert page_of(client, "ann").context["line"].flags == ()


def test_more_answers_take_no_more_queries(client: Client, researcher: User) -> None:
    study = open_study(project_of(researcher, instances=30), STEP_3 | {"answers": 2})
    session = sit_through(study, "ann", by_key(vase_0="none"))
    page_of(client, "ann")
    with CaptureQueriesContext(connection) as few:
        assert len(keys(client.get(f"{PAGE}{name('ann')}/"))) == 1
    go_on(session, "none")
    sit_through(study, "ben", "candidate-0")
    page_of(client, "ann")
    with CaptureQueriesContext(connection) as many:
        page = client.get(f"{PAGE}{name('ann')}/?page=2")
    assert len(keys(page)) == 10
    assert len(many) == len(few)


def test_the_page_of_a_person_names_kinds_by_their_titles() -> None:
    table = Table("people", "People", [Column("Study"), Column("Kind")], [("a", "best_of_n"), ("b", "rating")])
    assert _with_kind_titles(table).rows == [
        ("a", "Pick the best image for a caption, or none"),
        ("b", "Rate on a scale how well an image fits"),
    ]
