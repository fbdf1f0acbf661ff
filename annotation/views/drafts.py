"""The view that saves drafts."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotation.actions.answering import drafts
from annotation.errors import BadAnswer
from annotation.forms import read_id, read_posted
from annotation.models import Session
from annotation.views.guards import session_view


@session_view
@require_POST
def keep_draft(request: HttpRequest, session: Session) -> HttpResponse:
    """Save the draft of an answer; returns its `number`, null if it was not saved."""
    slot, now = read_id(request.POST.get("slot", "")), timezone.now()
    if slot is None:
        raise BadAnswer(gettext("The page did not say which question you mean. Reload it and try again."))
    drafts.count_draft(session=session, now=now)
    number = drafts.save(session=session, slot=slot, fields=read_posted(request.POST), now=now)
    return JsonResponse({"slot": slot, "number": number})
