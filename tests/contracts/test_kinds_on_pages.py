"""What holds for every kind of question on the pages: a study of it goes from its file to its release.

Two people answer as a browser without JavaScript does. Whatever the kind, no page fails, and none that an annotator
gets betrays which option is which, what is right, what a file is called or who somebody is.
"""

import random
import re
from collections import Counter
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from annotation import models
from annotation.actions.answering.practice import order_for
from annotation.models import Decision, Response, Session, Skip
from results.actions.exports import write_export
from results.actions.pseudonyms import name_annotators
from results.errors import CannotExport
from results.exporting import FORMATS
from results.models import Pseudonym
from results.queries.exports.empty_formats import empty_formats
from results.queries.reports.report_rows import project_facts
from results.reports.build import report_of
from results.reports.formats import FORMATS as REPORT_FORMATS
from results.reports.formats import get_files
from studies.design import DesignRefused
from studies.kinds import get_kind
from studies.models import CompletionCode, Image, PracticeQuestion, Question, Study
from tests.contracts.stage import (
    NAMES,
    PEOPLE,
    SECRET,
    Annotator,
    Seen,
    answered,
    draft,
    given,
    keys_of_shuffled,
    launched,
    practice_of,
    researcher_pages,
    secret_ask,
)
from tests.factories import make_person
from tests.pages import signed_in
from tests.people import digest_of
from tests.workspace.api.asking import API, script_of

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once(
        on="postgresql",
        because="tests of their own try these pages, exports and releases on SQLite, with the kinds that are shipped",
    ),
]
every_kind = pytest.mark.parametrize("name", NAMES)


@pytest.fixture
def member() -> Client:
    return signed_in(make_person("researcher"))


def text_of(page: Any) -> str:
    """Return what stands between the tags of a page."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page.content.decode())))


def assert_fine(client: Client, address: str) -> None:
    page = client.get(address, follow=True)
    assert page.status_code == 200, address
    said = text_of(page)
    for odd in ("None or Both", " nan", "NaN", "{{", "{%"):
        assert odd not in said, (address, odd)


@every_kind
def test_a_draft_is_previewed_step_by_step(name: str, member: Client) -> None:
    study = draft(name)
    address, seen = f"/studies/shelves/{study.slug}/preview/", 0
    page = member.get(address)
    while "form" in page.content.decode() and seen < 20:
        html = BeautifulSoup(page.content, "html.parser")
        form = html.select_one("[data-stage] form[data-question], main form")
        if form is None:
            break
        page = member.post(str(form["action"]), {"agree": "yes"}, follow=True)
        assert page.status_code == 200
        seen += 1
    assert "step=end" in page.redirect_chain[-1][0]
    # Consent, instructions, and a question about each of the first instances.
    assert seen >= 2 + 3


def assert_stored_as_it_was_said(study: Study) -> None:
    asked = Question.objects.filter(study=study)
    assert len(given(study)) == 2 * asked.count() > 0
    for response in given(study):
        kind, content = get_kind(response.question.kind), response.question.content
        assert response.choice == "" or response.choice in kind.categories(content)
        assert (response.choice != "") == kind.has_one_label
        keys = [picture.key for picture in kind.question_content(content).pictures if picture.key]
        assert sorted(response.shown_order) == sorted([*keys, *(option.key for option in kind.options(content))])
    assert set(Session.objects.values_list("state", flat=True)) == {"finished"}
    first = asked.order_by("pk")[0]
    assert Decision.objects.get(question=first).answers == 2


def assert_nothing_is_betrayed(study: Study, seen: list[Seen]) -> None:
    questions = list(Question.objects.filter(study=study))
    pages = [page for page in seen if page.address.startswith("/s/")]
    working = [page for page in pages if "data-question" in page.source]
    assert len(working) >= 2
    codes = list(CompletionCode.objects.filter(study=study).values_list("code", flat=True))
    pictures = list(Image.objects.values_list("sha256", flat=True))
    for page in working:
        shown = page.html.select("form[data-question]")
        source = page.source.lower()
        for secret in (SECRET, *PEOPLE, *codes, study.order_secret, study.seed, *pictures, "gold", "reference"):
            assert secret.lower() not in source, secret
        values = {str(value) for form in shown for tag in form.find_all(True) for value in _values(tag)}
        for question in questions:
            assert not values & set(keys_of_shuffled(question))
            fixed = {o.key for o in get_kind(question.kind).options(question.content) if not o.shuffled}
            assert question.right in fixed | {""} or question.right not in values
        for form in shown:
            # Keys answer one group after another.
            for group in form.select("[data-group]") or [form]:
                digits = [str(tag["data-digit"]) for tag in group.select("[data-digit]") if tag["data-digit"]]
                assert len(set(digits)) == len(digits)
            fields = form.select("input:not([type=hidden])[name], textarea[name], select[name]")
            assert fields, "without JavaScript there must be something to answer with"
            assert form.select("button")


@every_kind
def test_what_is_no_answer_is_refused_an_answer_changed_and_a_question_without_its_images_left_out(name: str) -> None:
    person = Annotator(PEOPLE[0])
    person.arrive(launched(name))
    slot = person.slot
    for wrong in ({}, {"choice": ""}, {"choice": SECRET}, {"choice": "99"}):
        assert person.answer(wrong) == 422
        assert person.slot == slot
        error = person.page.select_one("[data-stage] [data-error]")
        assert error is not None
        assert error.get_text(strip=True).endswith(".")
    assert not Response.objects.exists()
    said = person.posts()
    assert person.answer(said) == 200
    assert person.change() == 200
    assert form_holds(person) == said
    assert person.answer(person.posts()) == 200
    assert Response.objects.filter(is_current=True).count() == 1
    assert Response.objects.get(is_current=True).version == 2
    question = person.slot.question
    kind = get_kind(question.kind)
    pictured = kind.question_content(question.content).pictures or any(
        option.picture for option in kind.options(question.content)
    )
    assert person.skip() == (200 if pictured else 422)
    assert Skip.objects.count() == bool(pictured)


@every_kind
def test_practice_tells_what_was_right_or_is_refused_when_the_study_is_made(name: str) -> None:
    kind = get_kind(name)
    ask = secret_ask(kind)
    practice = practice_of(kind, ask)
    if not kind.has_one_label:
        with pytest.raises(DesignRefused, match="Leave `practice` out"):
            draft(name, practice=practice)
        return
    person = Annotator(PEOPLE[0])
    person.arrive(launched(name, practice=practice))
    question, session = PracticeQuestion.objects.get(), person.session
    order = order_for(session=session, question=question)
    posts = kind.simulate(question.content, order, dice=random.Random(1), label=practice["questions"][0]["right"])
    assert person.answer(posts) == 200
    assert "Look again." in person.page.get_text()
    assert SECRET not in person.seen[-1].source
    assert Session.objects.get().state == "working"


def form_holds(person: Annotator) -> dict[str, str]:
    """Return what the form of the question would post of its answer as it comes."""
    assert person.question is not None
    chosen = person.question.select("input[type=radio][checked], input[type=checkbox][checked]")
    typed = person.question.select("textarea[name]")
    held = {str(tag["name"]): str(tag["value"]) for tag in chosen}
    return held | {str(tag["name"]): tag.get_text() for tag in typed}


def assert_the_page_offers_what_is_shown_and_posted(person: Annotator, posts: Mapping[str, str]) -> None:
    assert person.question is not None
    for field, value in posts.items():
        inputs = person.question.select(f'[name="{field}"]')
        assert inputs, field
        radios = [tag["value"] for tag in inputs if tag.get("type") in ("radio", "checkbox")]
        assert not radios or value in radios
    question = person.slot.question
    kind = get_kind(question.kind)
    shown, options = kind.question_content(question.content), kind.options(question.content)
    said = re.sub(r"\s+", " ", person.question.get_text(" "))
    assert all(text.text in said for text in shown.texts)
    images = {str(tag["src"]) for tag in person.question.select("img")}
    pictures = [*shown.pictures, *(option.picture for option in options if option.picture)]
    assert len(images) == len({picture.sha256 for picture in pictures})


def _values(tag: Any) -> list[str]:
    return [str(value) for attribute, value in tag.attrs.items() if attribute not in ("class", "type")]


@every_kind
def test_two_people_answer_on_pages_that_betray_nothing_and_whatever_shows_or_holds_what_they_said_is_fine(
    name: str, member: Client, tmp_path: Path
) -> None:
    """Every page, report and export of it, before and after; and it is released without somebody."""
    study = launched(name)
    pages = researcher_pages(study)
    for address in pages:
        assert_fine(member, address)
    people = answered(study, look=assert_the_page_offers_what_is_shown_and_posted)
    assert_stored_as_it_was_said(study)
    assert_nothing_is_betrayed(study, [page for person in people for page in person.seen])
    settle_everything(study, member)
    for address in pages:
        assert_fine(member, address)
    assert_the_api_tells_it(study)
    report = report_of(project_facts(study.project))
    for format in REPORT_FORMATS:
        assert b"things" in next(iter(get_files(format)(report, None).values()))
    name_annotators(project=study.project)
    empty = empty_formats([study])
    for format in FORMATS:
        if format in empty:
            with pytest.raises(CannotExport, match="this format would be empty"):
                write_export(study=study, format=format, folder=tmp_path / format, report=lambda done, total: None)
            continue
        write_export(study=study, format=format, folder=tmp_path / format, report=lambda done, total: None)
        assert_nobody_is_named(tmp_path / format)
    assert_somebody_in_a_release_is_forgotten(study, tmp_path / "released")


def assert_the_api_tells_it(study: Study) -> None:
    script = script_of(User.objects.get(username="researcher"))
    for name in ("", "progress/", "responses/", "decisions/", "sessions/"):
        told = script.get(f"{API}projects/shelves/studies/{study.slug}/{name}")
        assert told.status_code == 200, name
        assert b"NaN" not in told.content


def settle_everything(study: Study, member: Client) -> None:
    """Settle every question that can be settled; elsewhere a sentence says why not."""
    for decision in Decision.objects.filter(study=study).select_related("question"):
        kind = get_kind(decision.question.kind)
        options = [option.key for option in kind.options(decision.question.content)] if kind.has_one_label else []
        address = f"/studies/shelves/{study.slug}/disagreements/{decision.question.pk}/settle/"
        page = member.post(address, {"choice": options[0] if options else "anything"}, follow=True)
        open_before = decision.state == Decision.State.UNDECIDED and options
        assert page.status_code == (200 if open_before else 409), name_of(decision)
        if not open_before:
            assert re.search(r'role="alert"[^>]*>[^<]+\.</p>', page.content.decode())


def name_of(decision: Decision) -> str:
    return f"{decision.question.kind}, {decision.state}"


def assert_nobody_is_named(folder: Path) -> None:
    people = [*PEOPLE, *(f"sitting-of-{person}" for person in PEOPLE), *Session.objects.values_list("token", flat=True)]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        content = path.read_bytes()
        assert not [person for person in people if person.encode() in content], path


def assert_somebody_in_a_release_is_forgotten(study: Study, folder: Path) -> None:
    accepts = study.accepts
    if accepts:
        call_command("release", "shelves", study=study.slug, name="v1", format="jsonl", out=folder, verbosity=0)
        assert_nobody_is_named(folder / f"{study.slug}-v1")
    else:
        call_command("export", "shelves", format="responses", out=folder, verbosity=0)
    before = {d.question_id: Counter(d.votes) for d in Decision.objects.filter(study=study)}
    ben = models.Annotator.objects.get(id_digest=digest_of(PEOPLE[1]))
    said = Counter((r.question_id, r.choice) for r in given(study) if r.annotator_id == ben.pk and r.choice)
    pseudonym = Pseudonym.objects.get(annotator=ben).name
    call_command("forget", "shelves", pseudonym, "--yes", verbosity=0)
    assert not Response.objects.filter(annotator=ben).exists()
    for decision in Decision.objects.filter(study=study):
        of_ben = Counter({label: n for (question, label), n in said.items() if question == decision.question_id})
        assert Counter(decision.votes) == before[decision.question_id] - of_ben
        assert decision.answers == 1
    if accepts:
        call_command("release", "shelves", study=study.slug, name="v1", format="jsonl", out=folder / "n", verbosity=0)


def test_what_was_said_so_far_is_kept_when_an_answer_is_refused() -> None:
    person = Annotator(PEOPLE[0])
    person.arrive(launched("checklist"))
    assert person.answer({"statement-1": "false"}) == 422
    assert form_holds(person) == {"statement-1": "false"}
