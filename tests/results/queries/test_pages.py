"""Pages that begin at a row: all rows come once, in order, in either direction."""

import pytest

from results.queries.instances.explorer import ORDERS, InstanceFilters, list_instances
from results.queries.instances.pages import Order, neighbours, slice_of
from studies.models import Instance, Project
from tests.factories import make_instance, make_project

pytestmark = [pytest.mark.django_db, pytest.mark.both]
BY_KIND = Order("By type", ("type", "pk"))


@pytest.fixture
def project() -> Project:
    """Seven instances; by type and id they are b, d, f, a, c, e, g."""
    project = make_project()
    for number, key in enumerate("abcdefg"):
        make_instance(project, key, candidates=0, type="add" if key in "bdf" else "swap", source_row=10 - number)
    return project


def walk(project: Project, order: Order, size: int) -> list[list[str]]:
    rows, pages, after = Instance.objects.filter(project=project), [], ""
    while True:
        page = slice_of(rows, order, size, after=after)
        pages.append([row.key for row in page.rows])
        if page.later is None:
            return pages
        after = str(page.later)


@pytest.mark.parametrize(
    ("order", "pages"),
    [
        (BY_KIND, ["bdf", "ace", "g"]),
        (Order("", ("type", "pk"), is_backward=True), ["gec", "afd", "b"]),
        (ORDERS["newest"], ["gfe", "dcb", "a"]),
        # The rows of the file count down.
        (ORDERS[""], ["gfe", "dcb", "a"]),
        (ORDERS["key"], ["abc", "def", "g"]),
    ],
)
def test_every_row_comes_once_and_in_order(project: Project, order: Order, pages: list[str]) -> None:
    assert ["".join(page) for page in walk(project, order, 3)] == pages


def test_the_way_back_leads_to_the_same_pages(project: Project) -> None:
    rows = Instance.objects.filter(project=project)
    ids = dict(rows.values_list("key", "pk"))
    back = slice_of(rows, BY_KIND, 3, before=str(ids["g"]))
    assert ["".join(row.key for row in back.rows), back.earlier, back.later] == ["ace", ids["a"], ids["e"]]
    # There is nothing ahead of the first page, and one that would be short is the first one.
    for key in "ad":
        first = slice_of(rows, BY_KIND, 3, before=str(ids[key]))
        assert ["".join(row.key for row in first.rows), first.earlier, first.later] == ["bdf", None, ids["f"]]


@pytest.mark.parametrize("name", ["", "0", "-1", "x", "1e3", "٣", str(2**63), "9" * 30])
def test_what_names_no_row_begins_at_the_start(project: Project, name: str) -> None:
    page = slice_of(Instance.objects.filter(project=project), BY_KIND, 3, after=name)
    assert ["".join(row.key for row in page.rows), page.earlier] == ["bdf", None]


def test_the_rows_beside_one(project: Project) -> None:
    rows = Instance.objects.filter(project=project)
    ids = dict(rows.values_list("key", "pk"))

    def beside(key: str) -> list[str | None]:
        return [row.key if row else None for row in neighbours(rows, BY_KIND, ids[key])]

    assert [beside("b"), beside("a"), beside("g")] == [[None, "d"], ["f", "c"], ["e", None]]
    assert neighbours(rows.exclude(key="a"), BY_KIND, ids["a"]) == (None, None)


def test_sorting_by_answers_needs_a_study(project: Project) -> None:
    assert list_instances(project, [], InstanceFilters(), "longest").order is ORDERS[""]
    assert list_instances(project, [], InstanceFilters(study="none-such"), "longest").order.columns == (
        "sorted_by",
        "pk",
    )
