from datetime import UTC, datetime, timedelta, timezone

import pytest
from django.template import Context, Template

AT = datetime(2026, 11, 3, 14, 5, 9, tzinfo=UTC)


def told(tag: str, at: datetime | None) -> str:
    return Template("{% load moments %}" + tag).render(Context({"at": at}))


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("{% moment at %}", "3 Nov 2026, 14:05 UTC"),
        ('{% moment at "second" %}', "3 Nov 2026, 14:05:09 UTC"),
        ('{% moment at "short" %}', "3 Nov, 14:05 UTC"),
        ('{% moment at "day" %}', '3 Nov 2026 <span class="zone">UTC</span>'),
    ],
)
def test_a_moment_is_written_in_utc_with_what_a_browser_reads(tag: str, text: str) -> None:
    html = told(tag, AT)
    assert html.startswith('<time datetime="2026-11-03T14:05:09+00:00" data-moment="')
    assert html.endswith(f'">{text}</time>')


def test_where_there_is_no_moment_nothing_is_written() -> None:
    assert told("{% moment at %}", None) == ""


def test_a_moment_of_another_zone_is_told_in_utc_too() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert told("{% moment at %}", elsewhere).endswith("3 Nov 2026, 14:05 UTC</time>")
