"""The address to which Prolific sends webhooks. The token in it is the credential, and each webhook is signed."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.actions.recruiting import webhooks
from annotation.actions.recruiting.prolific_account import clocks
from annotation.recruitment.prolific.webhooks import EVENT_ID, BadWebhook, ForgedWebhook, read_event
from annotation.tasks import read_prolific_study

LARGEST_BODY = 64 * 1024


@csrf_exempt
@never_cache
@require_POST
def receive_webhook(request: HttpRequest, token: str) -> HttpResponse:
    account, now = webhooks.account_at(token), timezone.now()
    if account is None:
        return _say(404, "There is nothing at this address.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        return _say(413, "The body is too large.")
    event_id = request.headers.get(EVENT_ID, "")
    try:
        key = webhooks.key_of(account)
        event = read_event(request.body, request.headers, secret=key, clocks=clocks(account, now=now))
    except ForgedWebhook as error:
        return _say(401, str(error))
    except BadWebhook as error:
        return _say(400, str(error))
    if not 0 < len(event_id) <= webhooks.LONGEST_ID or not event_id.isprintable():
        return _say(400, f"The header {EVENT_ID} must have 1 to {webhooks.LONGEST_ID} printable characters.")
    for study in webhooks.receive(account=account, event=event, event_id=event_id, now=now):
        read_prolific_study.delay_on_commit(study)
    return _say(200, "")


def _say(status: int, sentence: str) -> HttpResponse:
    return HttpResponse(sentence, status=status, content_type="text/plain; charset=utf-8")
