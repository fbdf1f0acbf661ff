"""Change the consent text of a launched study, as an ethics amendment asks for."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation.actions.launching.consent_versions import amend_consent, latest_version
from annotation.models import ConsentAgreement, Session
from results.views.form_values import read_field
from results.views.guards import signed_in_user, study_view
from studies.errors import StudyError
from studies.markdown import HeadedText, render_headed
from studies.models import UNDER_WAY, ConsentVersion, Study
from studies.permissions import Verb
from studies.wording import format_count


@dataclass(frozen=True)
class VersionLine:
    """A consent text, rendered, and how many sessions agreed to it, also if they agreed to a later one."""

    version: ConsentVersion
    text: HeadedText
    sessions: int


def version_lines(study: Study) -> list[VersionLine]:
    """Return the stored consent texts of a study, latest first."""
    found = ConsentVersion.objects.filter(study=study).annotate(agreed=Count("agreements")).order_by("-number")
    # An older Lineup stored the last agreement of a session only.
    kept = ConsentAgreement.objects.filter(session=OuterRef("pk"), version=OuterRef("consent"))
    last = Session.objects.filter(~Exists(kept), study=study, consent__isnull=False, consented_at__isnull=False)
    older = Counter(last.order_by().values_list("consent", flat=True))
    return [VersionLine(each, render_headed(each.text), each.agreed + older[each.pk]) for each in found]


def unnumbered_consents(study: Study) -> int:
    """Return how many sessions agreed before the platform stored to which text."""
    return Session.objects.filter(study=study, consent=None, consented_at__isnull=False).count()


@study_view(Verb.RUN)
@require_http_methods(["GET", "HEAD", "POST"])
def change_consent(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the current text in a form, and store what is sent as the next version."""
    if request.method != "POST":
        latest = latest_version(study)
        return _page(
            request, study, {"text": latest.text if latest else study.design.consent, "reason": "", "ask_again": False}
        )
    given: dict[str, Any] = {
        "text": request.POST.get("text", ""),
        "reason": read_field(request.POST, "reason"),
        "ask_again": "ask_again" in request.POST,
    }
    try:
        done = amend_consent(study=study, **given, by=signed_in_user(request), now=timezone.now())
    except StudyError as error:
        return _page(request, study, given, status=409, problems=error.problems)
    asked = f" {format_count(done.asked, 'session')} under way will be asked again." if given["ask_again"] else ""
    messages.success(request, f"Newcomers now see version {done.version.number} of the consent text.{asked}")
    return redirect("study_design", study.project.slug, study.slug)


def _page(request: HttpRequest, study: Study, given: dict[str, Any], *, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "given": given,
        "can_change": study.state in UNDER_WAY and bool(study.design.consent),
    }
    return render(request, "workspace/change_consent.html", context | more, status=status)
