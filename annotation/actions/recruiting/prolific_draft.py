"""A study as Prolific gets it: what a researcher chose, the completion codes of every ending, and our address."""

import secrets
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.conf import settings
from django.urls import reverse

from analytics.work.ledger import in_cents
from annotation.models import ProlificStudy
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.entry import PLACEHOLDERS
from annotation.recruitment.prolific.researcher_codes import screen_out_terms
from studies.actions.completion_codes import used_codes
from studies.models import Outcome, Study

CODE_LENGTH = 9
_REVIEW = bodies.ManuallyReview()
# What Prolific does with a submission by its code. Nobody is paid without a review, but for a fixed amount for failing
# the practice that a draft may have, and nobody is asked to return an answer that may be paid.
_RETURNED_BECAUSE: Mapping[str, str] = {
    Outcome.NO_CONSENT: "Withdrew consent",
    Outcome.FAILED_CHECKS: "Did not pass the practice questions",
}
_TYPES: Mapping[str, bodies.CodeType] = {
    Outcome.FINISHED: "COMPLETED",
    Outcome.NO_CONSENT: "NO_CONSENT",
    Outcome.FAILED_CHECKS: "FAILED_ATTENTION_CHECK",
}


# Prolific: at least so much for screening somebody out, by currency.
LEAST_SCREEN_OUT_PAY: Mapping[str, Decimal] = {"USD": Decimal("0.14"), "GBP": Decimal("0.10")}


@dataclass(frozen=True)
class ScreenOut:
    """Pay for people whom the practice screens out: a fixed `reward` in whole units, for the first `places` people."""

    reward: Decimal
    places: int


@dataclass(frozen=True)
class Draft:
    """What a researcher chose for a study on Prolific.

    description: HTML that Prolific allows. reward: of one submission, in whole units of `currency`. minutes, at_most:
    estimated and longest time. pays_in_part, is_signed: whether the workspace may pay a share of the reward, and gets
    signed links; screen_out: pay for failing the practice. Only some workspaces may.
    """

    name: str
    description: str
    reward: Decimal
    currency: str
    places: int
    minutes: int
    at_most: int
    devices: tuple[bodies.Device, ...] = ()
    filters: tuple[bodies.ChosenFilter, ...] = field(default=())
    pays_in_part: bool = False
    screen_out: ScreenOut | None = None
    is_signed: bool = False


def entry_url(study: Study) -> str:
    """Return the address of `study` with the placeholders that Prolific fills in."""
    return f"{settings.SITE_URL}{reverse('take', args=[study.entry_name])}?{PLACEHOLDERS}"


def body_of(
    draft: Draft, *, study: Study, internal_name: str, completes: str = "", pays_part: str = ""
) -> bodies.NewStudy:
    """Return a draft as Prolific gets it. completes, pays_part: its codes for researchers, if it has any already."""
    return bodies.NewStudy(
        name=draft.name,
        internal_name=internal_name,
        description=draft.description,
        external_study_url=entry_url(study),
        total_available_places=draft.places,
        estimated_completion_time=draft.minutes,
        maximum_allowed_time=draft.at_most,
        reward=in_cents(draft.reward),
        completion_codes=(*_codes(study, draft.screen_out), *_researcher_codes(draft, completes, pays_part)),
        device_compatibility=draft.devices,
        filters=draft.filters,
        is_external_study_url_secure=True if draft.is_signed else None,
    )


def stored_body(row: ProlificStudy) -> bodies.NewStudy:
    """Return what was last chosen for a study on Prolific."""
    return bodies.NewStudy.model_validate(row.details)


def current_body(row: ProlificStudy) -> bodies.NewStudy:
    """Return what was last chosen, with the address and the endings that the study has now."""
    body = stored_body(row)
    ours = tuple(code for code in body.completion_codes if code.actor == "researcher")
    codes = (*_codes(row.study, screen_out_of(body)), *ours)
    return body.model_copy(update={"completion_codes": codes, "external_study_url": entry_url(row.study)})


def screen_out_of(body: bodies.NewStudy) -> ScreenOut | None:
    """Return what a study pays people whom it screens out."""
    terms = screen_out_terms(body.model_dump())
    return None if terms is None else ScreenOut(*terms)


def _codes(study: Study, screen_out: ScreenOut | None) -> Iterator[bodies.CompletionCode]:
    """Yield the code of each ending that annotators of `study` may have. Only one may screen people out.

    People who take the other role end with a code of the feeding study. Prolific holds unknown codes for review, so
    only those that ask for a return are sent.
    """
    if study.design.lobby.either_role and study.fed_by is not None:
        for code in used_codes(study.fed_by):
            if reason := _RETURNED_BECAUSE.get(code.outcome):
                returns = bodies.RequestReturn(return_reason=reason)
                yield bodies.CompletionCode(code=code.code, code_type="OTHER", actions=(returns,), actor="participant")
    for code in used_codes(study):
        if code.outcome == Outcome.FAILED_CHECKS and screen_out:
            pays = bodies.PayScreenedOut(fixed_screen_out_reward=in_cents(screen_out.reward), slots=screen_out.places)
            yield bodies.CompletionCode(
                code=code.code, code_type="FIXED_SCREENOUT", actions=(pays,), actor="participant"
            )
            continue
        reason = _RETURNED_BECAUSE.get(code.outcome)
        action = bodies.RequestReturn(return_reason=reason) if reason else _REVIEW
        yield bodies.CompletionCode(
            code=code.code, code_type=_TYPES.get(code.outcome, "OTHER"), actions=(action,), actor="participant"
        )


def _researcher_codes(draft: Draft, completes: str, pays_part: str) -> Iterator[bodies.CompletionCode]:
    """Yield the codes that we enter ourselves: no participant ever sees them."""
    yield bodies.CompletionCode(
        code=completes or _new_code(), code_type="OTHER", actions=(_REVIEW,), actor="researcher"
    )
    if draft.pays_in_part:
        part = bodies.PayInPart()
        yield bodies.CompletionCode(
            code=pays_part or _new_code(), code_type="OTHER", actions=(part,), actor="researcher"
        )


def _new_code() -> str:
    return "".join(secrets.choice(string.ascii_uppercase + string.digits) for _ in range(CODE_LENGTH))
