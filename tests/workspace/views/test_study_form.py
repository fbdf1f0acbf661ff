"""A draft is changed in a form: what was not touched stays as it was written, and what is wrong stands beside its
field."""

import html
import re

import pytest
from django.test import Client

from studies.models import Study
from tests.factories import create_draft

pytestmark = pytest.mark.django_db

ADDRESS = "/studies/vases/best-vase/form/"
FILE = """\
# Two answers each, as in the pilot.
study: best-vase
title: Which vase?   # short
kind: best_of_n
answers: 2
instructions: |
  # Look

  **Well**, <script>alert(1)</script>
"""


@pytest.fixture
def study() -> Study:
    study = create_draft(instances=1)
    study.source = FILE
    study.save()
    return study


def save(
    editor: Client, address: str = ADDRESS, *, source: str = FILE, do: str = "save", **typed: str
) -> tuple[int, str]:
    answer = editor.post(address, {"source": source, "do": do, **typed})
    return answer.status_code, answer.content.decode()


def test_only_what_was_changed_is_written(editor: Client) -> None:
    assert save(editor, title="Which vase?", answers="3")[0] == 302
    study = Study.objects.get()
    assert study.source == FILE.replace("answers: 2", "answers: 3")
    assert (study.title, study.design.answers) == ("Which vase?", 3)


def test_a_mistake_stands_beside_its_field(editor: Client) -> None:
    status, shown = save(editor, answers="many")
    assert status == 409
    assert '<a href="#answers">“Answers per question” must be a whole number' in shown
    field = shown[shown.index('<input id="answers"') :]
    assert 'value="many"' in field[:200]
    assert 'aria-invalid="true"' in field[:200]
    assert 'aria-describedby="problem-answers about-answers"' in field[:300]
    assert '<div id="problem-answers"><p class="problem">“Answers per question” must be a whole number' in field[:700]
    assert Study.objects.get().source == FILE


def test_a_mistake_in_advanced_is_said_with_its_section_and_opens_it(editor: Client) -> None:
    status, shown = save(editor, **{"time.more_minutes": "soon"})
    assert status == 409
    assert '<a href="#time.more_minutes">“Time: More minutes” must be a whole number' in shown
    assert '<details class="advanced" open>' in shown


def test_what_is_missing_is_said_by_its_label(editor: Client) -> None:
    source = FILE.replace("title: Which vase?   # short\n", "")
    assert '<a href="#title">Fill in “Title”.</a>' in save(editor, source=source)[1]


def test_a_pay_that_was_not_understood_is_not_said_to_be_none(editor: Client) -> None:
    said = "“Pay per survey” is &#x27;eight or so&#x27;."
    for status, shown in (
        save(editor, **{"pay.per_session": "eight or so"}),
        save(editor, "/projects/vases/new-study/foresee/", **{"pay.per_session": "eight or so"}),
    ):
        assert status in (200, 409)
        assert said in shown.partition('id="foreseen"')[2].partition("</ul>")[0]
        assert "pays nothing" not in shown


def test_an_amount_that_could_be_two_is_said_with_both(editor: Client) -> None:
    for typed, said in (
        ("1,234", "“Pay per survey” is &#x27;1,234&#x27;. It could be 1.23 or 1,234.00. Write 1.23 or 1234.00."),
        ("8€", "&#x27;8€&#x27;. The currency of this study is USD; write the amount without a sign"),
    ):
        assert said in save(editor, **{"pay.per_session": typed, "pay.currency": "USD"})[1]


def test_a_study_file_keeps_the_names_of_its_entries(editor: Client) -> None:
    refused = editor.post("/studies/vases/best-vase/file/", {"source": FILE.replace("answers: 2", "answers: many")})
    assert "Line 5: <code>answers</code> must be a whole number" in refused.content.decode()


def test_a_launch_without_a_contact_leads_to_its_field(editor: Client) -> None:
    assert save(editor, contact="")[0] == 302
    shown = editor.get("/studies/vases/best-vase/launch/").content.decode()
    assert "Fill in “Contact”, such as" in shown
    assert f'<a href="{ADDRESS}#contact">Go to the field</a>' in shown


def test_it_can_be_looked_at_and_taken_along_as_a_file_without_saving(editor: Client) -> None:
    status, shown = save(editor, do="file", answers="3")
    assert (status, "answers: 3" in shown) == (200, True)
    status, shown = save(editor, do="look", answers="3")
    assert status == 200
    assert re.search(r'<input id="answers"[^>]*value="3"', shown)
    assert Study.objects.get().source == FILE


def test_what_somebody_else_changed_meanwhile_is_not_lost(editor: Client) -> None:
    assert save(editor, edited_from="another", answers="3")[0] == 409
    assert Study.objects.get().source == FILE


def test_a_draft_is_made_from_an_empty_form(editor: Client) -> None:
    address = "/projects/vases/new-study/form/"
    source = editor.get(address, follow=True).context["typed"]
    assert save(editor, address, source=source, study="second", title="Second", answers="2", contact="Ada")[0] == 302
    made = Study.objects.get(slug="second")
    assert made.source == "study: second\ntitle: Second\nkind: best_of_n\n" + (
        "contact: Ada\ntime:\n  estimated_minutes: 3\nanswers: 2\n"
    )


def test_a_part_comes_by_a_button_and_nothing_is_saved_yet(editor: Client) -> None:
    status, shown = save(editor, do="add:parts", kind="rating", answers="3")
    assert status == 200
    assert re.search(r'<select id="parts.1.kind" name="parts.1.kind" autofocus', shown)
    assert "parts:\n- kind: rating\n" in shown
    ticks = re.findall(r'out"> (Leave this one out.*?)</label>', shown)
    assert [re.sub("<.*?>", "", tick) for tick in ticks if "of part" in tick] == [
        f"Leave this one out Questions of part {part}" for part in (1, 2)
    ]
    assert Study.objects.get().source == FILE


def test_comments_that_would_go_are_told_before_anything_is_saved(editor: Client) -> None:
    source = FILE + "contact: Ada  # until May\n"
    status, shown = save(editor, source=source, contact="")
    assert (status, "<code># until May</code>" in shown) == (200, True)
    assert Study.objects.get().source == FILE
    assert (
        save(editor, source=html.unescape(re.findall(r'name="source" hidden>\n(.*?)</textarea>', shown, re.S)[0]))[0]
        == 302
    )
    assert Study.objects.get().source == FILE


def test_a_text_that_is_no_study_file_is_mended_as_text(editor: Client) -> None:
    status, shown = save(editor, source="study: [")
    assert status == 409
    assert "A bracket or brace is not closed" in shown


def test_markdown_is_shown_as_annotators_read_it_and_runs_nothing(editor: Client) -> None:
    shown = editor.get(ADDRESS).content.decode()
    assert "<strong>Well</strong>, &lt;script&gt;" in shown
    sent = editor.post("/projects/vases/markdown/?field=consent", {"consent": "*Yes* <b>no</b>"}).content.decode()
    assert "<em>Yes</em> &lt;b&gt;no&lt;/b&gt;" in sent


def test_the_design_of_a_study_can_be_read(editor: Client) -> None:
    shown = editor.get("/studies/vases/best-vase/design/").content.decode()
    assert "A survey takes about 30 minutes." in shown
