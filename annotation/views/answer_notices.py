"""The view that marks notices as seen."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.actions.answering import answer_notices
from annotation.forms import read_ids
from annotation.models import Session
from annotation.notices import MOST_AT_ONCE, notices_html
from annotation.views.guards import session_view, wants_json
from annotation.views.page_context import redirect_to_session


@session_view
@require_POST
def see(request: HttpRequest, session: Session) -> HttpResponse:
    """Mark notices as seen; the page's script receives those that are left."""
    seen = read_ids(request.POST.get("notices", ""), most=MOST_AT_ONCE)
    answer_notices.see(session=session, notices=seen, now=timezone.now())
    return JsonResponse({"notices": notices_html(session)}) if wants_json(request) else redirect_to_session(session)
