"""The sentence of each card of a report. Each is made from the exact cells of the tables below it.

So that no sentence says another number than its table. A sentence says so if there is nothing to say yet.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from analytics.position_bias import LEVEL
from results.reports.base import Cell, Range, Shown, Table, Undefined
from results.reports.explorer_links import ALL
from results.reports.labels import AC1, PERCENT, short_kappa_paradox_note
from results.reports.sections.funnel import DATASET_SETTLED, settled_title
from results.reports.sections.scores import CHANCE_OF_MODELS, CHANCE_OF_PEOPLE, CHANCE_ROW, HUMANS
from results.reports.text import cell_text, percent, percent_range, range_text
from studies.kinds import KINDS, get_kind
from studies.wording import format_money

Row = Mapping[str, Cell]
# What a score counts, by its name; other scores count questions.
COUNTED_BY: Mapping[str, str] = {
    "Group": "groups",
    "I2T": "instances with both captions",
    "T2I": "instances with both images",
}
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
# A wider interval of a share is explained if fewer people answered.
WIDE, FEW_PEOPLE = 0.3, 10
COULD_REPLACE = "Could replace an annotator"
# Further parts are in the table only.
MOST_NAMED = 3
# A difference with a larger p-value is not called one.
SIGNIFICANT = 0.05


def rows_of(table: Table) -> list[Row]:
    """Return the rows of `table`, each as title of the column -> cell."""
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def say_dataset(funnel: Table, dataset: Table) -> str:
    """How many imported instances, or parts of them, are in the dataset."""
    imported = _first(rows_of(funnel), Study="imported", Type=ALL)
    kept = _first(rows_of(dataset), Type=ALL, Subtype=ALL)
    if not imported:
        return "No instances have been imported."
    n = _count(imported["Instances asked"], "imported instance")
    if not kept:
        return f"{n}; no study has been launched yet."
    if not dataset.rests_on:
        return f"No study is chosen as the dataset, so it contains {_all(n)}."
    unit = "items" if "Items" in kept else "instances"
    decided = " and ".join(dataset.rests_on)
    chosen = _settled(kept[unit.capitalize()], kept.get(DATASET_SETTLED))
    accepted = f"{_text(kept[unit.capitalize()], 'count')} {unit} that {decided} accepted"
    return f"The dataset has {accepted}{chosen}, from {n}."


def _all(n: str) -> str:
    return f"the {n}" if n.startswith("1 ") else f"all {n}"


def say_decisions(table: Table) -> str:
    """How many instances of a study have which outcome."""
    row = _first(rows_of(table), Type=ALL)
    if not row:
        return "No question has been asked yet."
    unit = "Items asked" if "Items asked" in row else "Instances asked"
    outcomes = ("Collected", "Accepted", "Rejected", "Agreed", "Conflicting")
    said = [
        f"{_text(row[name], 'count')} {name.lower()}{_settled(row[name], row.get(settled_title(name)))}"
        for name in outcomes
        if row.get(name) is not None
    ]
    if undone := row.get("Undone"):
        said.append(f"{_text(undone, 'count')} undone")
    undecided = _text(row.get("Undecided"), "count")
    asked = _count(row[unit], unit.split()[0].lower().removesuffix("s"))
    return f"Of {asked}: {', '.join(said)}, {undecided or '0'} undecided so far."


def _settled(of: Cell, settled: Cell) -> str:
    """Return ", 17 of them settled by a researcher" if so many of these items are settled, "" for none."""
    if not settled:
        return ""
    among = "" if of == 1 else "all of them " if settled == of else f"{_text(settled, 'count')} of them "
    return f", {among}settled by a researcher"


def say_protocol(table: Table) -> str:
    """Which studies there are, in the order of the pipeline."""
    rows = rows_of(table)
    kinds = [_join_names([_kind(name) for name in str(row["Kinds"]).split(", ")]) for row in rows]
    named = [f"{row['Study']} ({asked})" for row, asked in zip(rows[:MOST_NAMED], kinds, strict=False)]
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    return (
        f"{_count(len(rows), 'study')}: {', then '.join(named)}{more}." if rows else "No study has been launched yet."
    )


def say_agreement(reliability: Table) -> str:
    """The most general coefficient of each study, kind and set of labels, over the answers asked of every question.

    Gwet's AC1 instead where the table says that nearly all answers are the same, so that the others are low.
    """
    rows = [row for row in rows_of(reliability) if row["Filtering"] == "before"]
    rows = [row for row in rows if not str(row["Answers used"]).startswith("added")]
    said = []
    for about in dict.fromkeys((row["Study"], row["Kind"], row["Labels"]) for row in rows):
        alike = [
            row for row in rows if (row["Study"], row["Kind"], row["Labels"]) == about and _is_number(row["Value"])
        ]
        best = next((row for name in COEFFICIENTS for row in alike if row["Measure"] == name), None)
        best = best or next(iter(alike), None)
        if best is not None:
            said.append((best, _agreement(best, alike)))
    if said:
        return _name_rows(said, "Study", "Kind", "Labels")
    reason = next((row["Value"].reason for row in rows if isinstance(row["Value"], Undefined)), "")
    return reason or "No question has several answers yet, so agreement cannot be measured."


def _agreement(best: Row, alike: Iterable[Row]) -> str:
    """Return the coefficient of `best`, or AC1 among `alike` rows if the table says why `best` is low."""
    low = short_kappa_paradox_note(str(best["Remark"]))
    ac1 = _first(alike, Measure=AC1)
    if not low or ac1 is None:
        return _coefficient(best)
    return f"{_coefficient(ac1)}, and {best['Measure']} is {_text(best['Value'], 'coefficient')}, {low}"


def _coefficient(row: Row) -> str:
    shown: Shown = "share" if row["Measure"] == PERCENT else "coefficient"
    value = _text(row["Value"], "coefficient") if shown == "coefficient" else percent(_number(row["Value"]))
    interval = _interval(row["95 % interval over questions"], shown)
    sample = f"{_count(row['People'], 'person')}, {_count(row['Questions'], 'question')}"
    return f"{row['Measure']} is {value} ({interval}{sample})"


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
        group = _first(people, Score="Group")
        for row in [group] if group else people:
            words = _people_and_best_model(row, of_study, [one for one in rows_of(compact) if one["Study"] == study])
            gone = left.get((str(study), str(row["Score"])), 0)
            out = f". {gone:,} of the {_count(row['Instances'], 'instance')} {'is' if gone == 1 else 'are'}"
            said.append((row, f"{words}{out} no longer in the dataset" if gone else words))
    return (
        _name_rows(said, "Study", "Score") if said else "Nobody has answered a question with a known right answer yet."
    )


def _people_and_best_model(people: Row, rows: Iterable[Row], compact: Iterable[Row]) -> str:
    score, value = str(people["Score"]), people["Value"]
    if isinstance(value, Undefined):
        return f"No score of people yet: {value.reason.removesuffix('.')}"
    unit = str(people["Unit"])
    units = "Instances" if unit == "instance" else "Questions"
    counts = [("Instances", "instance")] if unit == "instance" else []
    counts = [("People", "person"), *counts, ("Questions", "question"), ("Answers", "answer")]
    interval = _interval(people["95 % interval"])
    if _is_wide(people["95 % interval"]) and _number(people["People"]) < FEW_PEOPLE:
        counts = counts[1:]
        interval = interval.replace("; ", f", wide because of only {_count(people['People'], 'person')}; ")
    sample = ", ".join(_count(people[title], each) for title, each in counts)
    in_brackets = f"({interval}{sample})"
    # Answers of kinds with their own score can be partly right.
    verb, what = (
        ("score", "") if score.startswith("Score") else ("get", f" of {COUNTED_BY.get(score, 'questions')} right")
    )
    said = [f"Humans {verb} {percent(_number(value))}{what} {in_brackets}"]
    models = [row for row in rows if row["Who"] != HUMANS and row["Score"] == score]
    best = _best(models, "Who", "Value", units, unit)
    said += [f"On the same questions, {best}"] if best else []
    chance = {row["Who"]: percent(_number(row[score])) for row in compact if _is_number(row.get(score))}
    said += [f"Chance is {chance[who]}" for who in (CHANCE_ROW, CHANCE_OF_PEOPLE) if who in chance]
    if CHANCE_OF_PEOPLE in chance and CHANCE_OF_MODELS in chance:
        said[-1] += f" for people, who answer each question separately, and {chance[CHANCE_OF_MODELS]} for models"
    return ". ".join(said)


def _best(rows: Iterable[Row], name: str, value: str, n: str, unit: str, of: int | None = None) -> str:
    """Return which models are best among those with the most answers, or "" without a model.

    of: how many they could have answered; None if they answered all.
    """
    known = [row for row in rows if _is_number(row[value])]
    most = max((_number(row[n]) for row in known), default=0)
    compared = [row for row in known if _number(row[n]) == most]
    if not compared:
        return ""
    best = max(_number(row[value]) for row in compared)
    names = [str(row[name]) for row in compared if _number(row[value]) == best]
    which = (
        f"the best of {len(compared)} models, {_join_names(names)}," if len(compared) > 1 else f"the model {names[0]}"
    )
    verb = "get" if len(names) > 1 else "gets"
    answered = _count(int(most), unit) if of in (None, most) else f"{int(most):,} of the {_count(of, unit)}"
    return f"{which} {verb} {percent(best)} ({answered})"


def say_models(models: Table, captions: Table, dataset: int) -> str:
    """The best model on the dataset by Group, or else by the captions that it chose among all imported ones.

    dataset: the number of its instances.
    """
    by_group = [row for row in rows_of(models) if row["Type"] == ALL and row["Subtype"] == ALL]
    by_caption = [row for row in rows_of(captions) if row["Type"] == ALL and row["Subtype"] == ALL]
    for rows, score, what, of in (
        (by_group, "Group", "By groups right on the dataset, whether or not people answered", dataset),
        (by_caption, "Accuracy", "By captions right on imported instances", None),
    ):
        best = _best(rows, "Model", score, "Instances", "instance", of)
        if best:
            return f"{what}, {best}."
    return "No model has answered all questions about an instance of the dataset yet."


def say_comparison(table: Table) -> str:
    """The difference between people and the model closest to them, by study: for Group, or else for each score."""
    rows = [row for row in rows_of(table) if _is_number(row["People minus model"])]
    said = []
    for about in dict.fromkeys((row["Study"], row["Score"]) for row in rows):
        of_study = [row for row in rows if row["Study"] == about[0]]
        if about[1] != "Group" and any(row["Score"] == "Group" for row in of_study):
            continue
        of_score = [row for row in of_study if row["Score"] == about[1]]
        closest = min(of_score, key=lambda row: _number(row["People minus model"]))
        said.append((closest, _difference(closest, len(of_score))))
    return (
        _name_rows(said, "Study", "Score") if said else "No model has answered the questions that people answered yet."
    )


def _difference(closest: Row, models: int) -> str:
    points = percent(abs(_number(closest["People minus model"]))).removesuffix(" %")
    better = "better" if _number(closest["People minus model"]) > 0 else "worse"
    far = "as good as" if points == "0.0" else f"{points} percentage points {better} than"
    which = f"the best of {models} models" if models > 1 else "the model"
    p = closest["p (Holm)"]
    people, model = (percent(_number(closest[name])) for name in ("People right", "Model right"))
    sample = f"{_count(closest['People'], 'person')}, {_count(closest['Instances'], 'instance')}"
    shares = (
        f"On average over people, they get {people} and the model {model} right "
        f"({sample}, each counted once per person)"
    )
    tested = f" (p = {_text(p, 'p')} after Holm's correction)".replace("= <", "<") if _is_number(p) else ""
    if _is_number(p) and _number(p) >= SIGNIFICANT and points != "0.0":
        return (
            f"No clear difference between people and {which}, {closest['Model']}, on the same instances. "
            f"People are {points} percentage points {better}, which may be chance{tested}. {shares}"
        )
    return f"People are {far} {which}, {closest['Model']}, on the same instances{tested}. {shares}"


def say_disagreement(table: Table) -> str:
    """On how many questions one side is right and the other wrong."""
    rows = [row for row in rows_of(table) if row["Type"] == ALL]
    counts = [title for title in (column.title for column in table.columns) if title.endswith(": questions")]
    people, models = (sum(int(_number(row[title])) for row in rows) for title in counts)
    return (
        f"People are right and every model is wrong on {_count(people, 'question')}; "
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
        who = _join_names(names) if names else "no model"
        said.append(f"By the alternative annotator test on {tested[0]['Score']}, {who} could replace an annotator.")
    estimates = [row for table in powered for row in rows_of(table) if _is_number(row["Estimate"])]
    sound = _by_main_score([row for row in estimates if isinstance(row["95 % interval"], Range)])
    if sound:
        share = percent(_number(sound[0]["Estimate"]))
        interval = _interval(sound[0]["95 % interval"]).removesuffix("; ")
        n = sum(int(_number(sound[0][name])) for name in ("Instances people answered", "Further instances"))
        which = "dataset" if n == dataset else f"{_count(n, 'instance')} that it answered"
        estimate = f"people would get about {share} of the {which} right ({interval})"
        said.append(f"By {sound[0]['Score']} and the predictions of {sound[0]['Model']}, {estimate}.")
        if n != dataset:
            said.append(f"The dataset has {_count(dataset, 'instance')}.")
    return " ".join(said) or "There are too few shared answers to estimate anything yet."


def _by_main_score(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the group score, or else of the first score."""
    main = "Group" if any(row["Score"] == "Group" for row in rows) else next((row["Score"] for row in rows), None)
    return [row for row in rows if row["Score"] == main]


def say_rates(table: Table) -> str:
    """How often each option that is always offered, and the right one, was chosen."""
    rows = [row for row in rows_of(table) if row["Type"] == ALL]
    said = []
    for row in rows:
        option = "the right option" if row["Answer"] == "right" else row["Answer"]
        said.append((row, f"{option} in {_share(row['Share'], row['95 % interval'], row['Answers'])}"))
    return _name_rows(said, "Kind") if said else "Nobody has answered yet."


def say_ratings(table: Table) -> str:
    """The mean rating of each thing that was rated."""
    said = []
    for row in rows_of(table):
        if row["Type"] == ALL and row["Step"] == ALL and _is_number(row["Mean"]):
            about = ", ".join(_name(title, row) for title in ("Image role", "What was asked") if row[title])
            sample = f"{_count(row['Answers'], 'answer')}, {_count(row['People'], 'person')}"
            interval = _interval(row["95 % interval"], "coefficient")
            mean = f"mean {_text(row['Mean'], 'coefficient')} on the scale {row['Scale']} ({interval}{sample})"
            said.append((row, f"{about}: {mean}" if about else mean))
    return _name_rows(said, "Study", "Kind") if said else "Nobody has rated anything yet."


def say_units(table: Table) -> str:
    """The most frequent answer to each thing that was asked at once."""
    said = []
    for rows in _group_rows(rows_of(table), "Study", "Kind", "What was asked"):
        most = max(_number(row["Times"]) for row in rows)
        answers = [row for row in rows if _number(row["Times"]) == most]
        words = _join_names([str(row["Answer"]) for row in answers])
        share = _share(answers[0]["Share"], answers[0]["95 % interval"], answers[0]["Answers"])
        each = "each " if len(answers) > 1 else ""
        said.append((rows[0], f"{_name('What was asked', rows[0])}: most often {words}, {each}{share}"))
    return _name_rows(said, "Study", "Kind") if said else "Nobody has answered yet."


def say_preferences(table: Table) -> str:
    """The image that ranks first by each criterion."""
    said = []
    for rows in _group_rows(rows_of(table), "Study", "Kind", "Criterion"):
        first = [_name("Image", row) for row in rows if row["Rank"] == 1]
        total = _first(rows, Image=ALL)
        if first and total is not None:
            n = _count(total["Comparisons"], "comparison")
            verb = "rank first equally" if len(first) > 1 else "ranks first"
            said.append((rows[0], f"{_name('Criterion', rows[0])}: {_join_names(first)} {verb} ({n})"))
    return _name_rows(said, "Study", "Kind") if said else "There are too few comparisons to rank the images yet."


def say_descriptions(table: Table) -> str:
    """How many descriptions were accepted and rejected, are conflicting and undecided."""
    said = []
    for row in rows_of(table):
        if row["Sets"] == ALL:
            ended = f"{_verb(row['Accepted'], 'was', 'were')} accepted, {_text(row['Rejected'], 'count')} rejected"
            unclear = f"{_verb(row['Conflicting'], 'is', 'are')} conflicting"
            unclear += f" and {_text(row['Undecided'], 'count')} undecided"
            said.append((row, f"Of {_count(row['Written'], 'description')}, {ended}, {unclear}"))
    return _name_rows(said, "Study") if said else "Nobody has been asked about descriptions yet."


def _verb(n: Cell, one: str, several: str) -> str:
    return f"{_text(n, 'count')} {one if n == 1 else several}"


def say_retrieval(table: Table) -> str:
    """How often people find the image that a description is about, on average over people."""
    said = []
    for row in rows_of(table):
        whole = row["Averaged over"] == "retrievers" and row["Descriptions of"] == ALL and row["Answers used"] == "all"
        if whole and _is_number(row["Accuracy"]):
            sample = f"{_count(row['People'], 'person')}, {_count(row['Descriptions'], 'description')}"
            share, interval = percent(_number(row["Accuracy"])), _interval(row["95 % interval"])
            found = f"On average, people find the described image in {share} of their answers"
            said.append((row, f"{found} ({interval}{sample})"))
    return _name_rows(said, "Study") if said else "Nobody has looked for a described image yet."


def say_language(tables: Sequence[Table]) -> str:
    """How long the texts are, from the first of `tables` that has texts."""
    for table in tables:
        row = next((row for row in rows_of(table) if _is_number(row["Mean length"])), None)
        if row is not None:
            length, sentences = (_text(row[name], "coefficient") for name in ("Mean length", "Mean sentences"))
            about = f"{row['Study']}: " if len({each.get("Study") for each in rows_of(table)}) > 1 else ""
            which = str(row.get("Descriptions", "imported or accepted"))
            texts = f"{_count(row['Texts'], 'text')} {which}"
            return f"{about}{texts}, with {length} tokens and {sentences} sentences on average."
    return "There are no texts yet."


def say_writers(table: Table) -> str:
    """How many people wrote, and how often others find what the texts are about."""
    rows = rows_of(table)
    together = _first(rows, Writer=ALL)
    if together is None:
        return "Nobody has written a text yet."
    wrote = f"{_count(len(rows) - 1, 'person')} wrote {_count(together['Texts'], 'text')}"
    if not _is_number(together["Found"]):
        return f"{wrote}; nobody has looked for what they are about yet."
    share, n = percent(_number(together["Found"])), _count(together["Answers of others"], "answer")
    return f"{wrote}. On average over writers, others find what they are about in {share} of answers ({n} in all)."


def say_positions(table: Table) -> str:
    """Whether one position was chosen more often than by chance; by kind of question."""
    rows = rows_of(table)
    said = []
    for row in rows:
        if row["Position"] == ALL:
            places = [each for each in rows if each["Kind"] == row["Kind"] and each["Position"] != ALL]
            said.append((row, _position(row, places)))
    return _name_rows(said, "Kind") if said else "Nobody has answered yet."


def _position(row: Row, places: Sequence[Row]) -> str:
    p, n = row["p"], _count(row["Times chosen"], "answer")
    if isinstance(p, Undefined):
        return f"No test yet: {p.reason.removesuffix('.')}"
    tested = f"p = {_text(p, 'p')}".replace("= <", "<")
    if _number(p) >= LEVEL:
        return f"There is no sign of position bias ({n}, {tested})"
    most = max(places, key=lambda each: _number(each["Times chosen"]) - _number(each["Expected"]))
    chosen, expected = _text(most["Times chosen"], "count"), _text(most["Expected"], "coefficient")
    said = f"Position {most['Position']} was chosen {chosen} times where {expected} are expected"
    return f"{said} ({n}, {tested}, Cohen's w {_text(row[EFFECT], 'coefficient')})"


def say_times(table: Table) -> str:
    """The median time of a question, by kind."""
    said = []
    for row in rows_of(table):
        median = row["Median (s)"]
        if not isinstance(median, Undefined):
            middle = "–".join(_text(row[name], "coefficient") for name in ("25 % (s)", "75 % (s)"))
            n = _count(row["Answers timed"], "answer")
            said.append((row, f"The median is {_text(median, 'coefficient')} s (middle half {middle} s, {n})"))
    return _name_rows(said, "Kind") if said else "No time has been measured yet."


def say_cost(table: Table) -> str:
    """What was spent by currency, and the lowest median wage of a study."""
    rows = rows_of(table)
    by_currency: dict[str, Decimal] = {}
    for row in rows:
        cost, currency = row["Cost without fees"], str(row["Currency"])
        by_currency[currency] = by_currency.get(currency, Decimal(0)) + Decimal(str(cost))
    spent = " and ".join(format_money(cost, currency) for currency, cost in by_currency.items())
    said = [f"{spent} for {_count(len(rows), 'study')}, without fees." if rows else "Nothing has been paid yet."]
    wages = [row for row in rows if _is_number(row["Hourly wage, median"])]
    for currency in dict.fromkeys(str(row["Currency"]) for row in wages):
        of_currency = [row for row in wages if row["Currency"] == currency]
        lowest = min(of_currency, key=lambda row: _number(row["Hourly wage, median"]))
        wage = f"{format_money(_number(lowest['Hourly wage, median']), currency)} an hour"
        which = f"The lowest median wage is {wage}, in {lowest['Study']}"
        alone = f"The median wage is {wage}"
        said.append(f"{which if len(of_currency) > 1 else alone} ({_count(lowest['Sessions timed'], 'session')}).")
    unpaid = sum(row["Pay per session"] == row["Pay per answer"] == 0 for row in rows)
    if unpaid and unpaid < len(rows):
        said.append(f"{_verb(unpaid, 'study pays', 'studies pay')} nothing, so no wage is computed there.")
    return " ".join(said)


def _share(share: Cell, interval: Cell, n: Cell) -> str:
    """Return "12.3 % (95 % CI 8.1–17.9; 204 answers)"."""
    return (
        f"{percent(_number(share))} ({_interval(interval)}{_count(n, 'answer')})" if _is_number(share) else "no answers"
    )


def _is_wide(found: Cell) -> bool:
    return isinstance(found, Range) and found.high - found.low > WIDE


def _interval(found: Cell, shown: Shown = "share") -> str:
    """Return "95 % CI 84.1–89.2; ", or nothing without an interval."""
    if not isinstance(found, Range):
        return ""
    ends = percent_range(found.low, found.high) if shown == "share" else range_text(found.low, found.high, shown)
    return f"95 % CI {ends}; "


_PLURALS = {"person": "people", "study": "studies"}


def _count(n: Cell, unit: str) -> str:
    return f"{_text(n, 'count')} {unit if n == 1 else _PLURALS.get(unit, f'{unit}s')}"


def _text(cell: Cell, shown: Shown) -> str:
    return cell_text(cell, shown)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float | Decimal)


def _number(cell: Cell) -> float:
    """Return a cell that is a number. Raises TypeError for others."""
    if not isinstance(cell, int | float | Decimal):
        raise TypeError(cell)
    return float(cell)


def _name_rows(said: Sequence[tuple[Row, str]], *titles: str) -> str:
    """Return the sentences about the first rows, each after the cells that distinguish it from the others."""
    rows = [row for row, _ in said]
    parts = [(_name_row(row, rows, titles), words) for row, words in said[:MOST_NAMED]]
    more = f" The table has {len(said) - MOST_NAMED} more." if len(said) > MOST_NAMED else ""
    return _join_parts([f"{names}: {words}" if names else words for names, words in parts]) + more


def _name_row(row: Row, rows: Sequence[Row], titles: Iterable[str]) -> str:
    names: list[str] = []
    for title in titles:
        alike = [each for each in rows if each[title] == row[title]]
        if len(alike) < len(rows):
            name = _name(title, row)
            names.append(name if names or title != "Kind" else f"{name[:1].upper()}{name[1:]}")
        rows = alike
    return ", ".join(names)


def _name(title: str, row: Row) -> str:
    """Return the cell under `title` as words: kinds by their titles, roles without underscores, and no full stop."""
    name = str(row[title])
    if title == "Kind":
        return _kind(name)
    if title == "Study":
        return name
    parts = name.removesuffix(".").split(": ")
    return ": ".join(part.replace("_", " ") if part.isidentifier() else part for part in parts)


def _kind(name: str) -> str:
    """Return the title of a kind for the middle of a sentence."""
    title = get_kind(name).title if name in KINDS else name
    return f"{title[:1].lower()}{title[1:]}"


def _group_rows(rows: Iterable[Row], *titles: str) -> list[list[Row]]:
    """Return the rows in groups with the same cells under `titles`, in order."""
    groups: dict[tuple[Cell, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[title] for title in titles), []).append(row)
    return list(groups.values())


def _join_parts(parts: Sequence[str]) -> str:
    return f"{'; '.join(parts)}."


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def _first(rows: Iterable[Row], **wanted: Cell) -> Row | None:
    return next((row for row in rows if all(row.get(name) == value for name, value in wanted.items())), None)
