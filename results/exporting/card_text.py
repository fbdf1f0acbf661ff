"""Text of the dataset card: README.md for the Hugging Face hub, from facts about the studies."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.outcomes import Outcome
from results.exporting.base import Column
from results.exporting.croissant import DataFile
from results.exporting.dataset_card import About, DatasetCard
from results.exporting.licences import hub_id
from results.exporting.rows import DECLARED, VERIFIED
from results.reports.base import Report
from results.reports.facts import ProjectFacts, StudyFacts
from results.reports.formats.md import escape, section
from results.reports.sections.cost import FINISHED, people_left_out
from results.reports.sections.funnel import asks_about_parts, dataset_studies
from results.reports.simulated_answers import simulation_notice
from results.reports.text import cell_text
from studies.wording import counted

NO_IDS = (
    "No name, no e-mail address, no IP address and no id of a recruitment platform is in it. People who withdrew are "
    "not in it."
)
PRIVACY = f"Annotators appear under random names that are made for this release alone. {NO_IDS}"
# Tables of the report in a card, in order; empty ones are left out.
RATING_TABLES = ("ratings",)
AGREEMENT_TABLES = ("pairs", "reliability", "filtering")
SCORE_TABLES = ("scores", "intervals", "majority", "models", "comparison")
# The rules of `studies.importing.captions`, for readers without this program.
CAPTION_RULES = {
    "as-is-v1": "as the source has them",
    "bivlc-release-v1": "outer white space removed, a full stop at the end, the first letter large and all others not",
    "retrieval-v1": 'small letters, without . ! " ( ) * # : ; ~, at most 30 words, as retrieval models read them',
    "keep-case-v1": "white space tidied, a mark at the end of the sentence, the first letter large, all else kept",
}
# The values of `rows.GivenPrediction.about`, in words.
ABOUT = {VERIFIED: "what people were asked about", DECLARED: "declared, not verified"}
# Purposes of studies, in words.
PURPOSES = {
    "filter": "a filter, which accepts and rejects",
    "baseline": "a human baseline, which accepts nothing",
    "pilot": "a pilot",
    "qualification": "a qualification",
    "collection": "a collection",
}


@dataclass(frozen=True, order=True)
class Origin:
    """The origin of images in a role."""

    role: str
    source: str
    licence: str
    generator: str


@dataclass(frozen=True, order=True)
class PredictedBy:
    """A model, and what is known about its inputs and conditions; fields as in `rows.GivenPrediction`."""

    model: str
    version: str
    weights: str
    caption_rule: str
    about: str
    conditions: str


def dataset_card(
    facts: ProjectFacts,
    report: Report,
    *,
    name: str,
    size: int,
    origins: Mapping[Origin, int],
    models: Mapping[PredictedBy, int],
    about: About,
) -> DatasetCard:
    """Return the card of what the studies of the dataset of `facts` accepted.

    name: of the data, before the name of its release. size: number of accepted items. origins: origin -> number of
    images. models: model -> number of questions.
    """
    name = "-".join(filter(None, (name, about.release)))
    limits = [*_limits(facts, origins), *_declared(models)]
    protocol = [*(_protocol(each) for each in facts.studies), people_left_out(facts)]
    citation = about.citation.strip() or _citation(name, _title(facts, about), about.made_on)
    description = about.description or _description(facts, size)
    parts = [
        f"# {escape(_title(facts, about))}",
        description,
        *_notices(facts),
        *(section(report.table(name)) for name in ("dataset",) if size),
        "## How it was made",
        escape(_dataset(facts, about.kept_by)),
        *_imported(facts),
        *(_made(each) for each in facts.studies),
        escape(people_left_out(facts)),
        section(report.table("funnel")),
        section(report.table("cost")),
        *_rated(report),
        "## Agreement",
        *_tables(report, AGREEMENT_TABLES, "No two annotators answered the same questions."),
        "## People and models",
        *_tables(report, SCORE_TABLES, "Nobody was asked questions whose right answer is known."),
        *_models_section(models),
        _image_section(origins),
        "## Privacy",
        PRIVACY,
        "## Known limits",
        "\n".join(f"- {escape(limit)}" for limit in limits),
        "## Citation",
        f"```bibtex\n{citation}\n```",
    ]
    return DatasetCard(
        name=name,
        title=_title(facts, about),
        release=about.release,
        description=description,
        licence=about.licence,
        citation=citation,
        made_on=about.made_on,
        size=size,
        body="\n\n".join(parts) + "\n",
        collection=collection(facts),
        protocol=protocol,
        annotations_per_item=answers_per_question(facts),
        analysis=_analysis(report),
        limits=limits,
        privacy=PRIVACY,
        notice=simulation_notice(facts.studies),
    )


def card_text(
    card: DatasetCard,
    splits: Mapping[str, str],
    features: Mapping[str, Mapping[str, str]],
    files: Sequence[DataFile],
) -> str:
    """Return README.md.

    splits: split -> pattern of its files. features: how `datasets` reads each column. files: those beside it.
    """
    front = [f"pretty_name: {_yaml(card.title)}", *_licence(card.licence)]
    front += [f"size_categories:\n- {_size_category(card.size)}"]
    if splits:
        front += ["configs:\n- config_name: default\n  data_files:"]
        front += [f"  - split: {_yaml(split)}\n    path: {_yaml(pattern)}" for split, pattern in splits.items()]
    if features:
        front += ["dataset_info:\n  features:"]
        front += [f"  - name: {name}\n    dtype: {_dtype(feature)}" for name, feature in features.items()]
    return "\n".join(["---", *front, "---", "", card.body, *_files_section(files)])


def _licence(licence: str) -> Iterable[str]:
    """Return the hub's licence fields: one of its ids, or "other" with a name."""
    known = hub_id(licence)
    if known:
        yield f"license: {known}"
    elif licence:
        yield from ("license: other", f"license_name: {_yaml(licence)}")


def _files_section(files: Sequence[DataFile]) -> Iterable[str]:
    """Describe every column of every file; files with the same columns share a table."""
    by_columns: dict[Sequence[Column], list[str]] = {}
    for file in files:
        by_columns.setdefault(file.columns, []).append(f"`{file.path}`")
    if by_columns:
        yield "## Files and columns\n"
    for columns, paths in by_columns.items():
        yield f"{', '.join(paths)}\n"
        if not columns:
            continue
        yield "| Column | Meaning |\n| --- | --- |"
        yield from (f"| {escape(column.name)} | {escape(column.description)} |" for column in columns)
        yield ""


def _dtype(feature: Mapping[str, str]) -> str:
    return "image" if feature["_type"] == "Image" else feature["dtype"]


def _yaml(text: str) -> str:
    # JSON strings are valid YAML.
    return json.dumps(text, ensure_ascii=False)


def _size_category(size: int) -> str:
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M")):
        if size < limit:
            return name
    return "n>1M"


def _title(facts: ProjectFacts, about: About) -> str:
    return " ".join(filter(None, (facts.name, about.release)))


def _description(facts: ProjectFacts, size: int) -> str:
    declared = dataset_studies(facts)
    names = " and ".join(escape(study.slug) for study in declared)
    parts = any(asks_about_parts(study) for study in declared)
    items = counted(size, "item" if parts else "instance")
    return (
        f"{items} of the project {escape(facts.name)} that people accepted in the "
        f"{'study' if len(declared) == 1 else 'studies'} {names}, out of "
        f"{counted(len(facts.categories), 'candidate')}."
    )


def _notices(facts: ProjectFacts) -> Iterable[str]:
    notice = simulation_notice(facts.studies)
    if notice:
        yield f"> **{escape(notice)}**"


def _imported(facts: ProjectFacts) -> Iterable[str]:
    """Describe the source files of the candidates, and the formatting of their captions."""
    for source in facts.sources:
        words = CAPTION_RULES.get(source.caption_rule, "")
        rule = f"{source.caption_rule} ({words})" if words else source.caption_rule
        yield escape(
            f"{source.instances:,} candidates were imported from {source.file}; their captions were formatted by the "
            f"rule {rule}."
        )


def _made(study: StudyFacts) -> str:
    """Describe one study, with the instructions that people read, verbatim."""
    lines = [f"### {escape(study.slug)}: {escape(study.title)}", escape(_protocol(study))]
    for number, part in enumerate(study.parts, start=1):
        which = f"Part {number}. " if len(study.parts) > 1 else ""
        lines += [f"{which}{escape(part.title)}. Instructions:", _quoted(part.instructions)]
    return "\n\n".join(lines)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines()) or "> (none)"


def words_for(study: StudyFacts) -> str:
    """Describe the purpose of a study and its kinds of questions."""
    return f"{PURPOSES[study.purpose]}; {', '.join(study.kinds)}"


def _protocol(study: StudyFacts) -> str:
    """Describe how a study worked."""
    answers = f"{counted(study.answers_wanted, 'answer')} per question"
    if study.max_answers > study.answers_wanted:
        answers += f", up to {study.max_answers} while undecided"
    more = sum(question.answers > study.max_answers for question in study.questions)
    if more:
        answers += f" ({more:,} questions have more, for agreement)"
    return (
        f"Study {study.slug} ({words_for(study)}) asked {len(study.questions):,} questions about instances of "
        f"{study.fed_by or 'the import'}: {answers}, decided by the rule {study.rule}. {_who(study)} answered"
        f"{_when(study)}; {study.sessions.get(FINISHED, 0):,} sessions were finished, each paid {study.currency} "
        f"{cell_text(study.per_session, 'money')}{_of_answers(study)} for an estimated "
        f"{study.estimated_minutes:g} minutes.{_went_missing(study)}{_approved(study)}"
    )


def _approved(study: StudyFacts) -> str:
    return f" Ethics approval: {study.ethics}" if study.ethics else ""


def _of_answers(study: StudyFacts) -> str:
    """Describe the pay per answer beside that of the session."""
    return f" and {cell_text(study.per_answer, 'money')} for each answer" if study.per_answer else ""


def _went_missing(study: StudyFacts) -> str:
    """Describe skipped questions, and instances that left the study."""
    skipped = f" Questions skipped, because their images could not be shown: {study.skipped:,}."
    undone = f" Instances that left it, because the acceptance that they came from was undone: {study.undone:,}."
    return (skipped if study.skipped else "") + (undone if study.undone else "")


def declared_dataset(studies: Sequence[str]) -> str:
    """Name the studies that keep the dataset of the project, "" if none was declared."""
    if not studies:
        return ""
    names = " and ".join(studies)
    several = len(studies) > 1
    return f"What the {'studies' if several else 'study'} {names} {'accept' if several else 'accepts'} is the dataset."


def _dataset(facts: ProjectFacts, kept_by: Sequence[str]) -> str:
    """Name the studies that keep the dataset of the project, and the number of instances that left it."""
    left = [
        f"{counted(each.undone, 'instance')} left the study {each.slug} because the acceptance behind "
        f"{'it' if each.undone == 1 else 'them'} was undone."
        for each in facts.studies
        if each.slug in facts.dataset
    ]
    return " ".join([declared_dataset(kept_by) or "No study was declared for the dataset of the project.", *left])


def _who(study: StudyFacts) -> str:
    people = counted(study.annotators, "annotator")
    return f"{people} ({study.simulated:,} of them simulated by a program)" if study.simulated else people


def _when(study: StudyFacts) -> str:
    if study.first_day == study.last_day:
        return f" on {study.first_day}" if study.first_day else ""
    return f" from {study.first_day} to {study.last_day}"


def _rated(report: Report) -> Iterable[str]:
    found = list(_tables(report, RATING_TABLES, ""))
    return ["## Ratings", *found] if any(found) else []


def _tables(report: Report, names: Sequence[str], otherwise: str) -> Iterable[str]:
    there = {table.name: table for table in report.tables}
    found = [section(there[name], level=3) for name in names if name in there]
    return found or [otherwise]


def _image_section(origins: Mapping[Origin, int]) -> str:
    lines = ["## Images", "| Role | Source | Licence | Generator | Images |", "| --- | --- | --- | --- | ---: |"]
    lines += [
        f"| {escape(origin.role)} | {_or_unknown(origin.source)} | {_or_unknown(origin.licence)} "
        f"| {escape(origin.generator) or 'none named'} | {n:,} |"
        for origin, n in sorted(origins.items())
    ]
    return lines[0] + "\n\n" + "\n".join(lines[1:])


def _models_section(models: Mapping[PredictedBy, int]) -> Iterable[str]:
    if not models:
        return
    lines = ["| Model | Version | Weights | Captions by | Predictions | Are about | Conditions |"]
    lines += ["| --- | --- | --- | --- | ---: | --- | --- |"]
    lines += [
        f"| {escape(by.model)} | {escape(by.version)} | {escape(by.weights)} | {escape(by.caption_rule)} | {n:,} "
        f"| {ABOUT[by.about]} | {by.conditions or 'not known: from a file'} |"
        for by, n in sorted(models.items())
    ]
    yield "## Models that were asked about these instances"
    yield "\n".join(lines)


def _declared(models: Mapping[PredictedBy, int]) -> Iterable[str]:
    """Describe how many predictions have unverifiable inputs."""
    declared = sum(n for by, n in models.items() if by.about == DECLARED)
    if declared:
        yield (
            f"{declared:,} of {sum(models.values()):,} predictions are declared by files that name no pictures: nobody "
            "can verify what the model saw."
        )


def _or_unknown(text: str) -> str:
    return escape(text) or "not stated"


def _limits(facts: ProjectFacts, origins: Mapping[Origin, int]) -> Iterable[str]:
    """Describe the limits that the data itself shows."""
    notice = simulation_notice(facts.studies)
    if notice:
        yield notice
    for study in facts.studies:
        conflicting = sum(question.outcome is Outcome.CONFLICTING for question in study.questions)
        once = sum(question.answers == 1 for question in study.questions)
        if once:
            yield f"{study.slug}: {once:,} of {len(study.questions):,} questions were answered by one person only."
        if conflicting:
            yield (
                f"{study.slug}: {conflicting:,} questions have all their answers and are conflicting; "
                "they belong to neither side."
            )
        if study.settled:
            yield f"{study.slug}: {study.settled:,} questions were settled by a researcher, not by annotators."
    unlicensed = sum(n for origin, n in origins.items() if not origin.licence)
    if unlicensed:
        yield f"The licence of {unlicensed:,} images is not stated."
    yield "Agreement is reported before and after filtering, because filtering keeps what people agree on."
    yield "Wages are computed on this site's clock, from arrival to the way back; fees and taxes are not in them."


def collection(facts: ProjectFacts) -> str:
    people = ", ".join(f"{_who(study)} in {study.slug}" for study in facts.studies)
    return f"Answers of people on web pages, one question at a time: {people}."


def answers_per_question(facts: ProjectFacts) -> str:
    return "; ".join(f"{study.slug}: {study.answers_wanted}" for study in facts.studies)


def _analysis(report: Report) -> list[str]:
    """Describe agreement before filtering."""
    there = {table.name: table for table in report.tables}
    found = []
    for study, kind, labels, measure, n, value, *_ in there["filtering"].rows if "filtering" in there else ():
        if isinstance(value, float):
            said = f"{measure} before filtering, {study}, {kind}, {labels}"
            found.append(f"{said}: {cell_text(value, 'coefficient')} (n = {n}).")
    return found or ["No two annotators answered the same questions."]


def _citation(name: str, title: str, made_on: str) -> str:
    """Return a citation entry from known facts, for a release without one."""
    plain = title.translate({ord(sign): None for sign in "{}\\"})
    year = f",\n  year = {{{made_on[:4]}}}" if made_on else ""
    return f"@misc{{{name},\n  title = {{{{{plain}}}}}{year}\n}}"
