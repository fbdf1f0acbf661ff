"""Which counts of questions lead to the instances behind them: those of which a list of the explorer shows just these.
Pure.

What a list shows is told here from the same facts as the count, so that a count whose instances no list shows stays a
count.
"""

from collections.abc import Callable, Iterable, Mapping, Set

from analytics.outcomes import Outcome
from results.reports.base import Listed
from results.reports.explorer_links import ALL, ANSWERED, SEVERAL, in_address, listing
from results.reports.facts import QuestionFacts, StudyFacts
from results.reports.sections.funnel import accepted_of

ACCEPTED, REJECTED = in_address(Outcome.ACCEPTED), in_address(Outcome.REJECTED)
# What lists are asked for -> whether a question is that.
_IS: Mapping[str, Callable[[QuestionFacts], bool]] = {
    ANSWERED: lambda question: question.answers >= 1,
    SEVERAL: lambda question: question.answers >= 2,
    ACCEPTED: lambda question: question.outcome is Outcome.ACCEPTED,
    REJECTED: lambda question: question.outcome is Outcome.REJECTED,
}


def with_question(study: StudyFacts, name: str, *, type: str = ALL) -> Set[int]:
    """Return the instances of a type with a question in `study` that is what `name` says."""
    asked = {question.instance for question in study.questions if _IS[name](question)}
    return asked if type == ALL else {instance for instance in asked if study.categories[instance][0] == type}


def of_questions(
    count: int, about: Iterable[int], study: StudyFacts, name: str, *, type: str = ALL, accepted: bool = False
) -> int:
    """Return a count of the questions of `study` that are what `name` says, about instances of a type; it leads to the
    instances `about` which they are where a list shows just these.

    accepted: whether they are about instances alone that `study` accepted.
    """
    found, shown, state = set(about), with_question(study, name, type=type), ""
    if accepted:
        shown, state = shown & accepted_of(study), ACCEPTED
    if found != shown:
        return count
    query = listing(study=study.slug, category=(type, ALL), state=state, question=name)
    return Listed(count, query, unit="questions", instances=len(found))
