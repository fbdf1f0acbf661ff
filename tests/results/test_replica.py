"""Which pages may be read from a replica."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

# Results, their files and the explorer. Pages on which somebody decides (flags, disagreements, people, pay, releases)
# are read from the primary, as are those of annotators, the API and all pages about work that is going on.
FROM_REPLICA = {
    "instance",
    "instance_by_id",
    "instances",
    "project_parted",
    "project_report",
    "project_results",
    "project_table",
    "study_results",
    "study_table",
}


def patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from patterns(each)
        else:
            yield each


def reads_replica(view: Any) -> bool:
    return getattr(view, "reads_replica", False)


def test_only_results_and_the_explorer_are_read_from_a_replica() -> None:
    every = list(patterns(get_resolver()))
    assert {each.name for each in every if reads_replica(each.callback)} == FROM_REPLICA
