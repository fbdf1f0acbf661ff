"""The numbers that come out for kinds unlike those that are shipped: right, or absent with a reason. Counted by hand.

Two people, Ann and Ben, answer three questions each.
"""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import pytest

from results.actions.kept_numbers import annotators_findings
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.annotators import persons_answers
from results.queries.answers import answer_details, answer_times, facts_alone
from results.queries.disagreements import DISAGREE, questions_shown
from results.queries.histories import histories
from results.queries.progress import Rate, study_progress
from results.reports.base import Range, Report, Table, Undefined
from results.reports.of_study import report_of_study
from studies.models import Study
from tests.contracts.stage import PEOPLE, answered, launched
from tests.factories import make_person
from tests.pages import signed_in

pytestmark = pytest.mark.django_db


def said(study: Study, *of_ann_and_ben: Sequence[str]) -> Report:
    """Let both say what stands there, one label per question, and return the report of their study."""
    by_person = dict(zip(PEOPLE, of_ann_and_ben, strict=True))
    answered(study, say=lambda person, number: by_person[person][number - 1])
    alone = facts_alone(study)
    return report_of_study(alone, answer_details(study, alone.studies[0].answerable), answer_times(study))


def rows(table: Table) -> list[dict[str, Any]]:
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def names(report: Report) -> set[str]:
    return {table.name for table in report.tables}


def of_annotators(study: Study) -> Mapping[str, dict[str, Any]]:
    """Return the row of each annotator, by the id they came with."""
    (finding,) = annotators_findings(study)
    titles = [column.title for column in finding.text.table.columns]
    ids = dict(Pseudonym.objects.values_list("name", "annotator__provider_id"))
    found = [dict(zip(titles, row, strict=True)) for row in finding.text.table.rows]
    return {ids[str(row["Annotator"])]: row for row in found}


def test_an_ordinal_scale_has_ordinal_coefficients_and_no_option_that_is_always_there() -> None:
    study = launched("how_often")
    report = said(study, ["never", "always", "seldom"], ["never", "never", "seldom"])
    reliability = rows(report.table("reliability"))
    assert {row["Measure"] for row in reliability} == {"Percent agreement", "Krippendorff's alpha (ordinal)"}
    assert {row["Labels"] for row in reliability} == {"scale never to always"}
    pair = rows(report.table("pairs"))[0]
    assert pair["Labels"] == "scale never to always, quadratic weights"
    # Squared distances that were seen: 0, 9, 0, mean 3. Of all nine pairs of a step of Ann's (1, 4, 2) and one of Ben's
    # (1, 1, 2): 0 0 1, 9 9 4, 1 1 0, mean 25/9. Kappa is 1 - 3 / (25/9).
    assert pair["Cohen's kappa"] == pytest.approx(1 - 27 / 25)
    assert "rates" not in names(report)
    assert "places" not in names(report)
    assert study_progress(study).rates == []
    steps = {row["Step"]: row["Times"] for row in rows(report.table("ratings")) if row["Subtype"] == "all"}
    assert steps == {"all": 6, "never": 3, "seldom": 2, "now and then": 0, "always": 1}
    ann = of_annotators(study)[PEOPLE[0]]
    assert ann["Mean rating"] == pytest.approx(7 / 3)
    # One step more than Ben on average: 3 on one question of three.
    assert ann["Lean"] == pytest.approx(1)
    assert not {"Always offered", "p (places)", "Right"} & set(ann)


def test_options_that_are_all_always_there_are_counted_and_held_against_nobody() -> None:
    study = launched("same_or_not")
    report = said(study, ["same", "same", "other"], ["same", "other", "other"])
    everything = {row["Answer"]: row for row in rows(report.table("rates")) if row["Subtype"] == "all"}
    assert {answer: (row["Times"], row["Answers"]) for answer, row in everything.items()} == {
        "same": (3, 6),
        "other": (3, 6),
    }
    assert study_progress(study).rates == [Rate("Both", 3, 6), Rate("They differ", 3, 6)]
    ann = of_annotators(study)[PEOPLE[0]]
    assert [title for title in ann if " or " in title] == []
    assert ann["Same as others"] == pytest.approx(2 / 3)
    assert "places" not in names(report)


def test_agreement_by_chance_is_not_told_where_the_questions_offer_different_options() -> None:
    study = launched("own_words")
    words = ["key-of-A", "key-of-thing", "key-of-on"]
    report = said(study, words, ["key-of-A", "key-of-A", "key-of-on"])
    measured = {row["Measure"]: row["Value"] for row in rows(report.table("reliability"))}
    assert measured.pop("Percent agreement") == pytest.approx(2 / 3)
    assert len(measured) >= 3
    assert all(isinstance(value, Undefined) and "different options" in value.reason for value in measured.values())
    pair = rows(report.table("pairs"))[0]
    assert pair["Agreed"] == pytest.approx(2 / 3)
    for column in ("Cohen's kappa", "95 % interval", "Gwet's AC1"):
        assert isinstance(pair[column], Undefined), column


def test_what_could_be_said_is_what_any_question_offers(django_user_model: Any) -> None:
    study = launched("own_words")
    facts = facts_alone(study).studies[0]
    offered = {
        option["key"] for content in study.questions.values_list("content", flat=True) for option in content["options"]
    }
    assert set(facts.answerable["own_words"].options) == offered
    assert len(offered) > len(study.questions.order_by("pk")[0].content["options"])


def test_labels_of_a_checklist_are_compared_statement_by_statement_and_counted_as_answers() -> None:
    study = launched("checklist")
    # Everybody says the same of both statements of a question.
    report = said(study, ["true", "true", "false"], ["true", "false", "false"])
    reliability = [row for row in rows(report.table("reliability")) if row["Filtering"] == "before"]
    assert {(row["Questions"], row["Answers"], row["People"]) for row in reliability} == {(3, 6, 2)}
    together = [row for row in reliability if row["Labels"] == "options"]
    by_measure = {row["Measure"]: row for row in together}
    assert by_measure["Percent agreement"]["Value"] == pytest.approx(2 / 3)
    # Of four statements that one person calls true the other does two; and the same of false.
    assert by_measure["Agreement on 'true'"]["Value"] == pytest.approx(4 / 6)
    assert not any(isinstance(row["95 % interval over questions"], Range) for row in together)
    assert "not independent" in by_measure["Percent agreement"]["Remark"]
    # The labels of one statement are one of each question, so that they have intervals.
    of_dog = {row["Measure"]: row for row in reliability if row["Labels"] == "There is a dog.: options"}
    assert of_dog["Percent agreement"]["Value"] == pytest.approx(2 / 3)
    assert isinstance(of_dog["Percent agreement"]["95 % interval over questions"], Range)
    # Ann says true of it twice and Ben once; no label stands for itself in the table of the options always offered.
    times = {(row["What was asked"], row["Answer"]): row["Times"] for row in rows(report.table("units"))}
    assert times == {
        (about, label): 3 for about in ("There is a dog.", "It is raining.") for label in ("true", "false")
    }
    assert "rates" not in names(report)
    pair = rows(report.table("pairs"))[0]
    assert pair["Questions"] == 3
    # Ann says true of 4 of 6, Ben of 2 of 6: chance agrees on (4 x 2 + 2 x 4) / 36 = 4/9, and they do on 2/3.
    assert pair["Cohen's kappa"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert isinstance(pair["95 % interval"], Undefined)
    assert study_progress(study).rates == []
    ann = of_annotators(study)[PEOPLE[0]]
    assert (ann["Answers"], ann["Shared questions"]) == (3, 3)
    assert ann["Same as others"] == pytest.approx(2 / 3)
    assert questions_shown(study, DISAGREE).count() == 1
    (question,) = histories(questions_shown(study, DISAGREE), project=study.project)
    # In the order in which it was asked, whatever the database does with it.
    assert [answer.said for answer in question.answers] == [
        "There is a dog.: true; It is raining.: true",
        "There is a dog.: false; It is raining.: false",
    ]


def test_images_that_were_preferred_have_scores_and_stand_beside_what_was_said() -> None:
    study = launched("compare")
    first, second, same = "zqxjkv_image", "zqxjkv_negative_image", "no difference"
    report = said(study, [first, first, second], [first, second, same])
    by_image = {row["Image"]: row for row in rows(report.table("preferences"))}
    counted = {image: (row["Comparisons"], row["Preferred"], row["No difference"]) for image, row in by_image.items()}
    assert counted == {"all": (6, 5, 1), first: (6, 3, 1), second: (6, 2, 1)}
    # Odds of 3 to 2, around the mean of 0.
    assert by_image[first]["Score"] == pytest.approx(log(3 / 2) / 2)
    assert by_image[second]["Score"] == pytest.approx(-log(3 / 2) / 2)
    assert not {"units", "rates", "places"} & names(report)
    for history in histories(study.questions.all(), project=study.project):
        assert [picture.role for picture in history.pictures] == [first, second]
        assert not history.can_be_settled


def test_texts_are_not_compared() -> None:
    study = launched("describe_it")
    report = said(study, ["A dog.", "A cat.", "Rain."], ["A dog.", "A bird.", "Snow."])
    assert not {"reliability", "pairs", "rates", "places", "ratings", "filtering"} & names(report)
    ann = of_annotators(study)[PEOPLE[0]]
    assert (ann["Answers"], ann["Shared questions"]) == (3, 3)
    assert not {"Same as others", "MACE", "Dawid-Skene", "Right"} & set(ann)
    assert questions_shown(study, DISAGREE).count() == 2


def test_a_question_about_a_text_shows_who_said_what_and_cannot_be_settled() -> None:
    member = make_person("researcher")
    client = signed_in(member)
    study = launched("describe_it")
    said(study, ["A dog.", "A cat.", "Rain."], ["A dog.", "A bird.", "Snow."])
    name_annotators(project=study.project)
    page = client.get("/studies/shelves/things/disagreements/?show=disagree").content.decode()
    assert "A cat." in page
    assert "A bird." in page
    assert "Settle it with" not in page
    question = study.questions.order_by("pk")[0]
    refused = client.post(f"/studies/shelves/things/disagreements/{question.pk}/settle/", {"choice": "A dog."})
    assert refused.status_code == 409
    assert "not one option each" in refused.content.decode()


def test_the_tenth_option_is_offered_and_stored() -> None:
    study = launched("ten_words")
    key = "zqxjkv_caption-9"
    said(study, [key] * 3, [key] * 3)
    name_annotators(project=study.project)
    answers = list(persons_answers(study, facts_alone(study).studies[0].answerable))
    assert {answer.choice for answer in answers} == {key}
    assert {answer.positions for answer in answers} == {10}
