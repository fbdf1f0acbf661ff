"""Problems with the checks of answers in a study file: gold questions, instruction checks and repeats. Pure."""

from collections.abc import Iterator

from studies.design.model import Design, GoldChecks, QualityChecks
from studies.design.parser import Path
from studies.kinds import get_kind

# Checks may be this part of a survey's ordinary questions.
MOST_CHECKS = 2


def check_quality_checks(design: Design) -> Iterator[tuple[Path, str]]:
    """Yield (entry, sentence) for each problem with `checks` that the schema cannot express."""
    checks = design.checks
    if checks is None:
        return
    if reason := _why_none(design):
        yield ("checks",), reason
        return
    if checks.gold is not None:
        yield from _check_gold(design, checks.gold)
    if checks.instruction is not None and not any(get_kind(part.kind).can_instruct(part.ask) for part in design.parts):
        kinds = " and ".join(part.kind for part in design.parts)
        yield (
            ("checks", "instruction"),
            f"Questions of {kinds} show no text with an option that an instruction can name. Leave "
            "`checks.instruction` out; gold questions and repeats are possible.",
        )
    yield from _check_numbers(design, checks)


def _why_none(design: Design) -> str:
    written = [part.kind for part in design.parts if get_kind(part.kind).is_written]
    if design.is_live:
        return (
            "The questions come from another study one by one, so no places for checks can be drawn at the launch. "
            "Leave `checks` out, or take a sample (`instances.sample`)."
        )
    if design.asks_about_answers:
        return (
            "The questions are about texts that people wrote, who may withdraw them, so they cannot be checks. Leave "
            "`checks` out."
        )
    if written:
        return f"Answers to {written[0]} are written, and no text is right or the same again. Leave `checks` out."
    return ""


def _check_gold(design: Design, gold: GoldChecks) -> Iterator[tuple[Path, str]]:
    path: Path = ("checks", "gold")
    if bool(gold.from_study) == bool(gold.questions):
        both = "Both are there." if gold.questions else "Neither is there."
        yield path, f"Gold questions come `from` a study or from the list `questions`. {both} Write one of them."
    if gold.from_study == design.study:
        yield (*path, "from"), "A study cannot take its gold questions from itself. Name another one."
    keys, practised = [each.instance for each in gold.questions], {each.instance for each in design.practice.questions}
    for number, each in enumerate(gold.questions):
        if each.instance in keys[:number]:
            yield (*path, "questions", number, "instance"), f"`checks.gold` names the instance {each.instance!r} twice."
        if each.instance in practised:
            yield (
                (*path, "questions", number, "instance"),
                f"The instance {each.instance!r} is a practice question too, so annotators know its answer. Choose "
                "another one.",
            )
        if not each.right and not design.knows_right:
            yield (
                (*path, "questions", number),
                f"The gold question about {each.instance!r} has no right answer. Fill in `right`.",
            )
    if gold.questions and gold.per_survey > len(gold.questions):
        yield (
            (*path, "per_survey"),
            f"`checks.gold.per_survey` is {gold.per_survey}, and only {len(gold.questions)} gold questions are listed. "
            "List more, or ask fewer.",
        )


def _check_numbers(design: Design, checks: QualityChecks) -> Iterator[tuple[Path, str]]:
    size = design.surveys.size
    repeats = 0 if checks.repeat is None else checks.repeat.per_survey
    if repeats > size:
        yield (
            ("checks", "repeat", "per_survey"),
            f"`checks.repeat.per_survey` is {repeats}, more than the questions of a survey: `surveys.size` is {size}. "
            "Lower it.",
        )
        return
    number = design.checks_per_survey
    if number > size // MOST_CHECKS:
        yield (
            ("checks",),
            f"There are {number} checks in a survey of {size} questions; at most half as many as questions are "
            "possible. Ask fewer checks, or make surveys larger (`surveys.size`).",
        )
