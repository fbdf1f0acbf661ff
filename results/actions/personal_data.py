"""Everything that a project stores about one person, as they may ask for it by law."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.db import models, transaction
from django.db.models import Q, QuerySet

from annotation.actions.arriving import suspicious_arrivals
from annotation.actions.recruiting.panel import address_of
from annotation.models import (
    Annotator,
    AnswerNotice,
    Block,
    ConsentAgreement,
    Draft,
    EntryEvent,
    GroupMember,
    PanelMember,
    Payment,
    PersonMessage,
    PersonNote,
    PracticeAnswer,
    Removal,
    Report,
    Response,
    Session,
    SessionFlag,
    Skip,
    Slot,
    Submission,
)
from background.sealed_secrets import LOST_KEY, CannotUnseal, unseal
from results.models import Pseudonym, ReleasePseudonym
from results.queries.people.person_page import sessions_of
from studies.actions.events import Actor, What, record
from studies.models import ConsentVersion, Event, Project, Question, Study

ABOUT = (
    "All that is stored about one annotator in this project. Times are in UTC; columns ending in _ms are milliseconds. "
    "Options are named by key, as in the exports."
)
# Secrets of the site, or of others: the address of a session, what options were shuffled by, who ordered a payment.
LEFT_OUT = frozenset(
    {"token", "order_key", "network", "ordered_by", "added_by", "by", "reviewed_by", "annotator", "who"}
    | {"sealed_id", "id_digest", "sealed_address", "address_digest"}
)
RELATED = ("study", "question__instance")


def _by_annotator(model: type[models.Model], study: str = "study") -> Callable[[Annotator, Project], QuerySet[Any]]:
    return lambda annotator, project: model._default_manager.filter(
        annotator=annotator, **{f"{study}__project" if study else "project": project}
    )


def _by_session(model: type[models.Model]) -> Callable[[Annotator, Project], QuerySet[Any]]:
    return lambda annotator, project: model._default_manager.filter(
        session__annotator=annotator, session__study__project=project
    )


# Part of the file -> the table, and its rows about a person.
PARTS: Mapping[str, tuple[type[models.Model], Callable[[Annotator, Project], QuerySet[Any]]]] = {
    "answers": (Response, _by_annotator(Response)),
    "consents": (ConsentAgreement, _by_session(ConsentAgreement)),
    "drafts": (Draft, _by_session(Draft)),
    "notices": (AnswerNotice, _by_session(AnswerNotice)),
    "skips": (Skip, _by_annotator(Skip)),
    "reports": (Report, _by_annotator(Report)),
    "practice_answers": (PracticeAnswer, _by_session(PracticeAnswer)),
    "questions_given": (Slot, _by_annotator(Slot, "seat__study")),
    "payments": (Payment, _by_annotator(Payment)),
    "submissions": (Submission, _by_session(Submission)),
    "removals": (Removal, _by_annotator(Removal, "")),
    "flags": (SessionFlag, _by_session(SessionFlag)),
    "notes": (PersonNote, _by_annotator(PersonNote, "")),
    "blocks": (Block, _by_annotator(Block, "")),
    "messages": (PersonMessage, _by_annotator(PersonMessage, "")),
    "groups": (GroupMember, _by_annotator(GroupMember, "")),
    "panels": (PanelMember, _by_annotator(PanelMember, "")),
    "pseudonyms": (Pseudonym, _by_annotator(Pseudonym, "")),
    "names_in_releases": (ReleasePseudonym, _by_annotator(ReleasePseudonym, "release")),
}


@transaction.atomic
def personal_data(*, annotator: Annotator, project: Project, by: Actor, now: datetime) -> dict[str, Any]:
    """Return all that `project` stores about `annotator`, as values for JSON; ids in clear. Leaves an event."""
    record(project=project, what=What.PERSONAL_DATA_TAKEN, by=by, now=now, annotator=annotator.pk)
    return {
        "about": ABOUT,
        "project": project.slug,
        "made_at": now,
        "annotator": {"provider": annotator.provider, **_id_of(annotator), **_row(annotator)},
        "sessions": _sessions(annotator, project),
        **{part: _rows(find(annotator, project)) for part, (_, find) in PARTS.items()},
        "suspicious_arrivals": [_row(event) for event in _entry_events(annotator, project)],
        "events": [{"what": e.what, "at": e.at, "details": e.details} for e in _events(annotator, project)],
    }


def _id_of(row: Annotator | Session | Submission) -> dict[str, str]:
    """Return the id of a row in clear, or why it cannot be read."""
    try:
        return {"provider_id": unseal(row.sealed_id) if row.sealed_id else ""}
    except CannotUnseal:
        return {"provider_id": "", "problem": f"The id cannot be read. {LOST_KEY}"}


def _sessions(annotator: Annotator, project: Project) -> list[dict[str, Any]]:
    person = Pseudonym.objects.select_related("project").get(annotator=annotator, project=project)
    return [
        {
            **_id_of(each.session),
            **_row(each.session),
            "owed": {"amount": each.amount_owed, "currency": each.session.study.design.pay.currency},
        }
        for each in sessions_of(person)
    ]


def _rows(found: QuerySet[Any]) -> list[dict[str, Any]]:
    columns = {field.name for field in found.model._meta.local_concrete_fields}
    related = [path for path in RELATED if path.partition("__")[0] in columns]
    rows = found.select_related(*related) if related else found
    return [{**_decrypted(row), **_row(row)} for row in rows.order_by("pk")]


def _decrypted(row: models.Model) -> dict[str, str]:
    """Return what a row holds encrypted."""
    if isinstance(row, Submission):
        return _id_of(row)
    if isinstance(row, PanelMember):
        return {"address": address_of(row) or f"It cannot be read. {LOST_KEY}"}
    return {}


def _row(row: models.Model) -> dict[str, Any]:
    """Return the columns of a row by name."""
    return {field.name: _value(row, field) for field in row._meta.local_concrete_fields if field.name not in LEFT_OUT}


def _value(row: models.Model, field: Any) -> Any:
    related = field.related_model
    if related is Study and (study := getattr(row, field.name)) is not None:
        return study.slug
    if related is Question and (question := getattr(row, field.name)) is not None:
        return {"number": question.pk, "instance": question.instance.key, "kind": question.kind}
    if related is ConsentVersion and (consent := getattr(row, field.name)) is not None:
        return {"version": consent.number, "sha256": consent.sha256}
    return field.value_from_object(row)


def _entry_events(annotator: Annotator, project: Project) -> list[EntryEvent]:
    try:
        person = annotator.provider_id
    except CannotUnseal:
        return []
    digests = Q(pk__in=[])
    for study in Study.objects.filter(project=project) if person else ():
        digests |= Q(study=study, who=suspicious_arrivals.digest(study=study, person=person))
    return list(EntryEvent.objects.filter(digests).select_related("study"))


def _events(annotator: Annotator, project: Project) -> QuerySet[Event]:
    sessions = list(Session.objects.filter(annotator=annotator, study__project=project).values_list("pk", flat=True))
    mine = Q(details__annotator=annotator.pk) | Q(details__session__in=sessions)
    return Event.objects.filter(mine, project=project).order_by("at", "pk")
