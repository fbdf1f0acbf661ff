"""Addresses of the list of instances, and counts that link to the instances behind them. Pure.

The list is computed from the same facts as the count. A count whose instances no list shows exactly stays without a
link.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from urllib.parse import urlencode

from analytics.outcomes import Outcome
from results.reports.base import LinkedCount
from results.reports.facts import QuestionFacts, StudyFacts
from studies.rules.collected import Collected

# Instead of a type or subtype: any.
ALL = "all"
# Instead of a type, subtype or split that the source does not name.
NO_NAME = "(none)"
# States of a question: answered by somebody, answered by two or more, adjudicated.
ANSWERED, SEVERAL, SETTLED = "answered", "several", "settled"
# State of a question, beside the reasons of reports: skipped because its images failed.
NOT_SHOWN = "not-shown"
# The number of instances on a page with stored statistics, which may differ from the list by then.
COUNTED = "counted"

# Outcomes whose word on pages differs from that in files and addresses.
OUTCOME_WORDS = {str(Outcome.NONE_YET): "undecided"}
COLLECTED = "collected"


def word_of(outcome: object, rule: str = "") -> str:
    """Return the word for an outcome, in a study with this `rule`. Example: "none yet" is "undecided".

    What a study accepts whatever people answer is "collected".
    """
    if rule == Collected.name and str(outcome) == Outcome.ACCEPTED:
        return COLLECTED
    return OUTCOME_WORDS.get(str(outcome), str(outcome))


def in_address(outcome: Outcome) -> str:
    return outcome.replace(" ", "-")


def category_query(categories: Sequence[tuple[str, str]], *, is_type: bool) -> str:
    """Return the query for the common type of `categories`, or for the category if there is one.

    "" for several types, and for none.
    """
    if len({type for type, _ in categories}) != 1:
        return ""
    type, subtype = (name or NO_NAME for name in categories[0])
    return urlencode({"type": type} if is_type else {"type": type, "subtype": subtype})


def list_query(*, study: str = "", category: tuple[str, str] = (ALL, ALL), **narrowed: str) -> str:
    """Return the query for the instances of `study` ("" for any study), of a type and subtype, with further filters."""
    query = urlencode({name: value for name, value in {"study": study, **narrowed}.items() if value})
    is_type = category[1] == ALL
    where = "" if category == (ALL, ALL) else category_query([category], is_type=is_type)
    return "&".join(filter(None, [query, where]))


def link_of(count: object) -> str:
    """Return the link of a chart's mark with this count, which may be older than the list; "" without a list."""
    if not isinstance(count, LinkedCount) or not count:
        return ""
    return f"?{'&'.join(filter(None, [count.query, f'{COUNTED}={count.instances}']))}"


ACCEPTED, REJECTED = in_address(Outcome.ACCEPTED), in_address(Outcome.REJECTED)
CONFLICTING = in_address(Outcome.CONFLICTING)
# What an address asks of a question -> whether a question fulfils it.
_TESTS: Mapping[str, Callable[[QuestionFacts], bool]] = {
    ANSWERED: lambda question: question.answers >= 1,
    SEVERAL: lambda question: question.answers >= 2,
    ACCEPTED: lambda question: question.outcome is Outcome.ACCEPTED,
    REJECTED: lambda question: question.outcome is Outcome.REJECTED,
    CONFLICTING: lambda question: question.outcome is Outcome.CONFLICTING,
}


def instances_with_question(study: StudyFacts, name: str, *, type: str = ALL) -> Set[int]:
    """Return the instances of a type that have a question of `study` which fulfils `name`."""
    asked = {question.instance for question in study.questions if _TESTS[name](question)}
    return asked if type == ALL else {instance for instance in asked if study.categories[instance][0] == type}


def question_count(
    count: int,
    about: Iterable[int],
    study: StudyFacts,
    name: str,
    *,
    type: str = ALL,
    accepted: Set[int] | None = None,
) -> int:
    """Return `count` questions of `study` that fulfil `name`, linked to their instances if a list shows exactly these.

    about: the instances of these questions. accepted: the instances that `study` accepted, where the questions are
    about these only.
    """
    found, shown, state = set(about), instances_with_question(study, name, type=type), ""
    if accepted is not None:
        shown, state = shown & accepted, ACCEPTED
    if found != shown:
        return count
    query = list_query(study=study.slug, category=(type, ALL), state=state, question=name)
    return LinkedCount(count, query, unit="questions", instances=len(found))
