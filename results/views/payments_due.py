"""Payments due per person for a study, as a page and as CSV."""

import csv
import io

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.actions.paying.study_fee import study_fee
from annotation.models import Session
from annotation.models.sessions import has_unlikely_times
from results.actions.pseudonyms import name_annotators
from results.queries.paying.study_money import study_money
from results.queries.paying.switched_roles import reviewed_elsewhere
from results.queries.paying.wages import study_wages
from results.queries.people.payments_due import PersonOwed, all_amounts_due, owed_page, owed_sums
from results.queries.studies.simulated_answers import all_simulated
from results.views.guards import may_do, study_view
from studies.models import Study
from studies.permissions import Verb

COLUMNS = (
    *("annotator", "sessions", "answers", "answers_counted", "answers_kept_aside", "endings", "currency"),
    *("for_sessions", "for_answers", "for_waiting", "amount", "sessions_to_decide", "simulated", "why"),
)


@study_view(Verb.VIEW)
@require_safe
def page(request: HttpRequest, study: Study) -> HttpResponse:
    name_annotators(project=study.project)
    fee = study_fee(study)
    context = {
        "study": study,
        "people": owed_page(study, page=request.GET.get("page")),
        "total": owed_sums(study).cost(study.design.pay.per_answer),
        "all_simulated": all_simulated(Session.objects.filter(study=study)),
        "unlikely_times": Session.objects.filter(has_unlikely_times(), study=study).count(),
        "money": study_money(study),
        "wages": study_wages(study, fee.percent),
        "fee": fee,
        "elsewhere": reviewed_elsewhere(study),
        "may": may_do(request, study.project),
    }
    return render(request, "results/results/owed.html", context)


@study_view(Verb.VIEW)
@require_safe
def owed_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """Return the list as CSV, one row per annotator."""
    name_annotators(project=study.project)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_row(person) for person in all_amounts_due(study))
    headers = {"Content-Disposition": f'attachment; filename="{study.slug}-owed.csv"'}
    return HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _row(person: PersonOwed) -> list[object]:
    endings = ", ".join(f"{ending} ({times})" for ending, times in person.endings.items())
    return [
        *(person.name, person.sessions, person.answers, person.counted, person.kept_aside, endings, person.currency),
        *(person.for_sessions, person.for_answers, person.for_waiting, person.amount),
        *(person.to_decide, str(person.simulated).lower(), person.why),
    ]
