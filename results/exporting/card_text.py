"""Text of the dataset card: README.md for the Hugging Face hub, from facts about the studies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from results.exporting.base import Column
from results.exporting.croissant import DataFile
from results.exporting.dataset_card import About, DatasetCard
from results.exporting.licences import hub_id
from results.exporting.rows import DECLARED
from results.exporting.text_templates import render, sentence
from results.reports.base import Report, Table
from results.reports.facts import ProjectFacts
from results.reports.sections.cost import people_left_out
from results.reports.sections.funnel import asks_about_parts, dataset_studies
from results.reports.simulated_answers import simulation_notice
from results.reports.text import cell_text

NO_IDS = "It contains no names, e-mail addresses, IP addresses or platform IDs, and nothing of people who withdrew."


@dataclass(frozen=True, order=True)
class Origin:
    """The origin of images in a role."""

    role: str
    source: str
    licence: str
    generator: str


@dataclass(frozen=True, order=True)
class PredictionModel:
    """A model, and what is known about its inputs and conditions; fields as in `rows.GivenPrediction`."""

    model: str
    version: str
    weights: str
    caption_rule: str
    about: str
    conditions: str
    trained_here: bool | None


def dataset_card(
    facts: ProjectFacts,
    report: Report,
    *,
    name: str,
    size: int,
    origins: Mapping[Origin, int],
    models: Mapping[PredictionModel, int],
    about: About,
) -> DatasetCard:
    """Return the card of what the studies of the dataset of `facts` accepted.

    name: of the data, before the name of its release. size: number of accepted items. origins: origin -> number of
    images. models: model -> number of questions.
    """
    name = "-".join(filter(None, (name, about.release)))
    title = " ".join(filter(None, (facts.name, about.release)))
    tables = {table.name: table for table in report.tables}
    left_out = people_left_out(facts)
    notice = simulation_notice(facts.studies)
    card = DatasetCard(
        name=name,
        title=title,
        release=about.release,
        description=about.description or _description(facts, size),
        licence=about.licence,
        citation=about.citation.strip() or _citation(name, title, about.made_on),
        made_on=about.made_on,
        size=size,
        collection=sentence("collection", facts),
        protocol=[*(sentence("protocol", study) for study in facts.studies), left_out],
        annotations_per_item=sentence("answers_per_question", facts),
        analysis=_analysis(tables),
        limits=_limits(facts, notice, origins, models, has_agreement="filtering" in tables),
        privacy=f"Annotators appear under random names that are made for this release alone. {NO_IDS}",
        notice=notice,
    )
    body = render(
        "card.md.jinja",
        card=card,
        facts=facts,
        tables=tables,
        kept_by=about.kept_by,
        left_out=left_out,
        origins=sorted(origins.items()),
        models=sorted(models.items()),
    )
    return replace(card, body=body)


def card_text(
    card: DatasetCard,
    splits: Mapping[str, str],
    features: Mapping[str, Any],
    files: Sequence[DataFile],
) -> str:
    """Return README.md.

    splits: split -> pattern of its files. features: how `datasets` reads each column. files: those beside it, with
    every column; files with the same columns share a table.
    """
    paths_by_columns: dict[Sequence[Column], list[str]] = {}
    for file in files:
        paths_by_columns.setdefault(file.columns, []).append(f"`{file.path}`")
    return render(
        "readme.md.jinja",
        card=card,
        hub_licence=hub_id(card.licence),
        size_category=_size_category(card.size),
        splits=splits,
        features=features,
        paths_by_columns=paths_by_columns,
    )


def _size_category(size: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if size < limit:
            return name
    return "n>1M"


def _description(facts: ProjectFacts, size: int) -> str:
    declared = dataset_studies(facts)
    return sentence("description", facts, size, declared, any(asks_about_parts(study) for study in declared))


def _limits(
    facts: ProjectFacts,
    notice: str,
    origins: Mapping[Origin, int],
    models: Mapping[PredictionModel, int],
    *,
    has_agreement: bool,
) -> list[str]:
    """Return the limits that the data itself shows; among them, predictions with unverifiable inputs."""
    unlicensed = sum(n for origin, n in origins.items() if not origin.licence)
    declared = sum(n for by, n in models.items() if by.about == DECLARED)
    return sentence("limits", facts, notice, unlicensed, declared, sum(models.values()), has_agreement).splitlines()


def _analysis(tables: Mapping[str, Table]) -> list[str]:
    """Describe agreement before filtering."""
    rows = tables["filtering"].rows if "filtering" in tables else ()
    found = [
        f"{measure} before filtering, {study}, {kind}, {labels}: {cell_text(value, 'coefficient')} (n = {n})."
        for study, kind, labels, measure, n, value, *_ in rows
        if isinstance(value, float)
    ]
    return found or ["No two annotators answered the same questions."]


def _citation(name: str, title: str, made_on: str) -> str:
    """Return a citation entry from known facts, for a release without one."""
    plain = title.translate({ord(sign): None for sign in "{}\\"})
    year = f",\n  year = {{{made_on[:4]}}}" if made_on else ""
    return f"@misc{{{name},\n  title = {{{{{plain}}}}}{year}\n}}"
