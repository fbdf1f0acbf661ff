"""The sentences of cards about scores of people and models, as in `results.reports.sentences`."""

from collections.abc import Iterable, Mapping, Sequence

from results.reports.base import Cell, Range, Table, Undefined
from results.reports.explorer_links import ALL
from results.reports.sections.scores import CHANCE_OF_MODELS, CHANCE_OF_PEOPLE, CHANCE_ROW, HUMANS
from results.reports.sentence_parts import (
    MOST_NAMED,
    Row,
    count_text,
    first_row,
    interval_text,
    is_number,
    join_first,
    name_rows,
    number_of,
    rows_of,
)
from results.reports.text import p_text, percent

# What a score counts, by its name; other scores count questions.
COUNTED_BY: Mapping[str, str] = {
    "Group": "groups",
    "I2T": "instances with both captions",
    "T2I": "instances with both images",
}
# A wider interval of a share is explained if fewer people answered.
WIDE, FEW_PEOPLE = 0.3, 10
COULD_REPLACE = "Could replace an annotator"
# A difference with a larger p-value is not called one.
SIGNIFICANT = 0.05


def say_people(compact: Table, intervals: Table, left: Mapping[tuple[str, str], int]) -> str:
    """The score of people with its interval, of the best model on the same questions, and chance.

    By study: the group score, or else the score of each kind of question. left: (study, score) -> how many of its
    instances have left the dataset.
    """
    rows = rows_of(intervals)
    said = []
    for study in dict.fromkeys(row["Study"] for row in rows):
        of_study = [row for row in rows if row["Study"] == study]
        people = [row for row in of_study if row["Who"] == HUMANS]
        group = first_row(people, Score="Group")
        for row in [group] if group else people:
            words = _people_and_best_model(row, of_study, [one for one in rows_of(compact) if one["Study"] == study])
            gone = left.get((str(study), str(row["Score"])), 0)
            out = f". {gone:,} of the {count_text(row['Instances'], 'instance')} {'is' if gone == 1 else 'are'}"
            said.append((row, f"{words}{out} no longer in the dataset" if gone else words))
    return (
        name_rows(said, "Study", "Score") if said else "Nobody has answered a question with a known right answer yet."
    )


def _people_and_best_model(people: Row, rows: Iterable[Row], compact: Iterable[Row]) -> str:
    score, value = str(people["Score"]), people["Value"]
    if isinstance(value, Undefined):
        return f"No score of people yet: {value.reason.removesuffix('.')}"
    unit = str(people["Unit"])
    units = "Instances" if unit == "instance" else "Questions"
    counts = [("Instances", "instance")] if unit == "instance" else []
    counts = [("People", "person"), *counts, ("Questions", "question"), ("Answers", "answer")]
    interval = interval_text(people["95 % interval"])
    if _is_wide(people["95 % interval"]) and number_of(people["People"]) < FEW_PEOPLE:
        counts = counts[1:]
        interval = interval.replace("; ", f", wide with only {count_text(people['People'], 'person')}; ")
    sample = ", ".join(count_text(people[title], each) for title, each in counts)
    in_brackets = f"({interval}{sample})"
    # Answers of kinds with their own score can be partly right.
    verb, what = (
        ("score", "") if score.startswith("Score") else ("get", f" of {COUNTED_BY.get(score, 'questions')} right")
    )
    said = [f"Humans {verb} {percent(number_of(value))}{what} {in_brackets}"]
    models = [row for row in rows if row["Who"] != HUMANS and row["Score"] == score]
    best = _best(models, "Who", "Value", units, unit)
    said += [f"On the same questions, {best}"] if best else []
    chance = {row["Who"]: percent(number_of(row[score])) for row in compact if is_number(row.get(score))}
    said += [f"Chance is {chance[who]}" for who in (CHANCE_ROW, CHANCE_OF_PEOPLE) if who in chance]
    if CHANCE_OF_PEOPLE in chance and CHANCE_OF_MODELS in chance:
        said[-1] += f" for people, who answer each question separately, and {chance[CHANCE_OF_MODELS]} for models"
    return ". ".join(said)


def _is_wide(found: Cell) -> bool:
    return isinstance(found, Range) and found.high - found.low > WIDE


def _best(
    rows: Iterable[Row], name: str, value: str, n: str, unit: str, of: int | None = None, *, what: str = ""
) -> str:
    """Return which models are best among those with the most answers, or "" without a model.

    of: how many they could have answered; None if they answered all. what: follows the share.
    """
    known = [row for row in rows if is_number(row[value])]
    most = max((number_of(row[n]) for row in known), default=0)
    compared = [row for row in known if number_of(row[n]) == most]
    if not compared:
        return ""
    best = max(number_of(row[value]) for row in compared)
    names = [str(row[name]) for row in compared if number_of(row[value]) == best]
    which = (
        f"the best of {len(compared)} models, {join_first(names, MOST_NAMED, 'model')},"
        if len(compared) > 1
        else f"the model {names[0]}"
    )
    verb = "get" if len(names) > 1 else "gets"
    answered = count_text(int(most), unit) if of in (None, most) else f"{int(most):,} of the {count_text(of, unit)}"
    return f"{which} {verb} {percent(best)}{what} ({answered})"


def say_models(models: Table, captions: Table, dataset: int) -> str:
    """The best model on the dataset by Group, or else by the captions that it chose among all imported ones.

    dataset: the number of its instances.
    """
    by_group = [row for row in rows_of(models) if row["Type"] == ALL and row["Subtype"] == ALL]
    by_caption = [row for row in rows_of(captions) if row["Type"] == ALL and row["Subtype"] == ALL]
    for rows, score, what, unit, of in (
        (by_group, "Group", " of groups right", "instance", dataset),
        (by_caption, "Accuracy", " of captions right", "imported instance", None),
    ):
        best = _best(rows, "Model", score, "Instances", unit, of, what=what)
        if best:
            counted = " Instances count whether or not people answered them." * (rows is by_group)
            return f"{best[:1].upper()}{best[1:]}.{counted}"
    return "No model has answered all questions about an instance of the dataset yet."


def say_comparison(table: Table) -> str:
    """The difference between people and the model closest to them, by study: for Group, or else for each score."""
    rows = [row for row in rows_of(table) if is_number(row["People minus model"])]
    said = []
    for about in dict.fromkeys((row["Study"], row["Score"]) for row in rows):
        of_study = [row for row in rows if row["Study"] == about[0]]
        if about[1] != "Group" and any(row["Score"] == "Group" for row in of_study):
            continue
        of_score = [row for row in of_study if row["Score"] == about[1]]
        closest = min(of_score, key=lambda row: number_of(row["People minus model"]))
        said.append((closest, _difference(closest, len(of_score))))
    return (
        name_rows(said, "Study", "Score") if said else "No model has answered the questions that people answered yet."
    )


def _difference(closest: Row, models: int) -> str:
    points = percent(abs(number_of(closest["People minus model"]))).removesuffix(" %")
    better = "better" if number_of(closest["People minus model"]) > 0 else "worse"
    far = "as good as" if points == "0.0" else f"{points} percentage points {better} than"
    which = f"the best of {models} models" if models > 1 else "the model"
    p = closest["p (Holm)"]
    people, model = (percent(number_of(closest[name])) for name in ("People right", "Model right"))
    sample = f"{count_text(closest['People'], 'person')}, the same {count_text(closest['Instances'], 'instance')}"
    shares = (
        f"On average over people, they get {people} and the model {model} right "
        f"({sample}, each counted once per person)"
    )
    tested = f" ({p_text(p)} after Holm's correction)" if is_number(p) else ""
    if is_number(p) and number_of(p) >= SIGNIFICANT and points != "0.0":
        return (
            f"No clear difference between people and {which}, {closest['Model']}. "
            f"People are {points} percentage points {better}, which may be chance{tested}. {shares}"
        )
    return f"People are {far} {which}, {closest['Model']}{tested}. {shares}"


def say_disagreement(table: Table) -> str:
    """On how many questions one side is right and the other wrong."""
    rows = [row for row in rows_of(table) if row["Type"] == ALL]
    counts = [title for title in (column.title for column in table.columns) if title.endswith(": questions")]
    people, models = (sum(int(number_of(row[title])) for row in rows) for title in counts)
    return (
        f"People are right and every model is wrong on {count_text(people, 'question')}; "
        f"every model is right and people are wrong on {models:,}."
    )


def say_estimates(alternative: Table, powered: Iterable[Table], dataset: int) -> str:
    """Whether a model could replace an annotator, and how well people would do on what models answered of the dataset.

    By the group score, or else by the first one. powered: the table of these estimates, if there is one; estimates
    without an interval are left out. dataset: the number of its instances.
    """
    said = []
    tested = _by_main_score([row for row in rows_of(alternative) if row[COULD_REPLACE]])
    if tested:
        passed = {str(row["Model"]): True for row in tested}
        for row in tested:
            passed[str(row["Model"])] &= row[COULD_REPLACE] == "yes"
        names = [name for name, has_passed in passed.items() if has_passed]
        who = join_first(names, MOST_NAMED, "model") if names else "no model"
        said.append(f"By the alternative annotator test on {tested[0]['Score']}, {who} could replace an annotator.")
    estimates = [row for table in powered for row in rows_of(table) if is_number(row["Estimate"])]
    sound = _by_main_score([row for row in estimates if isinstance(row["95 % interval"], Range)])
    if sound:
        share = percent(number_of(sound[0]["Estimate"]))
        interval = interval_text(sound[0]["95 % interval"]).removesuffix("; ")
        n = sum(int(number_of(sound[0][name])) for name in ("Instances people answered", "Further instances"))
        which = "dataset" if n == dataset else f"{count_text(n, 'instance')} that a model answered"
        said.append(f"By {sound[0]['Score']}, people would get about {share} of the {which} right ({interval}).")
        said.append(f"The estimate uses the predictions of {sound[0]['Model']}.")
        if n != dataset:
            said.append(f"The dataset has {count_text(dataset, 'instance')}.")
    return " ".join(said) or "There are too few shared answers to estimate anything yet."


def _by_main_score(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the group score, or else of the first score."""
    main = "Group" if any(row["Score"] == "Group" for row in rows) else next((row["Score"] for row in rows), None)
    return [row for row in rows if row["Score"] == main]
