"""Skip questions whose images cannot be shown; the pay is not affected.

The server knows when a file is missing; such skips are unlimited. Failures in the browser cannot be verified, so a
session has a small allowance of them. Beyond it the session ends and a researcher decides (docs/decisions/0013).
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from annotation.actions import sessions
from annotation.actions.answering import drafts, practice, responses, skip_allowance
from annotation.errors import CannotSkip, NotYourQuestion
from annotation.models import Session, SessionState, Skip, Slot
from studies.actions.images import can_be_shown
from studies.kinds import get_kind, in_shown_order, posted_values
from studies.models import PracticeQuestion

logger = logging.getLogger(__name__)

# The page retries after 0.6, 1.2, 2.4 and 4.8 seconds: five failures are more than a short interruption.
FAILED_LOADS_TO_SKIP = 5
# The page's name for the image that a question is about; other images are named by their option's value.
ASKED_ABOUT = "image"


def skip(*, session: Session, slot: int, failed_loads: Mapping[str, int], now: datetime) -> None:
    """Skip an open question of a working session; repeating it changes nothing.

    failed_loads: failed loads of each image as counted by the page, by the value of its option. Raises NotYourQuestion,
    or CannotSkip if the server has every image and the page has not failed often enough.
    """
    given = Slot.objects.select_related("question").filter(pk=slot, question__study=session.study_id).first()
    if given is not None and responses.is_skipped_or_withdrawn(session=session, slot=given):
        return
    if given is None or given.annotator_id != session.annotator_id:
        raise NotYourQuestion(gettext("This question does not belong to your session. Reload the page to continue."))
    # Checked before taking locks, because the file storage may be slow.
    order = responses.order_for(session=session, question=given.question)
    images = failed_images(given.question.kind, given.question.content, order, failed_loads)
    with transaction.atomic():
        leave_out(session=session, slot=given, images=images, now=now)


def leave_out(*, session: Session, slot: Slot, images: list[dict[str, Any]], now: datetime) -> bool:
    """Remove an open question from `session`; return whether it was still open.

    images: the images that failed; empty if the question was reported. Runs in a transaction.
    """
    # Lock the session before its slot, as answers do.
    session = Session.objects.select_for_update(of=("self",)).select_related("study").get(pk=session.pk)
    mine = Slot.objects.filter(pk=slot.pk, annotator=session.annotator_id, answered_at=None)
    if session.state != SessionState.WORKING or not mine.update(annotator=None):
        # Another tab was faster: it answered or skipped the question, or stopped.
        return False
    drafts.discard(session=session.pk, slot=slot.pk)
    Skip.objects.create(
        study_id=session.study_id,
        question_id=slot.question_id,
        session=session,
        annotator_id=session.annotator_id,
        at=now,
        images=images,
        file_missing=any(image["missing"] for image in images),
    )
    Session.objects.filter(pk=session.pk).update(questions_total=F("questions_total") - 1, last_seen_at=now)
    session.refresh_from_db(fields=["questions_total"])
    why = "its images do not come" if images else "it was reported"
    logger.warning("session %s went on without question %s: %s", session.pk, slot.question_id, why)
    if skip_allowance.remaining(session=session) < 0:
        sessions.leave(session=session, to=SessionState.LEFT_OUT, now=now)
    elif session.questions_answered == session.questions_total:
        sessions.finish_unless_last_look(session=session, now=now)
    return True


def skip_practice(*, session: Session, question: int, failed_loads: Mapping[str, int], now: datetime) -> None:
    """Skip a practice question if its files are missing; end the session if only the browser fails to load them.

    Such a session has neither passed nor failed. Raises NotYourQuestion, CannotSkip or BadAnswer.
    """
    asked = PracticeQuestion.objects.filter(study=session.study_id, pk=question).first()
    if asked is None:
        raise NotYourQuestion(
            gettext("This practice question does not belong to this study. Reload the page to continue.")
        )
    order = practice.order_for(session=session, question=asked)
    images = failed_images(asked.kind, asked.content, order, failed_loads)
    if any(image["missing"] for image in images):
        practice.skip_question_without_images(session=session, question=asked, now=now)
    else:
        sessions.leave(session=session, to=SessionState.LEFT_OUT, now=now)


def failed_images(
    kind: str, content: Mapping[str, Any], order: Sequence[str], failed_loads: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the images of a question that cannot be shown, and why. Raises CannotSkip if all can be shown."""
    asked = get_kind(kind)
    pictures = {option.key: option.picture.sha256 for option in asked.options(content) if option.picture}
    counted = {key: failed_loads.get(value, 0) for value, key in posted_values(asked, content, order).items()}
    for number, picture in enumerate(in_shown_order(asked.question_content(content).pictures, order), start=1):
        # The names that the page's script uses.
        name = ASKED_ABOUT if number == 1 else f"{ASKED_ABOUT}-{number}"
        pictures[name], counted[name] = picture.sha256, failed_loads.get(name, 0)
    found: list[dict[str, Any]] = [
        {"option": key, "image": image, "failed_loads": counted[key], "missing": not can_be_shown(image)}
        for key, image in pictures.items()
    ]
    failed = [image for image in found if image["missing"] or image["failed_loads"] >= FAILED_LOADS_TO_SKIP]
    if not failed:
        raise CannotSkip(
            gettext("All images of this question are available, so you cannot skip it."),
            gettext("Reload the page and give them a moment to load."),
        )
    return failed
