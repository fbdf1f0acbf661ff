"""The sentence of each card of a report. Each is made from the exact cells of the tables below it.

So that no sentence says another number than its table. A sentence says so if there is nothing to say yet. It has at
most 25 words besides the names of studies, models and labels. What is said of several things has a line for each.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from analytics.position_bias import LEVEL
from results.reports.base import Cell, Shown, Table, Undefined
from results.reports.explorer_links import ALL
from results.reports.labels import AC1, PERCENT, short_kappa_paradox_note
from results.reports.sections.funnel import DATASET_SETTLED, settled_title
from results.reports.sentence_parts import (
    Row,
    count_text,
    first_row,
    interval_text,
    is_number,
    join_first,
    join_names,
    kind_of,
    name_of,
    name_rows,
    number_of,
    rows_of,
)
from results.reports.text import cell_text, p_text, percent
from studies.wording import format_money

# The coefficients that a sentence may name, the most general first.
COEFFICIENTS = (
    "Krippendorff's alpha (interval)",
    "Krippendorff's alpha (ordinal)",
    "Krippendorff's alpha",
    "Fleiss' kappa",
    "Cohen's kappa",
    AC1,
    PERCENT,
)
EFFECT = "Cohen's w"
# Further kinds of a study are in the table only.
MOST_KINDS_NAMED = 2


def say_dataset(funnel: Table, dataset: Table) -> str:
    """How many imported instances, or parts of them, are in the dataset."""
    imported = first_row(rows_of(funnel), Study="imported", Type=ALL)
    kept = first_row(rows_of(dataset), Type=ALL, Subtype=ALL)
    if not imported:
        return "No instances have been imported."
    n = count_text(imported["Instances asked"], "instance")
    if not kept:
        return f"{n}; no study has been launched yet."
    if not dataset.rests_on:
        return f"No study is chosen as the dataset, so it contains {_all(n)}."
    unit = "items" if "Items" in kept else "instances"
    decided = " and ".join(dataset.rests_on)
    chosen = _settled(kept[unit.capitalize()], kept.get(DATASET_SETTLED))
    accepted = f"{cell_text(kept[unit.capitalize()], 'count')} {unit} that {decided} accepted"
    return f"The dataset has {accepted}{chosen}, from {n} of the project."


def _all(n: str) -> str:
    return f"the {n}" if n.startswith("1 ") else f"all {n}"


def say_decisions(table: Table) -> str:
    """How many instances of a study have which outcome."""
    row = first_row(rows_of(table), Type=ALL)
    if not row:
        return "No question has been asked yet."
    unit = "Items asked" if "Items asked" in row else "Instances asked"
    outcomes = ("Collected", "Accepted", "Rejected", "Agreed", "Conflicting")
    said = [
        f"{cell_text(row[name], 'count')} {name.lower()}{_settled(row[name], row.get(settled_title(name)))}"
        for name in outcomes
        if row.get(name) is not None
    ]
    if undone := row.get("Undone"):
        said.append(f"{cell_text(undone, 'count')} undone")
    undecided = cell_text(row.get("Undecided"), "count")
    asked = count_text(row[unit], unit.split()[0].lower().removesuffix("s"))
    return f"Of {asked}: {', '.join(said)}, {undecided or '0'} undecided so far."


def _settled(of: Cell, settled: Cell) -> str:
    """Return ", 17 of them settled by a researcher" if so many of these items are settled, "" for none."""
    if not settled:
        return ""
    among = "" if of == 1 else "all of them " if settled == of else f"{cell_text(settled, 'count')} of them "
    return f", {among}settled by a researcher"


def say_protocol(table: Table) -> str:
    """Which studies there are, in the order of the pipeline."""
    rows = rows_of(table)
    kinds = [[kind_of(name) for name in str(row["Kinds"]).split(", ")] for row in rows]
    said = [(row, join_first(names, MOST_KINDS_NAMED, "kind")) for row, names in zip(rows, kinds, strict=True)]
    if len(said) == 1:
        return f"1 study: {rows[0]['Study']} ({said[0][1]})."
    return name_rows(said, "Study") if said else "No study has been launched yet."


def say_agreement(reliability: Table) -> str:
    """The most general coefficient of each study, kind and set of labels, over the answers asked of every question.

    Gwet's AC1 instead where the table says that nearly all answers are the same, so that the others are low.
    """
    rows = [row for row in rows_of(reliability) if row["Filtering"] == "before"]
    rows = [row for row in rows if not str(row["Answers used"]).startswith("added")]
    said = []
    for about in dict.fromkeys((row["Study"], row["Kind"], row["Labels"]) for row in rows):
        alike = [row for row in rows if (row["Study"], row["Kind"], row["Labels"]) == about and is_number(row["Value"])]
        best = next((row for name in COEFFICIENTS for row in alike if row["Measure"] == name), None)
        best = best or next(iter(alike), None)
        if best is not None:
            said.append((best, _agreement(best, alike)))
    if said:
        return name_rows(said, "Study", "Kind", "Labels")
    reason = next((row["Value"].reason for row in rows if isinstance(row["Value"], Undefined)), "")
    return reason or "No question has several answers yet, so agreement cannot be measured."


def _agreement(best: Row, alike: Iterable[Row]) -> str:
    """Return the coefficient of `best`, or AC1 among `alike` rows if the table says why `best` is low."""
    low = short_kappa_paradox_note(str(best["Remark"]))
    ac1 = first_row(alike, Measure=AC1)
    if not low or ac1 is None:
        return _coefficient(best)
    return f"{_coefficient(ac1)}. {best['Measure']} is {cell_text(best['Value'], 'coefficient')}, {low}"


def _coefficient(row: Row) -> str:
    shown: Shown = "share" if row["Measure"] == PERCENT else "coefficient"
    value = cell_text(row["Value"], "coefficient") if shown == "coefficient" else percent(number_of(row["Value"]))
    interval = interval_text(row["95 % interval over questions"], shown)
    sample = f"{count_text(row['People'], 'person')}, {count_text(row['Questions'], 'question')}"
    return f"{row['Measure']} is {value} ({interval}{sample})"


def say_rates(table: Table) -> str:
    """How often each option that is always offered, and the right one, was chosen."""
    rows = [row for row in rows_of(table) if row["Type"] == ALL]
    said = []
    for row in rows:
        option = "the right option" if row["Answer"] == "right" else row["Answer"]
        said.append((row, f"{option} in {share_text(row['Share'], row['95 % interval'], row['Answers'])}"))
    return name_rows(said, "Kind") if said else "Nobody has answered yet."


def say_ratings(table: Table) -> str:
    """The mean rating of each thing that was rated."""
    said = []
    for row in rows_of(table):
        if row["Type"] == ALL and row["Step"] == ALL and is_number(row["Mean"]):
            about = ", ".join(name_of(title, row) for title in ("Image role", "What was asked") if row[title])
            sample = f"{count_text(row['Answers'], 'answer')}, {count_text(row['People'], 'person')}"
            interval = interval_text(row["95 % interval"], "coefficient")
            mean = f"mean {cell_text(row['Mean'], 'coefficient')} on the scale {row['Scale']} ({interval}{sample})"
            said.append((row, f"{about}: {mean}" if about else mean))
    return name_rows(said, "Study", "Kind") if said else "Nobody has rated anything yet."


def say_units(table: Table) -> str:
    """The most frequent answer to each thing that was asked at once."""
    said = []
    for rows in _group_rows(rows_of(table), "Study", "Kind", "What was asked"):
        most = max(number_of(row["Times"]) for row in rows)
        answers = [row for row in rows if number_of(row["Times"]) == most]
        words = join_names([str(row["Answer"]) for row in answers])
        share = share_text(answers[0]["Share"], answers[0]["95 % interval"], answers[0]["Answers"])
        each = "each " if len(answers) > 1 else ""
        said.append((rows[0], f"{name_of('What was asked', rows[0])}: most often {words}, {each}{share}"))
    return name_rows(said, "Study", "Kind") if said else "Nobody has answered yet."


def say_preferences(table: Table) -> str:
    """The image that ranks first by each criterion."""
    said = []
    for rows in _group_rows(rows_of(table), "Study", "Kind", "Criterion"):
        first = [name_of("Image", row) for row in rows if row["Rank"] == 1]
        total = first_row(rows, Image=ALL)
        if first and total is not None:
            n = count_text(total["Comparisons"], "comparison")
            verb = "rank first equally" if len(first) > 1 else "ranks first"
            said.append((rows[0], f"{name_of('Criterion', rows[0])}: {join_names(first)} {verb} ({n})"))
    return name_rows(said, "Study", "Kind") if said else "There are too few comparisons to rank the images yet."


def say_descriptions(table: Table) -> str:
    """How many descriptions were accepted and rejected, are conflicting and undecided."""
    said = []
    for row in rows_of(table):
        if row["Sets"] == ALL:
            ended = f"{_verb(row['Accepted'], 'was', 'were')} accepted, {cell_text(row['Rejected'], 'count')} rejected"
            unclear = f"{_verb(row['Conflicting'], 'is', 'are')} conflicting"
            unclear += f" and {cell_text(row['Undecided'], 'count')} undecided"
            said.append((row, f"Of {count_text(row['Written'], 'description')}, {ended}, {unclear}"))
    return name_rows(said, "Study") if said else "Nobody has been asked about descriptions yet."


def _verb(n: Cell, one: str, several: str) -> str:
    return f"{cell_text(n, 'count')} {one if n == 1 else several}"


def say_retrieval(table: Table) -> str:
    """How often people find the image that a description is about, on average over people."""
    said = []
    for row in rows_of(table):
        whole = row["Averaged over"] == "retrievers" and row["Descriptions of"] == ALL and row["Answers used"] == "all"
        if whole and is_number(row["Accuracy"]):
            sample = f"{count_text(row['People'], 'person')}, {count_text(row['Descriptions'], 'description')}"
            share, interval = percent(number_of(row["Accuracy"])), interval_text(row["95 % interval"])
            found = f"On average, people find the described image in {share} of their answers"
            said.append((row, f"{found} ({interval}{sample})"))
    return name_rows(said, "Study") if said else "Nobody has looked for a described image yet."


def say_language(tables: Sequence[Table]) -> str:
    """How long the texts are, from the first of `tables` that has texts."""
    for table in tables:
        row = next((row for row in rows_of(table) if is_number(row["Mean length"])), None)
        if row is not None:
            length, sentences = (cell_text(row[name], "coefficient") for name in ("Mean length", "Mean sentences"))
            about = f"{row['Study']}: " if len({each.get("Study") for each in rows_of(table)}) > 1 else ""
            which = str(row.get("Descriptions", "imported or accepted"))
            texts = f"{count_text(row['Texts'], 'text')} {which}"
            return f"{about}{texts}, with {length} tokens and {sentences} sentences on average."
    return "There are no texts yet."


def say_writers(table: Table) -> str:
    """How many people wrote, and how often others find what the texts are about."""
    rows = rows_of(table)
    together = first_row(rows, Writer=ALL)
    if together is None:
        return "Nobody has written a text yet."
    wrote = f"{count_text(len(rows) - 1, 'person')} wrote {count_text(together['Texts'], 'text')}"
    if not is_number(together["Found"]):
        return f"{wrote}; nobody has looked for what they are about yet."
    share, n = percent(number_of(together["Found"])), count_text(together["Answers of others"], "answer")
    return f"{wrote}. On average over writers, others find what they are about in {share} of answers ({n} in all)."


def say_writing_process(table: Table) -> str:
    """In how many pairs of a found and a not found text the found one took more keys."""
    keys = first_row(rows_of(table), Measure="Keys")
    if keys is None or not is_number(value := keys["Probability of superiority"]):
        return "There are not yet recorded texts of both kinds, found and not found, to compare."
    numbers = " and ".join(count_text(keys[f"{group}: texts"], "text") for group in ("Found", "Not found"))
    limits = interval_text(keys["95 % interval"])
    return (
        f"Found texts took more keys than not found ones in {percent(number_of(value))} of pairs ({limits}{numbers})."
    )


def say_positions(table: Table) -> str:
    """Whether one position was chosen more often than by chance; by kind of question."""
    rows = rows_of(table)
    said = []
    for row in rows:
        if row["Position"] == ALL:
            places = [each for each in rows if each["Kind"] == row["Kind"] and each["Position"] != ALL]
            said.append((row, _position(row, places)))
    return name_rows(said, "Kind") if said else "Nobody has answered yet."


def _position(row: Row, places: Sequence[Row]) -> str:
    p, n = row["p"], count_text(row["Times chosen"], "answer")
    if isinstance(p, Undefined):
        return f"No test yet: {p.reason.removesuffix('.')}"
    tested = p_text(p)
    if number_of(p) >= LEVEL:
        return f"There is no sign of position bias ({n}, {tested})"
    most = max(places, key=lambda each: number_of(each["Times chosen"]) - number_of(each["Expected"]))
    chosen, expected = cell_text(most["Times chosen"], "count"), cell_text(most["Expected"], "coefficient")
    said = f"Position {most['Position']} was chosen {chosen} times where {expected} are expected"
    return f"{said} ({n}, {tested}, Cohen's w {cell_text(row[EFFECT], 'coefficient')})"


def say_times(table: Table) -> str:
    """The median time of a question, by kind."""
    said = []
    for row in rows_of(table):
        median = row["Median (s)"]
        if not isinstance(median, Undefined):
            middle = "–".join(cell_text(row[name], "coefficient") for name in ("25 % (s)", "75 % (s)"))
            n = count_text(row["Answers timed"], "answer")
            said.append((row, f"The median is {cell_text(median, 'coefficient')} s (middle half {middle} s, {n})"))
    return name_rows(said, "Kind") if said else "No time has been measured yet."


def say_cost(table: Table) -> str:
    """What was spent by currency, and the lowest median wage of a study."""
    rows = rows_of(table)
    by_currency: dict[str, Decimal] = {}
    for row in rows:
        cost, currency = row["Cost without fees"], str(row["Currency"])
        by_currency[currency] = by_currency.get(currency, Decimal(0)) + Decimal(str(cost))
    spent = " and ".join(format_money(cost, currency) for currency, cost in by_currency.items())
    said = [f"{spent} for {count_text(len(rows), 'study')}, without fees." if rows else "Nothing has been paid yet."]
    wages = [row for row in rows if is_number(row["Hourly wage, median"])]
    for currency in dict.fromkeys(str(row["Currency"]) for row in wages):
        of_currency = [row for row in wages if row["Currency"] == currency]
        lowest = min(of_currency, key=lambda row: number_of(row["Hourly wage, median"]))
        wage = f"{format_money(number_of(lowest['Hourly wage, median']), currency)} an hour"
        which = f"The lowest median wage is {wage}, in {lowest['Study']}"
        alone = f"The median wage is {wage}"
        said.append(f"{which if len(of_currency) > 1 else alone} ({count_text(lowest['Sessions timed'], 'session')}).")
    unpaid = sum(row["Pay per session"] == row["Pay per answer"] == 0 for row in rows)
    if unpaid and unpaid < len(rows):
        said.append(f"{_verb(unpaid, 'study pays', 'studies pay')} nothing, so no wage is computed there.")
    return " ".join(said)


def share_text(share: Cell, interval: Cell, n: Cell) -> str:
    """Return "12.3 % (95 % CI 8.1–17.9; 204 answers)"."""
    if not is_number(share):
        return "no answers"
    return f"{percent(number_of(share))} ({interval_text(interval)}{count_text(n, 'answer')})"


def _group_rows(rows: Iterable[Row], *titles: str) -> list[list[Row]]:
    """Return the rows in groups with the same cells under `titles`, in order."""
    groups: dict[tuple[Cell, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[title] for title in titles), []).append(row)
    return list(groups.values())
