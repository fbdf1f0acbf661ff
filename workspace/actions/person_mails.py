"""Send the messages that researchers wrote to annotators."""

from collections.abc import Callable
from datetime import datetime

from annotation.actions.reviewing import person_messages
from workspace import mail


def send_messages(*, now: Callable[[], datetime]) -> None:
    """Send what waits, by Prolific or by mail; what cannot be sent now stays."""
    person_messages.send_planned(
        mail=lambda message, address, study: mail.send_person_message(message.text, study, to=address),
        can_mail=lambda: mail.can_send() and mail.server_answers(),
        now=now,
    )
