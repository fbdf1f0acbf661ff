"""People, time and cost, on our own clock from arrival to return."""

from collections import Counter
from collections.abc import Sequence

from analytics.work.pay import Wage, hourly_wage, projected_cost
from results.reports.base import Cell, Chart, Column, LinkedCount, Point, Reference, Series, Table, Undefined
from results.reports.explorer_links import NOT_SHOWN, SETTLED, list_query
from results.reports.facts import ProjectFacts, StudyFacts
from results.reports.sections.activity import wages_chart
from studies.wording import format_count

FINISHED, WAITED = "finished", "waited"
# Of wages in a chart of many sessions, so that it has few dots on each other.
WAGE_DIGITS = 1
PAYS_NOTHING = "The study pays nothing."


def cost_table(project: ProjectFacts) -> Table:
    columns = [
        *(Column("Study"), Column("Annotators", "count"), Column("Sessions finished", "count")),
        *(Column("Currency"), Column("Pay per session", "money"), Column("Pay per answer", "money")),
        *(Column("Answers paid", "count"), Column("Cost of sessions", "money"), Column("Cost of answers", "money")),
        *(Column("Cost without fees", "money"), Column("Finished sessions by pay")),
        *(Column("Sessions timed", "count"), Column("Hourly wage, median", "money")),
        Column("Hourly wage, tenth percentile", "money"),
    ]
    rows = [_row(study) for study in project.studies]
    notes = [
        "Hourly wage: pay divided by the time from arrival to return, by this site's clock. Tenth percentile: one "
        "session in ten earned less. Costs exclude platform fees and taxes."
    ]
    if any(len(study.paid_each) > 1 for study in project.studies):
        notes.append(
            "A session that finished with fewer answers than its study file asks for, because no more questions were "
            "left, is paid its share. A session that was stopped early has not finished: the Pay page says what it is "
            "owed."
        )
    if any(map(_undecided, project.studies)):
        notes.append("Undecided: sessions with unlikely times, which are paid nothing until you accept them.")
    if any(study.per_answer for study in project.studies):
        notes.append(
            "Every stored answer is paid, including answers of unfinished sessions and answers that do not count. The "
            "wage of a session includes its own pay and the pay of all its answers."
        )
    waits = sum(study.sessions.get(WAITED, 0) for study in project.studies)
    if waits:
        notes.append(f"Sessions that waited, got no question and are paid, included in the cost: {waits:,}.")
    return Table("cost", "People, pay and cost", columns, rows, notes, [study.slug for study in project.studies])


def _row(study: StudyFacts) -> Sequence[Cell]:
    finished = study.sessions.get(FINISHED, 0)
    pays = study.per_session or study.per_answer
    wage = hourly_wage(study.per_session, study.paid, study.per_answer) if pays else Wage(0, None, None, PAYS_NOTHING)
    of_sessions = study.owed_for_sessions
    of_answers = projected_cost(study.per_answer, study.answers_paid)
    missing = Undefined(wage.reason)
    return (
        *(study.slug, study.annotators, finished),
        *(study.currency, study.per_session, study.per_answer),
        *(study.answers_paid, of_sessions, of_answers, of_sessions + of_answers),
        _paid_each(study),
        wage.n,
        missing if wage.median is None else wage.median,
        missing if wage.tenth_percentile is None else wage.tenth_percentile,
    )


def _paid_each(study: StudyFacts) -> str:
    """Return how many finished sessions are paid which amount, highest first. Example: "4 at 1.00, 1 at 0.50".

    Empty where only answers are paid.
    """
    if not study.per_session:
        return ""
    said = [f"{n:,} at {amount:.2f}" for amount, n in sorted(study.paid_each.items(), reverse=True)]
    undecided = _undecided(study)
    return ", ".join([*said, *([f"{undecided:,} undecided"] if undecided else [])])


def _undecided(study: StudyFacts) -> int:
    """Return the number of finished sessions whose pay is not decided."""
    return study.sessions.get(FINISHED, 0) - sum(study.paid_each.values()) if study.per_session else 0


def cost_chart(study: StudyFacts) -> Chart:
    """Chart the hourly wages of finished sessions, without names, against the site's minimum."""
    wages = sorted(float(paid.hourly(study.per_session, study.per_answer)) for paid in study.paid)
    unnamed = [("", wage) for wage in wages]
    return wages_chart("wages", unnamed, currency=study.currency, minimum=study.minimum_hourly_pay)


def project_wages_chart(studies: Sequence[StudyFacts]) -> Chart:
    """Chart the hourly wages of finished sessions of each study that pays, against the site's minimum.

    Equal wages of a study are one dot. Studies whose currency differs from the first are left out.
    """
    pays = [study for study in studies if study.paid and (study.per_session or study.per_answer)]
    currency = pays[0].currency if pays else ""
    of_one = [study for study in pays if study.currency == currency]
    points, words, low, minimum = [], [], 0, None
    for study in of_one:
        wages = [float(paid.hourly(study.per_session, study.per_answer)) for paid in study.paid]
        rounded = Counter(round(wage, WAGE_DIGITS) for wage in wages)
        points += [Point(study.slug, wage) for wage in sorted(rounded)]
        words.append(f"{study.slug}: {format_count(len(wages), 'session')}, {min(wages):.2f} to {max(wages):.2f}")
        if study.minimum_hourly_pay is not None:
            minimum = study.minimum_hourly_pay
            low += sum(wage < minimum for wage in wages)
    lines = [] if minimum is None else [Reference(f"minimum {minimum:.2f}", float(minimum))]
    described = f"{'; '.join(words)}.{f' {low:,} under the minimum.' if lines else ''}"
    others = [study.slug for study in pays if study.currency != currency]
    note = f"Left out of the chart because of another currency: {', '.join(others)}." if others else ""
    title, axis = "Hourly wage of each session, by study", f"{currency} an hour"
    return Chart("wages", title, described, "dots", "money", axis, [Series("", points)], lines, method=note)


def protocol_table(project: ProjectFacts) -> Table:
    """Describe what each study asked, in pipeline order."""
    columns = [
        *(Column("Study"), Column("Title"), Column("Purpose"), Column("Kinds"), Column("Rule")),
        Column("Takes its instances from"),
        *(
            Column("Answers per question", "count"),
            Column("Double surveys", "count"),
            Column("Questions in double surveys", "count"),
            Column("At most, if undecided", "count"),
            Column("Settled by researchers", "count"),
            Column("Questions skipped", "count"),
        ),
    ]
    rows: list[Sequence[Cell]] = [
        (
            *(study.slug, study.title, study.purpose, ", ".join(study.kinds), study.rule),
            *(study.fed_by or "the import", study.answers_wanted, study.double_surveys, study.asked_twice),
            study.max_answers,
            LinkedCount(
                study.settled,
                list_query(study=study.slug, question=SETTLED),
                unit="questions",
                instances=study.settled_about,
            ),
            LinkedCount(
                study.skipped,
                list_query(study=study.slug, reason=NOT_SHOWN),
                unit="skips",
                instances=study.skipped_about,
            ),
        )
        for study in project.studies
    ]
    notes = [
        "A question is skipped when its images could not be shown; somebody else is asked.",
        people_left_out(project),
    ]
    if any(study.double_surveys for study in project.studies):
        notes.insert(
            0,
            "Double surveys: a second set of people answers them too, to measure agreement, so their questions get "
            "twice the answers per question.",
        )
    return Table("protocol", "The studies, upstream first", columns, rows, notes)


def people_left_out(project: ProjectFacts) -> str:
    """Return a sentence with the number of people whose answers do not count."""
    return (
        f"People who withdrew from the project {project.slug}: {project.withdrawn:,}. People whom researchers "
        f"excluded: {project.excluded:,}. All numbers leave out their answers."
    )
