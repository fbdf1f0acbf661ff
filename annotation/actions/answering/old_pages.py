"""Images on pages opened before images had handles. To be removed in the next version."""

import re

from django.db.migrations.recorder import MigrationRecorder

from annotation.models import Session, Slot
from annotation.models.sessions import OPEN_STATES
from studies.models import PracticeQuestion

# The first migration after pages had handles: pages of older sessions may contain SHA-256 digests.
FIRST_WITH_HANDLES = ("annotation", "0025_withdrawn_questions")
_SESSION_PAGE = re.compile(r"https?://[^/]+/s/([\w-]+)/")


def shows_image(*, referer: str, sha256: str) -> bool:
    """Whether `referer` is a page of an open session from before handles, and that session shows the image.

    The token in the address is the credential of the session; browsers send it with every image request of the page.
    """
    page = _SESSION_PAGE.match(referer)
    session = _old_session(page[1]) if page else None
    if session is None:
        return False
    asked = Slot.objects.filter(seat__session=session).values_list("question__content", flat=True)
    practised = PracticeQuestion.objects.filter(study=session.study_id).values_list("content", flat=True)
    return any(sha256 in str(content) for content in (*asked, *practised))


def _old_session(token: str) -> Session | None:
    app, name = FIRST_WITH_HANDLES
    applied = MigrationRecorder.Migration.objects.filter(app=app, name=name).values("applied")[:1]
    return Session.objects.filter(token=token, state__in=OPEN_STATES, arrived_at__lt=applied).first()
