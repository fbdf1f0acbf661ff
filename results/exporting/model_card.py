"""Text of the model card of a trained model: README.md in the form of the Hugging Face Hub. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

from results.exporting.licences import hub_id
from results.exporting.text_templates import render
from results.reports.base import Cell, Column, Range, Report, Table
from results.reports.explorer_links import ALL
from results.reports.sections.scores import HUMANS
from training.leaks import LeakReport
from training.plan import CurvePoint

# The Hub's task of models that choose a text for an image, or an image for a text.
TASK = "zero-shot-image-classification"
LIBRARIES = {"open_clip": "open_clip", "hf": "transformers"}


@dataclass(frozen=True, slots=True)
class ModelScore:
    """A score of the model, as a share with its 95 % interval, beside that of people on the same questions.

    `n`: instances that the model was asked about. An interval is None where there is none; `people` is None where
    nobody was asked.
    """

    study: str
    score: str
    n: int
    share: float
    interval: Range | None = None
    people: float | None = None
    people_interval: Range | None = None
    annotators: int | None = None

    def to_plain(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return the score that `to_plain` wrote."""
        read = {name: None if plain[name] is None else Range(**plain[name]) for name in ("interval", "people_interval")}
        return cls(**{**plain, **read})


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """The data that a model was trained on.

    `name`: of the release, or of the project with its accepted items. `sha256`: part (training, validation) -> that of
    its file of examples; `examples`: part -> how many. `release_sha256`: that of the release, "" for a project's items.
    `hub`: the dataset's name on the Hub, OWNER/NAME, "" if it is not there.
    """

    name: str
    examples: Mapping[str, int]
    sha256: Mapping[str, str]
    release_sha256: str = ""
    licence: str = ""
    hub: str = ""


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """Contents of a model card.

    `recipe` to `departures`: of the recipe (`training.recipes.base`); `defaults`: the paper's values of its options.
    `base`, `spec`: of the model that training began with, and of the trained one (`predictions.scorers`). `weights`:
    the identity of the trained weights, `base_weights` of those before. `leaks`: part (training, validation) -> what
    the check for leaks found. `seconds`: time on the device. `validation`: the best validation score from 0 to 1, of
    step `best_step`; None without a validation set; `measures`: what it is. `scores_as_of`: when the data behind
    `scores` were read. `notes`: what people should know about the training. `licence`: of the model, "" if nobody chose
    one.
    """

    name: str
    recipe: str
    recipe_version: str
    recipe_source: str
    options: Mapping[str, Any]
    defaults: Mapping[str, Any]
    departures: Sequence[str]
    base: str
    spec: str
    weights: str
    data: TrainingData
    leaks: Mapping[str, LeakReport]
    seed: int
    libraries: Mapping[str, str]
    hardware: str
    seconds: float
    steps: int
    best_step: int
    curve: Sequence[CurvePoint]
    validation: float | None = None
    measures: str = ""
    scores: Sequence[ModelScore] = ()
    scores_as_of: datetime | None = None
    notes: Sequence[str] = ()
    licence: str = ""
    base_weights: str = ""
    tags: Sequence[str] = field(default=("lineup", "contrastive"))


def scores_by_model(report: Report) -> dict[str, list[ModelScore]]:
    """Return the scores of each model in `report`, by its name there."""
    names = [row["Who"] for row in _rows(report, "intervals")] + [row["Model"] for row in _rows(report, "captions")]
    return {str(name): model_scores(report, str(name)) for name in dict.fromkeys(names) if name != HUMANS}


def model_scores(report: Report, model: str) -> list[ModelScore]:
    """Return the scores of a model, by its name in `report`: on studies beside people, then on imported captions."""
    found = list(_beside_people(report, model))
    for row in _rows(report, "captions"):
        if row["Model"] == model and row["Type"] == row["Subtype"] == ALL and isinstance(row["Accuracy"], float):
            interval, n = row["95 % interval"], row["Instances"]
            found.append(ModelScore("imported captions", "accuracy", _count(n), row["Accuracy"], _range(interval)))
    return found


def model_card_text(card: ModelCard) -> str:
    """Return README.md: the Hub's metadata, then Markdown."""
    return render(
        "model_card.md.jinja",
        card=card,
        metadata=_metadata(card),
        changed={name for name, value in card.options.items() if card.defaults.get(name) != value},
        losses=next((point for point in reversed(card.curve) if point.losses), None),
        hours=card.seconds / 3600,
        table=_table_of_scores(card.scores),
    )


def hub_model(spec: str) -> str:
    """Return the name on the Hub of the model that a spec names, "" if it tells none.

    Example: `hf:openai/clip-vit-base-patch32` is openai/clip-vit-base-patch32.
    """
    family, _, name = spec.partition(":")
    is_name = family == "hf" and name.count("/") == 1 and not name.startswith((".", "/", "~", "trained:"))
    return name if is_name else ""


def _metadata(card: ModelCard) -> str:
    # Imported here, because only work in the background loads it.
    from huggingface_hub import EvalResult, ModelCardData

    licence = hub_id(card.licence)
    results = [
        EvalResult(
            task_type=TASK,
            dataset_type=card.data.hub or score.study,
            dataset_name=score.study,
            metric_type="accuracy",
            metric_name=score.score,
            metric_value=round(score.share, 6),
            metric_args={"n": score.n}
            | ({} if score.interval is None else {"interval_95": _ends(score.interval)})
            | ({} if score.people is None else {"people": round(score.people, 6)})
            | ({} if score.people_interval is None else {"people_interval_95": _ends(score.people_interval)}),
        )
        for score in card.scores
    ]
    data = ModelCardData(
        model_name=_one_line(card.name),
        base_model=hub_model(card.base) or None,
        datasets=[card.data.hub] if card.data.hub else None,
        library_name=LIBRARIES.get(card.spec.partition(":")[0]),
        license=licence or ("other" if card.licence else None),
        license_name=_one_line(card.licence) if card.licence and not licence else None,
        pipeline_tag=TASK,
        tags=list(card.tags),
        eval_results=results or None,
    )
    return data.to_yaml().strip()


def _one_line(text: str) -> str:
    # A line of dashes would end the metadata.
    return " ".join(text.split())


def _ends(interval: Range) -> list[float]:
    return [round(interval.low, 6), round(interval.high, 6)]


def _table_of_scores(scores: Sequence[ModelScore]) -> Table:
    columns = [Column("Study"), Column("Score"), Column("Instances", "count"), Column("Model", "share")]
    columns += [Column("95 % interval", "share"), Column("People", "share"), Column("95 % interval of people", "share")]
    columns.append(Column("Annotators", "count"))
    rows: list[Sequence[Cell]] = [
        (
            score.study,
            score.score,
            score.n,
            score.share,
            score.interval,
            score.people,
            score.people_interval,
            score.annotators,
        )
        for score in scores
    ]
    return Table("model scores", "Scores beside people's", columns, rows)


def _beside_people(report: Report, model: str) -> Iterator[ModelScore]:
    rows = list(_rows(report, "intervals"))
    people = {(row["Study"], row["Score"]): row for row in rows if row["Who"] == HUMANS}
    for row in rows:
        if row["Who"] == model and isinstance(row["Value"], float):
            beside = people.get((row["Study"], row["Score"]), {})
            value, annotators = beside.get("Value"), beside.get("People")
            yield ModelScore(
                str(row["Study"]),
                str(row["Score"]),
                _count(row["Instances"]),
                row["Value"],
                _range(row["95 % interval"]),
                value if isinstance(value, float) else None,
                _range(beside.get("95 % interval")),
                _count(annotators) if annotators is not None else None,
            )


def _rows(report: Report, name: str) -> Iterator[Mapping[str, Cell]]:
    for table in report.tables:
        if table.name == name:
            titles = [column.title for column in table.columns]
            yield from (dict(zip(titles, row, strict=True)) for row in table.rows)


def _range(cell: Cell) -> Range | None:
    return cell if isinstance(cell, Range) else None


def _count(cell: Cell) -> int:
    return int(cell) if isinstance(cell, int) else 0
