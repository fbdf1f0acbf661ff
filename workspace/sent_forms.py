"""Forms that create something, sent twice: by a double click, or after Back.

Opened by Back after they were sent, they lead to what they created. Forms that create a secret have their key in a
hidden field and derive the secret from it, so that both responses to a double click show the same one.
"""

import json
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import salted_hmac
from django.utils.html import format_html
from django.utils.http import urlencode

# In the address of a form, where Back finds it even if the browser asks the server for the page again.
KEY = "form_key"
# A secret is shown again to who sends its form again within this time, and later no more.
SHOWN_AGAIN = timedelta(minutes=1)
# Sessions are read with every request.
MOST_KEPT = 10
View = Callable[..., HttpResponse]


def with_form_key(address_of: Callable[[int], str]) -> Callable[[View], View]:
    """Give each empty form of a view its own key, and redirect a form with a used key to what it created.

    address_of: the page that shows the created row (an id), "" if it was deleted since. The view calls `note_created`.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def with_key(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method == "POST":
                return view(request, *args, **kwargs)
            others = [(name, value) for name, values in request.GET.lists() for value in values if name != KEY]
            created = created_from(request)
            if created is not None and (address := address_of(created)):
                empty = format_html('<a href="{}?{}">Open an empty form</a>', request.path, urlencode(others))
                messages.info(request, format_html("You already sent this form, and it created this. {}.", empty))
                return redirect(address)
            if not request.GET.get(KEY):
                return redirect(f"{request.path}?{urlencode([*others, (KEY, new_key())])}")
            return view(request, *args, **kwargs)

        return with_key

    return decorate


def new_key() -> str:
    return uuid4().hex


def secret_of(request: HttpRequest) -> str:
    """Return the secret of what the form of this request creates, as 64 hexadecimal digits.

    With a form key, they are derived from the form, its content and the site's secret: the same person gets the same
    ones for the same form again. Without a form key, they are random.
    """
    if not request.POST.get(KEY):
        return secrets.token_hex(32)
    content = sorted((name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken")
    text = json.dumps([request.user.pk, request.path, content])
    return salted_hmac("workspace.sent_forms", text, algorithm="sha256").hexdigest()


def may_show(*, made_at: datetime, now: datetime) -> bool:
    """Whether a secret created at `made_at` is shown to who has sent its form at `now`, perhaps once more."""
    return made_at > now - SHOWN_AGAIN


def note_created(request: HttpRequest, row: Model) -> None:
    """Note in the session what the form of this request created."""
    if key := request.GET.get(KEY, ""):
        kept = [*request.session.get(KEY, {}).items()][1 - MOST_KEPT :]
        request.session[KEY] = dict([*kept, (key, row.pk)])


def created_from(request: HttpRequest) -> int | None:
    """Return the id of what the form of this request created before."""
    created: int | None = request.session.get(KEY, {}).get(request.GET.get(KEY))
    return created
