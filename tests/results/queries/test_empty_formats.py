"""Formats that would be empty are found without reading all items of a large study."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.queries.exports import empty_formats as module
from results.queries.exports.empty_formats import empty_formats
from tests.factories import answer, draw_instance, make_launched, make_project, make_study, questions, sit_down

pytestmark = pytest.mark.django_db


def test_a_page_reads_one_item_more_than_it_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project()
    for number in range(5):
        draw_instance(project, number, captions={"negative_caption": "A bird."}, original_captions={})
    study = make_launched(make_study(project))
    session = sit_down(study, "ann")
    for question in questions(study):
        answer(session, question, "candidate-2")
    # With one description only, no format of pairs can hold an item.
    assert empty_formats([study])
    monkeypatch.setattr(module, "READ_AT_MOST", 3)
    with CaptureQueriesContext(connection) as captured:
        assert empty_formats([study]) == {}
    # A pool makes `iterator()` read all rows that a statement finds.
    (items,) = [query["sql"] for query in captured if 'FROM "annotation_decision"' in query["sql"]]
    assert items.endswith("LIMIT 4")
