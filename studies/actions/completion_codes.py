"""Completion codes: one per session outcome, for the platform that sent the annotator."""

import string

from django.db import IntegrityError, transaction
from django.utils.crypto import get_random_string

from studies.models import CompletionCode, Outcome, Study

CODE_LENGTH = 9
_ATTEMPTS = 3


def completion_code(*, study: Study, outcome: Outcome) -> str:
    """Return the code of `study` for `outcome`; create it for studies older than this outcome."""
    codes = CompletionCode.objects.filter(study=study, outcome=outcome)
    for _ in range(_ATTEMPTS):
        known = codes.first()
        if known is not None:
            return known.code
        try:
            with transaction.atomic():
                return add_code(study=study, outcome=outcome).code
        except IntegrityError:
            # A concurrent session created it, or (rarely) the new code is already used for another outcome.
            continue
    return codes.get().code


def used_codes(study: Study) -> list[CompletionCode]:
    """Return the codes with which annotators of `study` may return to the platform, according to its study file."""
    endings = study.design.endings
    led = {Outcome.STOPPED: endings.stopped, Outcome.TIME_OVER: endings.time_over}
    unused = [outcome for outcome, way in led.items() if way != "code"]
    if not study.design.lobby.minutes:
        unused.append(Outcome.WAITED)
    if not study.design.pay.per_session or study.design.pay.least_answers <= 1:
        unused.append(Outcome.FEW_ANSWERS)
    return list(CompletionCode.objects.filter(study=study).exclude(outcome__in=unused).order_by("pk"))


def add_code(*, study: Study, outcome: str) -> CompletionCode:
    """Create a new code. Raises IntegrityError if the outcome already has one."""
    code = get_random_string(CODE_LENGTH, string.ascii_uppercase + string.digits)
    return CompletionCode.objects.create(study=study, outcome=outcome, code=code)
