"""The surveys of a study on its page, made in Python: a template takes ten times as long for each."""

from collections.abc import Iterable

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from results.queries.studies.progress import Seats, SurveyProgress
from studies.models import Study

register = template.Library()
ITEM = (
    '<li class="survey{}"><a class="survey-number" href="{}{}" title="The instances that survey {} asks about">{}</a> '
    '<span class="figures">{}/{}</span> '
    '<progress value="{}" max="{}" aria-label="Answers of survey {}"></progress> '
    '<span class="seats">{}</span></li>'
)


@register.simple_tag
def survey_items(study: Study, surveys: Iterable[SurveyProgress]) -> SafeString:
    """Return a list item for each of `surveys`, which leads to the instances that it asks about."""
    instances = format_html("{}?study={}&amp;survey=", reverse("instances", args=[study.project.slug]), study.slug)
    return format_html_join("\n", ITEM, (_values(instances, survey) for survey in surveys))


def _values(instances: SafeString, survey: SurveyProgress) -> tuple[object, ...]:
    number, answers = survey.number, survey.answers
    counts = answers.given, answers.wanted
    is_full = " full" if answers.given == answers.wanted else ""
    progress = answers.given, answers.wanted or 1, number
    return is_full, instances, number, number, number, *counts, *progress, _seats_in_words(survey.seats)


def _seats_in_words(seats: Seats) -> str:
    counted = {"finished": seats.filled, "in progress": seats.taken, "open": seats.free}
    return " ".join(f"{n} {state}" for state, n in counted.items() if n)
