"""The numbers that come out for kinds unlike those that are shipped: right, or absent with a reason. Counted by hand.

Two people, Ann and Ben, answer three questions each.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from math import log
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.actions.arriving.eligibility import check
from annotation.actions.launching.launch import launch
from annotation.errors import NotEligible
from annotation.models import Annotator, Response
from predictions.actions.import_predictions import ModelName, import_predictions
from results.actions.cached_statistics import annotators_of
from results.actions.exports import write_export
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.instances.disagreements import different_answers
from results.queries.instances.instance_history import histories
from results.queries.people.annotators import persons_answers
from results.queries.reports.answers import answer_details, answer_times, facts_alone
from results.queries.studies.progress import Rate, study_progress
from results.reports.base import Range, Report, Table, Undefined
from results.reports.build import report_of_study
from results.reports.cards import StudyAnswers
from studies.actions.studies import create_study
from studies.design import DesignRefused
from studies.kinds import get_kind
from studies.models import Instance, Study
from tests.contracts.stage import PEOPLE, answered, draft, file_of, launched, secret_ask
from tests.factories import NOON, TESTS, make_person
from tests.pages import signed_in
from tests.people import digest_of

pytestmark = pytest.mark.django_db


def said(study: Study, *of_ann_and_ben: Sequence[Any]) -> Report:
    """Let both say what stands there, a label or a whole answer per question, and return the report of their study."""
    by_person = dict(zip(PEOPLE, of_ann_and_ben, strict=True))
    answered(study, say=lambda person, number: by_person[person][number - 1])
    alone = facts_alone(study)
    details = answer_details(study, alone.studies[0].label_spaces)
    return report_of_study(alone, StudyAnswers(details, answer_times(study)))


def rows(table: Table) -> list[dict[str, Any]]:
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def names(report: Report) -> set[str]:
    return {table.name for table in report.tables}


def of_annotators(study: Study) -> Mapping[str, dict[str, Any]]:
    """Return the row of each annotator, by the id they came with."""
    found = rows(annotators_of(study)[0])
    ids = {each.name: each.annotator.provider_id for each in Pseudonym.objects.select_related("annotator")}
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
    assert not {"Always offered", "Position bias, p", "Right"} & set(ann)


def test_ratings_are_exported_with_mean_spread_and_distribution(tmp_path: Path) -> None:
    study = launched("how_often")
    said(study, ["never", "always", "seldom"], ["never", "never", "seldom"])
    call_command("export", study.project.slug, study=study.slug, format="ratings", out=tmp_path, stdout=StringIO())
    with (tmp_path / "things-ratings.csv").open(newline="") as file:
        whole = next(row for row in csv.DictReader(file) if row["subtype"] == "all")
    # Steps 1, 4, 2 and 1, 1, 2: mean 11/6, and the squares 27 leave (27 - 121/6) / 5 for the variance.
    assert (whole["answers"], whole["people"], whole["instances"]) == ("6", "2", "3")
    assert float(whole["mean"]) == pytest.approx(11 / 6)
    assert float(whole["sd"]) == pytest.approx(((27 - 121 / 6) / 5) ** 0.5)
    assert json.loads(whole["steps"]) == {"never": 3, "seldom": 2, "now and then": 0, "always": 1}
    assert 1 <= float(whole["low"]) < 11 / 6 < float(whole["high"]) <= 4


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
    assert ann["Agreement with others"] == pytest.approx(2 / 3)
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
    assert set(facts.label_spaces["own_words"].options) == offered
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
    # The labels of one statement are one of each question, so that only more questions are needed for an interval.
    of_dog = {row["Measure"]: row for row in reliability if row["Labels"] == "There is a dog.: options"}
    assert of_dog["Percent agreement"]["Value"] == pytest.approx(2 / 3)
    assert of_dog["Percent agreement"]["95 % interval over questions"] == Undefined(
        "Fewer than 20 questions: too few for a reliable interval."
    )
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
    assert ann["Agreement with others"] == pytest.approx(2 / 3)
    assert len(different_answers(study)) == 1
    (question,) = histories(study.questions.filter(pk__in=different_answers(study)), project=study.project)
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
    assert not {"Agreement with others", "Right"} & set(ann)
    assert not [title for title in ann if title.startswith(("MACE", "Dawid-Skene", "GLAD"))]
    assert len(different_answers(study)) == 2


def test_a_question_about_a_text_shows_who_said_what_and_cannot_be_settled() -> None:
    member = make_person("researcher")
    client = signed_in(member)
    study = launched("describe_it")
    said(study, ["A dog.", "A cat.", "Rain."], ["A dog.", "A bird.", "Snow."])
    name_annotators(project=study.project)
    question = Response.objects.get(answer="A cat.").question
    page = client.get(f"/studies/shelves/things/disagreements/?show=disagree&question={question.pk}").content.decode()
    assert "A cat." in page
    assert "A bird." in page
    assert "data-settle" not in page
    refused = client.post(f"/studies/shelves/things/disagreements/{question.pk}/settle/", {"choice": "A dog."})
    assert refused.status_code == 409
    assert "not one option each" in refused.content.decode()


def test_the_tenth_option_is_offered_and_stored() -> None:
    study = launched("ten_words")
    key = "zqxjkv_caption-9"
    said(study, [key] * 3, [key] * 3)
    name_annotators(project=study.project)
    answers = list(persons_answers(study, facts_alone(study).studies[0].label_spaces))
    assert {answer.choice for answer in answers} == {key}
    assert {answer.positions for answer in answers} == {10}


def ranking(*ranks: int) -> dict[str, str]:
    """Return an answer that gives the four texts these ranks."""
    return {f"zqxjkv_{role}": str(rank) for role, rank in zip(("best", "good", "fair", "bad"), ranks, strict=True)}


# The right ranking is 1, 2, 2, 4. Of six pairs Ann has 6, 1 (the tie) and 6 as they should be, Ben 5, 0 and 6.
OF_ANN = (ranking(1, 2, 2, 4), ranking(1, 1, 1, 1), ranking(1, 3, 3, 4))
OF_BEN = (ranking(1, 2, 3, 4), ranking(4, 3, 2, 1), ranking(1, 2, 2, 3))


def test_rankings_are_scored_by_their_kind_in_human_scores_annotators_and_monitor() -> None:
    study = launched("rank_texts")
    assert study.purpose == "baseline"
    report = said(study, OF_ANN, OF_BEN)
    (score,) = rows(report.table("intervals"))
    assert (score["Score"], score["People"], score["Questions"], score["Answers"]) == ("Score (rank_texts)", 2, 3, 6)
    assert score["Value"] == pytest.approx((13 / 18 + 11 / 18) / 2)
    assert isinstance(score["95 % interval"], Range)
    humans = next(row for row in rows(report.table("compact")) if row["Who"] == "Humans")
    assert humans["Score (rank_texts)"] == pytest.approx(2 / 3)
    assert "majority" not in names(report)
    found = of_annotators(study)
    assert [found[person]["Right"] for person in PEOPLE] == pytest.approx([13 / 18, 11 / 18])
    (rate,) = study_progress(study).rates
    assert (rate.what, rate.n) == ("Mean score", 6)
    assert rate.times == pytest.approx(4)


def test_rankings_have_the_measures_of_agreement_that_their_kind_brings() -> None:
    report = said(launched("rank_texts"), OF_ANN, OF_BEN)
    whole = {row["Measure"]: row for row in rows(report.table("reliability")) if row["Labels"] == "whole answers"}
    w, tau = whole["Kendall's W"], whole["Kendall's tau-b"]
    # Rank sums 2, 4.5, 5.5, 8: S = 18.5 and W = 222 / 228; 6.5, 5.5, 4.5, 3.5: S = 5 and W = 60 / 120; and 1.
    assert w["Value"] == pytest.approx((222 / 228 + 0.5 + 1) / 3)
    assert (w["Questions"], w["Answers"], w["People"]) == (3, 6, 2)
    assert isinstance(w["95 % interval over questions"], Range)
    # 5 of 6 pairs that one and 5 that the other ranks; none where Ann ties everything; and 1.
    assert tau["Value"] == pytest.approx((5 / 30**0.5 + 1) / 2)
    assert (tau["Questions"], tau["Answers"]) == (2, 4)
    assert tau["Remark"].endswith("1 of 3 questions have no Kendall's tau-b: Everything is tied, so nothing is ranked.")
    of_best = {
        row["Measure"]: row["Value"] for row in rows(report.table("reliability")) if "best: scale" in row["Labels"]
    }
    # The best text got 1 and 1, 1 and 4, 1 and 1.
    assert of_best["Percent agreement"] == pytest.approx(2 / 3)


def test_a_models_scores_of_what_is_ranked_are_scored_as_people_are(tmp_path: Path) -> None:
    study = launched("rank_texts")
    scores = ([0.9, 0.5, 0.5, 0.1], [0.9, 0.6, 0.5, 0.1], [0.1, 0.2, 0.3, 0.4])
    keys = list(study.questions.order_by("pk").values_list("instance__key", flat=True))
    lines = [
        {"key": key, "kind": "rank_texts", "scores": dict(zip(ranking(1, 2, 3, 4), row, strict=True))}
        for key, row in zip(keys, scores, strict=True)
    ]
    file = tmp_path / "scores.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    about: dict[str, Any] = {
        "project": study.project,
        "format": "scores",
        "model": ModelName("Ranker"),
        "by": TESTS,
        "now": NOON,
    }
    assert import_predictions(file=file, **about).added == 3
    report = said(study, OF_ANN, OF_BEN)
    by_who = {row["Who"]: row["Score (rank_texts)"] for row in rows(report.table("compact"))}
    # 1, 2, 2, 4 is right; 1, 2, 3, 4 in 5 of 6 pairs; and 4, 3, 2, 1 in none.
    assert by_who["Ranker"] == pytest.approx(11 / 18)
    (against,) = rows(report.table("comparison"))
    assert against["People minus model"] == pytest.approx(1 / 18)
    assert against["Answers"] == 6


def test_no_blind_baseline_is_asked_what_has_no_right_option() -> None:
    condition = {"blind_solvability": {"baselines": ["text-only:ngrams"], "at_most": 0.6}}
    with pytest.raises(DesignRefused, match=r"A blind baseline chooses one option, .* Leave `conditions"):
        draft("rank_texts", conditions=condition)


def test_somebody_qualifies_by_the_scores_of_a_kind() -> None:
    trial = launched("rank_texts")
    said(trial, OF_ANN, OF_BEN)
    # Ann has 13/6 of 3, Ben 11/6.
    file = file_of(get_kind("rank_texts"), secret_ask(get_kind("rank_texts")), study="more")
    entry = {"rule": "qualified", "study": "things", "right": 2, "of": 3}
    source = json.dumps(json.loads(file) | {"eligibility": [entry]})
    more = create_study(project=trial.project, source=source, by=TESTS, now=NOON)
    ann, ben = (Annotator.objects.get(id_digest=digest_of(person)) for person in PEOPLE)
    check(study=more, annotator=ann, provider="prolific")
    with pytest.raises(NotEligible):
        check(study=more, annotator=ben, provider="prolific")


def test_a_right_ranking_is_shown_with_its_instance_and_leaves_as_json(tmp_path: Path) -> None:
    client = signed_in(make_person("researcher"))
    study = launched("rank_texts")
    said(study, OF_ANN, OF_BEN)
    name_annotators(project=study.project)
    right = "zqxjkv_best: 1"
    instance = study.project.instances.order_by("pk")[0]
    page = client.get(f"/projects/shelves/instances/{instance.name_in_address}/").content.decode()
    assert right in page[page.index(">right</span>") :]
    write_export(study=study, format="responses", folder=tmp_path, report=lambda done, total: None)
    (file,) = tmp_path.glob("*.csv")
    rights = {row["right"] for row in csv.DictReader(StringIO(file.read_text(encoding="utf-8-sig")))}
    assert [json.loads(each) for each in rights] == [ranking(1, 2, 2, 4)]


def test_simulated_annotators_rank_rightly_as_often_as_they_are_told_to() -> None:
    study = launched("rank_texts", answers=1, surveys={"size": 3})
    out = StringIO()
    call_command("simulate", study.slug, annotators=1, accuracy=1.0, stdout=out)
    assert "Right answers: 3 of 3 (100.0%)" in out.getvalue()
    assert "Mean score: 1.000, n = 3" in out.getvalue()
    assert "Random answers" not in out.getvalue()
    assert study_progress(study).rates == [Rate("Mean score", 3.0, 3)]


def test_simulated_annotators_without_skill_rank_wrongly() -> None:
    study = launched("rank_texts", answers=1, surveys={"size": 3})
    out = StringIO()
    call_command("simulate", study.slug, annotators=1, accuracy=0.0, stdout=out)
    assert "Right answers: 0 of 3 (0.0%)" in out.getvalue()


def test_the_right_ranking_of_an_instance_goes_before_that_of_the_study() -> None:
    study = draft("rank_texts")
    first = study.project.instances.order_by("pk")[0]
    Instance.objects.filter(pk=first.pk).update(reference={"right": [4, 3, 2, 1]})
    launch(study=study, by=TESTS, now=NOON)
    rights = dict(study.questions.values_list("instance", "right_answer"))
    assert rights.pop(first.pk) == ranking(4, 3, 2, 1)
    assert list(rights.values()) == [ranking(1, 2, 2, 4)] * 2


def test_units_with_scales_of_their_own_are_compared_each_on_its_own() -> None:
    study = launched("two_scales")
    of_ann = [("blurred", "inside"), ("sharp", "outside"), ("fair", "inside")]
    of_ben = [("fair", "inside"), ("sharp", "outside"), ("fair", "outside")]
    report = said(
        study, *([{"sharpness": first, "place": second} for first, second in each] for each in (of_ann, of_ben))
    )
    measured: dict[str, dict[str, Any]] = {}
    for row in rows(report.table("reliability")):
        measured.setdefault(row["Labels"], {})[row["Measure"]] = row["Value"]
    assert set(measured) == {"sharpness: scale blurred to sharp", "place: options"}
    assert set(measured["sharpness: scale blurred to sharp"]) == {"Percent agreement", "Krippendorff's alpha (ordinal)"}
    assert measured["place: options"]["Agreement on 'inside'"] == pytest.approx(2 / 3)
    kappas = {row["Labels"]: row["Cohen's kappa"] for row in rows(report.table("pairs")) if row["Survey"]}
    # Squared distances 1, 0, 0: mean 1/3; of all nine pairs 1. Chance agrees on places in 4 of 9, they do in 2 of 3.
    assert kappas == {
        "sharpness: scale blurred to sharp, quadratic weights": pytest.approx(2 / 3),
        "place: options": pytest.approx(0.4),
    }
    times = {(row["What was asked"], row["Answer"]): row["Times"] for row in rows(report.table("units"))}
    assert times == {
        ("sharpness", "blurred"): 1,
        ("sharpness", "fair"): 3,
        ("sharpness", "sharp"): 2,
        ("place", "inside"): 3,
        ("place", "outside"): 3,
    }
    ann = of_annotators(study)[PEOPLE[0]]
    # 2 of 3 on each.
    assert ann["Agreement with others"] == pytest.approx(2 / 3)
    assert "MACE: sharpness: scale blurred to sharp" in ann
