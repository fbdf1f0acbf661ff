"""The tables that a replay prints, in Markdown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from analytics.scores import Outcomes, Score
from annotation.models import Response
from results.replay.against_models import detectors, models, sugarcrepe
from results.replay.findings import Baseline, Funnel, baseline, funnel, mean_kappa, pair_kappas, whole
from results.replay.pipeline import BASELINE, STEP_3, STEP_4, Replay
from results.replay.published import (
    HUMAN_GROUP,
    HUMAN_I2T,
    HUMAN_T2I,
    MEAN_KAPPA,
    PAIR_KAPPAS,
    RETRIEVAL_EXAMPLES,
)
from results.replay.script import KEPT_PER_AMBIGUOUS
from results.replay.stand_ins import GENERATOR

SCORES = ("I2T", "T2I", "Group", "Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I")


def sections(replay: Replay, results: Path | None) -> Iterator[str]:
    """Yield the report of a replay, section by section."""
    rows = funnel(replay)
    people = baseline(replay)
    yield _heading(replay)
    yield _inputs(replay)
    yield _funnel(rows)
    yield _examples(replay, rows)
    yield _agreement(replay)
    yield _humans(replay, people)
    if results is not None:
        yield from _models(replay, results, people)


def _heading(replay: Replay) -> str:
    size = "at the paper's size" if replay.is_whole else f"in small: {len(replay.fates):,} rows of the manifest"
    return f"# BiVLC replayed {size}\n\nProject {replay.setting.project.slug}, seed {replay.setting.seed!r}."


def _inputs(replay: Replay) -> str:
    lines = [
        "Who is released, the kappas of the pairs and what people score in the baseline are published: the made-up "
        "annotators answer so that they come out. They are inputs, not findings; what is shown is that the platform "
        "carries them through.",
        "Chosen here, because the paper does not tell: which of the four images was best, and how many instances "
        f"step 4 took away (one for every {KEPT_PER_AMBIGUOUS} kept, in each category).",
        "Times are those of the machine: nobody thought about a question.",
    ]
    if replay.stand_ins:
        lines.append(
            f"The images are not the paper's: {replay.stand_ins:,} pictures of 4 by 2 pixels stand in for them, "
            f'labelled "{GENERATOR}".'
        )
    return "## What is put in\n\n" + "\n".join(f"- {line}" for line in lines)


def _funnel(rows: Mapping[tuple[str, str], Funnel]) -> str:
    everything = whole(list(rows.values()))
    lines = [(*category, *_counts(row)) for category, row in rows.items()]
    headers = ("type", "subtype", "candidates", "accepted by step 3", "kept by step 4", "baseline sample")
    return "## Funnel\n\n" + table(headers, [*lines, ("all", "", *_counts(everything))])


def _counts(row: Funnel) -> tuple[str, ...]:
    return tuple(f"{count:,}" for count in (row.candidates, row.step_3, row.step_4, row.baseline))


def _examples(replay: Replay, rows: Mapping[tuple[str, str], Funnel]) -> str:
    lines = []
    for category, row in rows.items():
        published = f"{RETRIEVAL_EXAMPLES[category]:,}" if replay.is_whole else "-"
        lines.append((*category, f"{row.step_4:,}", f"{row.examples:,}", published))
    everything = whole(list(rows.values()))
    total = f"{sum(RETRIEVAL_EXAMPLES.values()):,}" if replay.is_whole else "-"
    lines.append(("all", "", f"{everything.step_4:,}", f"{everything.examples:,}", total))
    headers = ("type", "subtype", "instances", "retrieval examples", "published")
    return "## Instances and retrieval examples (the paper's table 1)\n\n" + table(headers, lines)


def _agreement(replay: Replay) -> str:
    kappas = pair_kappas(replay)
    lines = [
        (str(number), str(kappa.n_pairable), _decimal(kappa.value) or str(kappa.reason), _decimal(published))
        for number, (kappa, published) in enumerate(zip(kappas, PAIR_KAPPAS, strict=True), start=1)
    ]
    questions = sum(kappa.n_pairable for kappa in kappas)
    lines.append(("mean", str(questions), _decimal(mean_kappa(kappas)), _decimal(MEAN_KAPPA)))
    settled = replay.played[STEP_3].settled
    return (
        "## Agreement of the pairs, any image against none (the paper's table 7)\n\n"
        + table(("pair", "questions", "Cohen's kappa", "published"), lines)
        + f"\n\nOf these questions {settled} were left undecided by their two answers and settled by a researcher."
    )


def _humans(replay: Replay, people: Baseline) -> str:
    scores = people.outcomes.scores()
    published = {"I2T": HUMAN_I2T, "T2I": HUMAN_T2I, "Group": HUMAN_GROUP}
    lines = [(name, *_share(scores[name]), f"{published[name]:.2f}" if name in published else "-") for name in SCORES]
    taken = replay.played[BASELINE]
    return (
        f"## People on {len(people.keys):,} instances ({taken.people} annotators, {taken.answers:,} answers)\n\n"
        + table(("score", "right", "of", "percent", "published"), lines)
    )


def _models(replay: Replay, folder: Path, people: Baseline) -> Iterator[str]:
    found = models(replay, folder, people)
    everybody = [("people", people.outcomes), *((model.name, model.baseline) for model in found)]
    yield f"## People and models on the same {len(people.keys):,} instances\n\n" + _score_table(everybody)
    n = len(found[0].kept) if found else 0
    yield f"## Models on the {n:,} released instances\n\n" + _score_table((model.name, model.kept) for model in found)
    for model in found:
        yield f"## {model.name} per type and subtype\n\n" + _per_category(model.kept, model.labels)
    synthetic = detectors(folder)
    if synthetic:
        yield "## Detectors of synthetic content, over their whole files\n\n" + _score_table(synthetic.items())
    choices = sugarcrepe(folder)
    if choices:
        lines = [(name, *_share(score)) for name, score in choices.items()]
        yield "## SugarCrepe, over whole files\n\n" + table(("model", "right", "of", "percent"), lines)


def _per_category(outcomes: Outcomes, labels: tuple[list[str], list[str]]) -> str:
    groups = [*outcomes.scores_by(labels[0]).items(), *outcomes.scores_by(*labels).items()]
    lines = [
        (" ".join(group), f"{scores['Group'].n:,}", *(str(scores[name].percent()) for name in SCORES))
        for group, scores in groups
    ]
    return table(("category", "instances", *SCORES), lines)


def _score_table(named: Iterable[tuple[str, Outcomes]]) -> str:
    lines = []
    for name, outcomes in named:
        scores = outcomes.scores()
        lines.append((name, *(str(scores[column].percent()) for column in SCORES)))
    return table(("percent", *SCORES), lines)


def closing(replay: Replay) -> str:
    """Return the last line: how many answers were played, and how long everything took."""
    answers = Response.objects.filter(study__in=replay.studies.values()).count()
    played = replay.seconds["steps 3 and 4"] + replay.seconds["baseline"]
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in replay.seconds.items())
    people = sum(replay.played[name].people for name in (STEP_3, STEP_4, BASELINE))
    return (
        f"{answers:,} answers of {people} annotators, {answers / played:.0f} answers/s. "
        f"In all {sum(replay.seconds.values()):.1f} s: {stages}."
    )


def _share(score: Score) -> tuple[str, str, str]:
    return f"{score.count:,}", f"{score.n:,}", str(score.percent())


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; cells have no bars in them."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
