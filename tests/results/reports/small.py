"""A project small enough to be counted by hand: four candidates, a filter of two people, a baseline of two instances.

Step 3, ann and ben on one survey: image 0 and image 0; image 0 and None; None and None; image 1 and image 2.
The baseline: all four right about instance 1; about instance 4 only the last question (the negative caption) wrong.
"""

from decimal import Decimal
from typing import Any

from analytics.outcomes import Outcome
from analytics.work.pay import PaidSession
from results.reports.base import Chart, Report, Table
from results.reports.facts import AnswerFacts, ModelFacts, PartFacts, ProjectFacts, QuestionFacts, StudyFacts
from tests.results.reports.kinds import KINDS, with_options

ANN, BEN, CLEO, DORA = 901, 902, 903, 904

IMAGES = ("candidate-0", "candidate-1", "candidate-2", "none")
STEP_3 = StudyFacts(
    slug="step-3",
    title="Pick the image",
    parts=[PartFacts("best_of_n", "Pick the best image", 1, "Pick **one** image.", with_options("best_of_n", *IMAGES))],
    rule="chosen-v1",
    purpose="filter",
    accepts=True,
    fed_by="",
    answers_wanted=2,
    max_answers=2,
    currency="USD",
    per_session=Decimal("8.00"),
    estimated_minutes=40,
    sessions={"finished": 2, "given_up": 1},
    owed_for_sessions=Decimal("16.00"),
    paid_each={Decimal("8.00"): 2},
    annotators=2,
    paid=[PaidSession(2400.0), PaidSession(2400.0)],
    questions=[
        QuestionFacts(11, 1, "best_of_n", 0, "", Outcome.ACCEPTED, "candidate-0", 2, 2),
        QuestionFacts(12, 2, "best_of_n", 0, "", Outcome.CONFLICTING, "", 2, 2),
        QuestionFacts(13, 3, "best_of_n", 0, "", Outcome.REJECTED, "", 2, 2),
        QuestionFacts(14, 4, "best_of_n", 0, "", Outcome.ACCEPTED, "candidate-1", 2, 2),
    ],
    answers=[
        *(AnswerFacts(11, ANN, 5, "candidate-0"), AnswerFacts(11, BEN, 5, "candidate-0", 2)),
        *(AnswerFacts(12, ANN, 5, "candidate-0"), AnswerFacts(12, BEN, 5, "none", 2)),
        *(AnswerFacts(13, ANN, 5, "none"), AnswerFacts(13, BEN, 5, "none", 2)),
        *(AnswerFacts(14, ANN, 5, "candidate-1"), AnswerFacts(14, BEN, 5, "candidate-2", 2)),
    ],
)


def four(instance: int, *, last: str = "negative_image") -> list[QuestionFacts]:
    first = 100 * instance
    return [
        QuestionFacts(first, instance, "image_to_text", 0, "caption", Outcome.AGREED, "caption", 1),
        QuestionFacts(
            first + 1, instance, "image_to_text", 1, "negative_caption", Outcome.AGREED, "negative_caption", 1
        ),
        QuestionFacts(first + 2, instance, "text_to_image", 0, "image", Outcome.AGREED, "image", 1),
        QuestionFacts(first + 3, instance, "text_to_image", 1, "negative_image", Outcome.AGREED, last, 1),
    ]


QUESTIONS = [*four(1), *four(4, last="image")]
BASELINE = StudyFacts(
    slug="baseline",
    title="Match",
    parts=[
        PartFacts("image_to_text", "Image to text", 2, "Read.", KINDS["image_to_text"]),
        PartFacts("text_to_image", "Text to image", 2, "Look.", KINDS["text_to_image"]),
    ],
    rule="majority-v1",
    purpose="baseline",
    accepts=False,
    fed_by="step-3",
    answers_wanted=1,
    max_answers=1,
    currency="USD",
    per_session=Decimal("6.00"),
    estimated_minutes=30,
    sessions={"finished": 2},
    owed_for_sessions=Decimal("12.00"),
    annotators=2,
    paid=[],
    questions=QUESTIONS,
    answers=[AnswerFacts(q.id, CLEO if q.instance == 1 else DORA, 6, q.winner) for q in QUESTIONS],
)

PROJECT = ProjectFacts(
    slug="small",
    dataset="step-3",
    name="Small & <odd> 100%",
    categories={1: ("add", "obj"), 2: ("add", "obj"), 3: ("swap", "att"), 4: ("swap", "att")},
    studies=[STEP_3, BASELINE],
    models=[ModelFacts("CLIP_x", {1: (True, True, True, False), 4: (True, True, True, True), 3: (True,) * 4})],
)


def by_title(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table, each as title of the column -> cell."""
    return [dict(zip([column.title for column in table.columns], row, strict=True)) for row in table.rows]


def rows(report: Report, name: str) -> list[dict[str, Any]]:
    return by_title(report.table(name))


def values(chart: Chart) -> dict[str, float | None]:
    """Return label -> value of a chart with one series."""
    (series,) = chart.series
    return {point.label: point.value for point in series.points}
