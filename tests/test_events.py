"""Every action of a researcher, a command or a program leaves an event, in the transaction of what it changes."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core import serializers
from django.db import transaction
from django.test import override_settings

from analytics.work.answer_times import TimeEvidence
from annotation.actions.answering.advance_session import expire
from annotation.actions.answering.responses import open_slots
from annotation.actions.arriving.groups import set_group
from annotation.actions.arriving.network_places import exempt_networks
from annotation.actions.deciding.adjudication import settle, unsettle
from annotation.actions.ending.time_checks import accept_times
from annotation.actions.launching import complete_study, extend_study
from annotation.actions.launching.consent_versions import amend_consent
from annotation.actions.launching.launch import launch
from annotation.actions.launching.study_jobs import cancel_study_job, request_extension, request_launch
from annotation.actions.paying.compare_with_platform import request_check
from annotation.actions.paying.order_payments import Order, cancel_payment, order_payments, order_rewards
from annotation.actions.paying.paid_elsewhere import note_amount, note_rewards
from annotation.actions.paying.payment_decisions import note_paid, note_unpaid, send_refused
from annotation.actions.paying.submission_decisions import ask_to_return, reject, undo_rejection
from annotation.actions.recruiting import panel, prolific_account, prolific_studies
from annotation.actions.recruiting import webhooks as prolific_webhooks
from annotation.actions.removing import removals, retire_questions
from annotation.actions.removing.old_ids import delete_old_ids
from annotation.actions.reviewing import blocks, flag_verdicts, person_messages, person_notes
from annotation.actions.sessions import end_early, end_sessions_from_network
from annotation.models import (
    Annotator,
    Block,
    PanelMember,
    Payment,
    PersonNote,
    ProlificAccount,
    ProlificStudy,
    Session,
    SessionFlag,
    SessionState,
    Submission,
)
from annotation.recruitment.prolific.statuses import RejectionCategory
from background.models import Job
from background.sealed_secrets import seal
from predictions.actions.import_predictions import ModelName, import_predictions
from predictions.actions.models import delete_model, rename_model
from predictions.actions.runs import cancel_run, request_offered_run, request_run, resume_run
from predictions.models import Run
from results.actions.erasure import forget
from results.actions.exports import cancel_export, export_into, export_project_into, request_export
from results.actions.personal_data import personal_data
from results.actions.policies import act_on_policies, pause_on_prolific
from results.actions.pseudonyms import name_annotators
from results.actions.releases import freeze_release, prepare_release, provider_ids, release_into, write_provider_ids
from results.actions.session_flags import flag_sessions
from results.exporting.dataset_card import About
from results.models import Export, PolicyAct, Pseudonym, Release, ReleasePseudonym
from simulation.actions.announcement import announce_replay, announce_simulation
from simulation.actions.demo_project import request_demo
from simulation.prolific_double.server import WORKSPACE
from studies.actions import drafts
from studies.actions.imports.change_mapping import change_mapping
from studies.actions.imports.import_jobs import cancel_import, request_again, request_import, request_mapping_change
from studies.actions.imports.importer import import_files
from studies.actions.projects import membership, projects, tags
from studies.actions.projects.datasets import join_dataset, set_dataset
from studies.actions.studies import change_state, create_study
from studies.batches import ignore_progress
from studies.models import Event, Import, Invitation, Membership, Project, Question, Study, StudyState
from tests.annotation.paying.stage import Stage, stage
from tests.annotation.test_pipeline import answer_all
from tests.annotation.test_rejection_rules import MESSAGE
from tests.annotation.test_responses import send
from tests.factories import (
    NOON,
    PROLIFIC_DRAFT,
    arrive,
    arrive_at_work,
    create_draft,
    fresh,
    launch_study,
    make_instance,
    make_member,
    make_model,
    make_person,
    make_project,
    make_prolific_study,
    make_submission,
    member_of_panel,
)
from tests.jobs import run_now
from tests.predictions.result_files import add_instance, result, write_results
from tests.prolific import TOKEN, local_platform
from tests.test_actors import actions
from tests.training.site import PLAN, finish, waiting_run
from training.actions import runs as training_runs
from training.actions.deletion import delete_run
from training.models import TrainingRun
from workspace.actions import hub, model_push, webhooks
from workspace.actions.alarms import record_underpaid
from workspace.actions.hub_datasets import request_download
from workspace.actions.project_deletion import cancel_deletion, request_deletion
from workspace.models import Delivery, HubPush, ModelPush, Webhook

pytestmark = pytest.mark.django_db

# Prepares what an action is about and returns the action, to be called with `by` and `now`.
Prepare = Callable[[Path], Callable[..., object]]
# Nothing is looked up for an address in numbers.
URL = "https://93.184.215.14/"
ANOTHER = "study: another\ntitle: Which vase?\nkind: best_of_n\n"
CAME = "65f000000000000000000abc"
OWNER = prolific_account.Owner("5f00", "A researcher", ())
# Names that are made from rows, and again if need be.
DERIVED = (Pseudonym, ReleasePseudonym)


def visited(**design: Any) -> Study:
    """Return an open study into which one person has come from Prolific."""
    study = launch_study(**design)
    arrive(study, CAME, session=f"session-of-{CAME}")
    return study


def question() -> Question:
    return visited().questions.order_by("pk")[0]


def settled() -> Question:
    asked = question()
    settle(question=asked, choice="none", by=make_person("ben"), note="", now=NOON)
    return asked


def _of_named_visitor() -> dict[str, Any]:
    about = of_visitor()
    name_annotators(project=about["project"])
    return about


def _taken_out() -> Question:
    asked = question()
    retire_questions.take_out(question=asked, reason="broken", by=make_person("ben"), now=NOON)
    return asked


def _about_its_instance(asked: Question) -> dict[str, Any]:
    return {"project": asked.study.project, "instances": [asked.instance_id]}


def frozen() -> Release:
    release, _ = prepare_release(study=visited(), about=About(release="v1"), by=make_person("ben"), now=NOON)
    freeze_release(release=release, now=NOON)
    return release


def of_visitor(*, excluded: bool = False) -> dict[str, Any]:
    """Return somebody who has answered one question, and the project they did it in."""
    study = launch_study()
    session = arrive_at_work(study, CAME, session=f"session-of-{CAME}")
    send(session, open_slots(session=session, limit=1)[0])
    about: dict[str, Any] = {"annotator": session.annotator, "project": study.project}
    if excluded:
        removals.exclude(**about, reason="clicked through", by=make_person("ben"), now=NOON)
    return about


def _flag_to_review(**fields: Any) -> dict[str, Any]:
    """Return the session of somebody who has answered one question, and its flag."""
    session = Session.objects.get(annotator=of_visitor()["annotator"])
    evidence = {"hidden": 5, "measured": 6}
    flag = SessionFlag.objects.create(session=session, rule="hidden_tab", evidence=evidence, found_at=NOON, **fields)
    return {"session": session, "flags": [flag.pk]}


def _who_can_be_written_to() -> dict[str, Any]:
    about = of_visitor()
    about["annotator"].refresh_from_db()
    PanelMember.objects.create(**about, sealed_address=seal("ann@example.org"), address_digest="ann", added_at=NOON)
    return about


def _deleting_a_note() -> Callable[..., object]:
    about = of_visitor()

    def delete(*, by: User, now: datetime) -> None:
        with transaction.atomic():
            note = PersonNote.objects.create(**about, text="Slow.", by=by, at=NOON)
            person_notes.delete_note(note=note, by=by, now=now)

    return delete


def _blocked() -> dict[str, Any]:
    about = of_visitor()
    Block.objects.create(**about, reason="Two accounts.", at=NOON)
    return about


def jsonl(folder: Path) -> dict[str, Any]:
    file = folder / "one.jsonl"
    file.write_text('{"key": "new", "caption": "A new vase.", "images": []}\n')
    return {"project": make_project(), "format": "jsonl", "file": file}


def predicted(folder: Path) -> dict[str, Any]:
    project = make_project()
    add_instance(project, 1)
    file = write_results(folder / "BiVLC_CLIP.csv", result(1, "1011"))
    return {"project": project, "file": file, "format": "bivlc-results", "model": ModelName("CLIP")}


def asked_of_model() -> dict[str, Any]:
    return {"project": make_project(), "spec": "open_clip:ViT-B-32/openai"}


def of_model() -> dict[str, Any]:
    project = make_project()
    return {"project": project, "model": make_model(project)}


def running() -> Run:
    return request_run(study=visited(), **asked_of_model(), by=make_person("ben"), now=NOON)


def _launching() -> Study:
    draft = create_draft(dataset=False)
    request_launch(study=draft, by=make_person("ben"), now=NOON)
    return draft


def _cancelled_run() -> Run:
    run = running()
    cancel_run(run=run, by=make_person("cora"), now=NOON)
    return run


def _stopped() -> TrainingRun:
    run = waiting_run(make_project())
    training_runs.cancel_run(run=run, by=make_person("cora"), now=NOON)
    return run


def quiet(done: int, total: int) -> None:
    pass


def files_of(told: dict[str, Any]) -> dict[str, Any]:
    return {"files" if name == "file" else name: [value] if name == "file" else value for name, value in told.items()}


def with_fixed(action: Callable[..., object], **fixed: Any) -> Callable[..., object]:
    return lambda **who: action(**fixed, **who)


def asked_again() -> Callable[..., object]:
    study = visited()
    some = list(study.questions.values_list("instance", flat=True)[:1])
    return with_fixed(drafts.ask_again, study=study, slug="another", title="Which vase?", instances=some)


def tagging(action: Callable[..., object], *, before: bool = False) -> Callable[..., object]:
    about: dict[str, Any] = {"project": make_project(), "name": "odd"}
    about["instances"] = [make_instance(about["project"], "vase-1").pk]
    if before:
        tags.tag_instances(**about, by=make_person("ben"), now=NOON)
    return with_fixed(action, **about)


ACTIONS: dict[str, tuple[str, Prepare]] = {
    "settle": ("question settled", lambda _: with_fixed(settle, question=question(), choice="none", note="")),
    "unsettle": ("question unsettled", lambda _: with_fixed(unsettle, question=settled())),
    "take_out": (
        "question taken out",
        lambda _: with_fixed(retire_questions.take_out, question=question(), reason="broken"),
    ),
    "put_back": ("question put back", lambda _: with_fixed(retire_questions.put_back, question=_taken_out())),
    "take_out_instances": (
        "question taken out",
        lambda _: with_fixed(retire_questions.take_out_instances, **_about_its_instance(question()), reason="broken"),
    ),
    "put_back_instances": (
        "question put back",
        lambda _: with_fixed(retire_questions.put_back_instances, **_about_its_instance(_taken_out())),
    ),
    "extend": (
        "most answers raised",
        lambda _: with_fixed(extend_study.extend, study=visited(), way=extend_study.ExtensionKind.UNDECIDED, number=2),
    ),
    "add_answers": ("more answers wanted", lambda _: with_fixed(extend_study.add_answers, study=visited(), more=1)),
    "raise_limit": ("most answers raised", lambda _: with_fixed(extend_study.raise_limit, study=visited(), to=2)),
    "add_instances": ("instances taken up", lambda _: _with_a_new_instance()),
    "amend_consent": (
        "consent amended",
        lambda _: with_fixed(
            amend_consent,
            study=launch_study(consent="May we?"),
            text="May we please?",
            reason="Amendment 2",
            ask_again=True,
        ),
    ),
    "set_completion": (
        "completion set",
        lambda _: with_fixed(complete_study.set_completion, study=visited(), closes=True, mails=True),
    ),
    "note_completed": ("study completed", lambda _: _all_answered()),
    "request_launch": ("launch requested", lambda _: with_fixed(request_launch, study=create_draft(dataset=False))),
    "request_extension": (
        "extension requested",
        lambda _: with_fixed(request_extension, study=visited(), way=extend_study.ExtensionKind.UNDECIDED, number=2),
    ),
    "cancel_study_job": ("launch cancelled", lambda _: with_fixed(cancel_study_job, study=_launching())),
    "request_download": (
        "dataset download requested",
        lambda _: with_fixed(
            request_download, project=make_project(), repository="lab/balls", revision="", folder="", token=""
        ),
    ),
    "launch": ("study launched", lambda _: with_fixed(launch, study=create_draft(dataset=False))),
    "freeze": ("dataset set", lambda _: with_fixed(launch, study=create_draft())),
    "end_early": (
        "seat freed",
        lambda _: with_fixed(end_early, session=visited().sessions.get(), to=SessionState.RETURNED),
    ),
    "accept_times": ("times accepted", lambda _: with_fixed(accept_times, session=_doubted())),
    "flag_sessions": ("flags changed", lambda _: with_fixed(flag_sessions, study=_flagged().study)),
    "end_sessions_from_network": (
        "seat freed",
        lambda _: with_fixed(end_sessions_from_network, session=_from_a_network()),
    ),
    "exempt_networks": (
        "networks opened",
        lambda _: with_fixed(exempt_networks, study=visited(), networks="192.0.2.7"),
    ),
    "expire": ("session lapsed", lambda _: _lapsing()),
    "delete_old_ids": ("provider ids deleted", lambda _: _years_later()),
    "import_predictions": ("predictions imported", lambda folder: with_fixed(import_predictions, **predicted(folder))),
    "predictions.request_offered_run": (
        "predictions requested",
        lambda _: with_fixed(request_offered_run, study=visited(), **asked_of_model()),
    ),
    "predictions.request_run": (
        "predictions requested",
        lambda _: with_fixed(request_run, study=visited(), **asked_of_model()),
    ),
    "predictions.cancel_run": ("predictions cancelled", lambda _: with_fixed(cancel_run, run=running())),
    "predictions.resume_run": ("predictions resumed", lambda _: with_fixed(resume_run, run=_cancelled_run())),
    "training.request_offered_run": (
        "training requested",
        lambda _: with_fixed(training_runs.request_offered_run, project=make_project(), wanted=PLAN),
    ),
    "training.request_run": (
        "training requested",
        lambda _: with_fixed(training_runs.request_run, project=make_project(), wanted=PLAN),
    ),
    "training.cancel_run": (
        "training cancelled",
        lambda _: with_fixed(training_runs.cancel_run, run=waiting_run(make_project())),
    ),
    "delete_run": ("training deleted", lambda _: with_fixed(delete_run, run=_stopped())),
    "training.resume_run": ("training resumed", lambda _: with_fixed(training_runs.resume_run, run=_stopped())),
    "rename_model": ("model renamed", lambda _: with_fixed(rename_model, **of_model(), name="SigLIP", version="2")),
    "delete_model": ("model deleted", lambda _: with_fixed(delete_model, **of_model())),
    "import_files": ("instances imported", lambda folder: with_fixed(import_files, **files_of(jsonl(folder)))),
    "request_import": ("import requested", lambda folder: with_fixed(request_import, **files_of(jsonl(folder)))),
    "request_again": ("import requested", lambda folder: with_fixed(request_again, wanted=_cancelled_import(folder))),
    "request_mapping_change": (
        "mapping change requested",
        lambda folder: with_fixed(
            request_mapping_change, wanted=_imported_table(folder), mapping={"nr": "key", "text": "caption:words"}
        ),
    ),
    "change_mapping": ("mapping changed", lambda folder: _mapping_change(_imported_table(folder))),
    "cancel_import": ("import cancelled", lambda folder: with_fixed(cancel_import, wanted=_wanted(folder))),
    "export_into": (
        "export written",
        lambda folder: with_fixed(export_into, study=visited(), format="jsonl", folder=folder, report=quiet),
    ),
    "export_project_into": (
        "export written",
        lambda folder: with_fixed(
            export_project_into, project=visited().project, format="imagecode", folder=folder, report=quiet
        ),
    ),
    "request_export": ("export requested", lambda _: with_fixed(request_export, study=visited(), format="jsonl")),
    "cancel_export": ("export cancelled", lambda _: with_fixed(cancel_export, export=_waiting())),
    "prepare_release": (
        "release made",
        lambda _: with_fixed(prepare_release, study=visited(), about=About(release="v1")),
    ),
    "release_into": (
        "release written",
        lambda folder: with_fixed(release_into, release=frozen(), format="jsonl", folder=folder, report=quiet),
    ),
    "request_push": ("push to the hub requested", lambda _: with_fixed(hub.request_push, **_to_be_pushed())),
    "cancel_push": ("push to the hub cancelled", lambda _: with_fixed(hub.cancel_push, push=_pushing())),
    "request_model_push": (
        "push of a model to the hub requested",
        lambda _: with_fixed(model_push.request_model_push, **_model_to_be_pushed()),
    ),
    "cancel_model_push": (
        "push of a model to the hub cancelled",
        lambda _: with_fixed(model_push.cancel_model_push, push=_pushing_model()),
    ),
    "provider_ids": ("provider ids taken", lambda _: with_fixed(provider_ids, release=frozen())),
    "personal_data": ("personal data taken", lambda _: with_fixed(personal_data, **_of_named_visitor())),
    "write_provider_ids": (
        "provider ids taken",
        lambda folder: with_fixed(write_provider_ids, release=frozen(), folder=folder),
    ),
    "announce_replay": ("study replayed", lambda _: with_fixed(announce_replay, study=visited(), seed="bivlc")),
    "announce_simulation": (
        "answers simulated",
        lambda _: with_fixed(announce_simulation, study=visited(), annotators=2, accuracy=0.9, seed="1"),
    ),
    "withdraw": ("annotator withdrawn", lambda _: with_fixed(removals.withdraw, **of_visitor())),
    "exclude": ("annotator excluded", lambda _: with_fixed(removals.exclude, **of_visitor(), reason="clicked through")),
    "include": ("annotator let back", lambda _: with_fixed(removals.include, **of_visitor(excluded=True))),
    "reopen_slots": ("slots opened again", lambda _: with_fixed(removals.reopen_slots, **of_visitor(excluded=True))),
    "review_flags": (
        "flags upheld",
        lambda _: with_fixed(
            flag_verdicts.review_flags, **_flag_to_review(), verdict=SessionFlag.Verdict.UPHELD, note="Clicked through."
        ),
    ),
    "exclude_and_replace": (
        "annotator excluded",
        lambda _: with_fixed(flag_verdicts.exclude_and_replace, **_flag_to_review(), note="Clicked through."),
    ),
    "undo_review": (
        "flags to review again",
        lambda _: with_fixed(flag_verdicts.undo_review, **_flag_to_review(verdict="upheld", reviewed_at=NOON)),
    ),
    "write_message": (
        "message requested",
        lambda _: with_fixed(person_messages.write_message, **_who_can_be_written_to(), text="Thank you."),
    ),
    "add_note": (
        "note added",
        lambda _: with_fixed(person_notes.add_note, **of_visitor(), session=None, text="Slow, and careful."),
    ),
    "delete_note": ("note deleted", lambda _: _deleting_a_note()),
    "block": ("annotator blocked", lambda _: with_fixed(blocks.block, **of_visitor(), reason="Two accounts.")),
    "allow": ("annotator allowed", lambda _: with_fixed(blocks.allow, **_blocked())),
    "forget": ("annotator forgotten", lambda _: with_fixed(forget, **of_visitor())),
    "set_dataset": ("dataset set", lambda _: _choosing()),
    "join_dataset": ("dataset set", lambda _: with_fixed(join_dataset, study=visited(dataset=False))),
    "set_group": (
        "group set",
        lambda _: with_fixed(
            set_group, project=make_project(), group="testers", provider="prolific", people=["ann", "ben"]
        ),
    ),
    "add_to_panel": (
        "panel members added",
        lambda _: with_fixed(panel.add_to_panel, project=make_project(), addresses=["ann@example.org"]),
    ),
    "remove_from_panel": (
        "panel member removed",
        lambda _: with_fixed(
            panel.remove_from_panel, member=member_of_panel("ann@example.org", project=make_project())
        ),
    ),
    "change_state": ("study closed", lambda _: with_fixed(change_state, study=visited(), to=StudyState.CLOSED)),
    "create_once": ("study created", lambda _: with_fixed(drafts.create_once, project=make_project(), source=ANOTHER)),
    "create_study": ("study created", lambda _: with_fixed(create_study, project=make_project(), source=ANOTHER)),
    "create_or_replace": (
        "study created",
        lambda _: with_fixed(drafts.create_or_replace, project=make_project(), source=ANOTHER),
    ),
    "update_draft": ("study changed", lambda _: with_fixed(drafts.update_draft, study=create_draft(), source=ANOTHER)),
    "duplicate_study": (
        "study duplicated",
        lambda _: with_fixed(drafts.duplicate_study, study=visited(), slug="another", title="Which vase?"),
    ),
    "ask_again": ("study duplicated", lambda _: asked_again()),
    "tag_instances": ("instances tagged", lambda _: tagging(tags.tag_instances)),
    "untag_instances": ("instances untagged", lambda _: tagging(tags.untag_instances, before=True)),
    "make_project": ("project made", lambda _: with_fixed(projects.make_project, slug="vases", name="Vases")),
    "rename_project": (
        "project renamed",
        lambda _: with_fixed(projects.rename_project, project=make_project(), name="Jugs"),
    ),
    "archive_project": ("project archived", lambda _: with_fixed(projects.archive_project, project=make_project())),
    "reopen_project": ("project reopened", lambda _: with_fixed(projects.reopen_project, project=_archived())),
    "request_deletion": ("project deletion requested", lambda _: _deleting()),
    "cancel_deletion": ("project deletion cancelled", lambda _: _cancelling_deletion()),
    "request_demo": ("project made", lambda _: request_demo),
    "invite": (
        "member invited",
        lambda _: with_fixed(membership.invite, project=make_project(), role="viewer", days=7, whom="Amaia"),
    ),
    "cancel_invitation": (
        "invitation cancelled",
        lambda _: with_fixed(membership.cancel_invitation, invitation=_invited()[0]),
    ),
    "join": ("member added", lambda _: with_fixed(membership.join, secret=_invited()[1])),
    "change_role": (
        "member changed",
        lambda _: with_fixed(membership.change_role, membership=_viewer(), role="editor"),
    ),
    "remove_member": ("member removed", lambda _: with_fixed(membership.remove_member, membership=_viewer())),
    "make_webhook": (
        "webhook made",
        lambda _: with_fixed(webhooks.make_webhook, project=make_project(), url=URL, topics=["release.made"]),
    ),
    "change_key": ("webhook key changed", lambda _: with_fixed(webhooks.change_key, webhook=_webhook(), hours=24)),
    "delete_webhook": ("webhook deleted", lambda _: with_fixed(webhooks.delete_webhook, webhook=_webhook())),
    "switch_on": ("webhook switched on", lambda _: with_fixed(webhooks.switch_on, webhook=_webhook(is_off=True))),
    "send_test": ("webhook tried", lambda _: with_fixed(webhooks.send_test, webhook=_webhook())),
    "send_again": ("delivery repeated", lambda _: with_fixed(webhooks.send_again, delivery=_delivered())),
    "save_account": (
        "prolific account connected",
        lambda _: with_fixed(prolific_account.save_account, project=make_project(), token="secret", owner=OWNER),
    ),
    "remove_account": (
        "prolific account removed",
        lambda _: with_fixed(prolific_account.remove_account, account=_connected()),
    ),
    "note_confirmed": (
        "prolific webhooks confirmed",
        lambda _: with_fixed(prolific_webhooks.note_confirmed, account=_connected()),
    ),
    "choose_workspace": (
        "prolific workspace chosen",
        lambda _: with_fixed(prolific_account.choose_workspace, account=_connected(), workspace=WORKSPACE, title="Lab"),
    ),
    "write_draft": (
        "prolific study drafted",
        lambda _: with_fixed(prolific_studies.write_draft, study=launch_study(), draft=PROLIFIC_DRAFT),
    ),
    "publish": ("prolific study published", lambda folder: _on_prolific(folder, "publish")),
    "pause": ("prolific study paused", lambda folder: _on_prolific(folder, "publish", "pause")),
    "resume": ("prolific study resumed", lambda folder: _on_prolific(folder, "publish", "pause", "resume")),
    "stop": ("prolific study stopped", lambda folder: _on_prolific(folder, "publish", "stop")),
    "raise_places": ("prolific places added", lambda folder: _on_prolific(folder, "publish", "raise_places", places=9)),
    "order_payments": ("payments ordered", lambda _: _ordering()),
    "order_rewards": (
        "payments ordered",
        lambda _: with_fixed(order_rewards, study=_reviewed().study, sessions=[_session().pk], chosen=True),
    ),
    "cancel_payment": ("payment cancelled", lambda _: with_fixed(cancel_payment, payment=_payment())),
    "send_refused": ("payments sent again", lambda _: _sending_again()),
    "note_paid": ("payment found paid", lambda _: with_fixed(note_paid, payments=[_payment(Payment.State.UNCERTAIN)])),
    "note_unpaid": ("payment found unpaid", lambda folder: _deciding_unpaid(folder)),
    "note_rewards": ("rewards noted", lambda _: with_fixed(note_rewards, study=_reviewed("APPROVED").study)),
    "note_amount": ("rewards noted", lambda folder: _noting_amount(folder)),
    "request_check": ("ledger compared", lambda _: with_fixed(request_check, project=make_project())),
    "ask_to_return": ("return requested", lambda folder: _asking_to_return(folder)),
    "reject": ("submission rejected", lambda folder: _rejecting(folder)),
    "undo_rejection": ("rejection undone", lambda folder: _undoing_rejection(folder)),
    "record_underpaid": ("study underpaid", lambda _: _underpaid()),
    "act_on_policies": ("policy paused", lambda _: _over_its_bound()),
    "pause_on_prolific": ("prolific study paused", lambda folder: _pausing_on_prolific(folder)),
    "delete_draft": ("study deleted", lambda _: with_fixed(drafts.delete_draft, study=create_draft())),
}


def _webhook(*, is_off: bool = False) -> Webhook:
    off = {"off_at": NOON, "off_because": "Nobody is there."} if is_off else {}
    return Webhook.objects.create(project=make_project(), url=URL, topics=["release.made"], made_at=NOON, **off)


def _to_be_pushed() -> dict[str, Any]:
    return {"release": frozen(), "repository": "lab/vases", "private": True, "token": "hf_token"}


def _pushing() -> HubPush:
    return hub.request_push(**_to_be_pushed(), by=make_person("cora"), now=NOON)


def _model_to_be_pushed() -> dict[str, Any]:
    run = waiting_run(make_project())
    finish(run)
    return {"run": run, "repository": "lab/clip", "private": True, "token": "hf_token"}


def _pushing_model() -> ModelPush:
    return model_push.request_model_push(**_model_to_be_pushed(), by=make_person("cora"), now=NOON)


def _delivered() -> Delivery:
    return Delivery.objects.create(webhook=_webhook(), topic="release.made", state="taken", made_at=NOON, due_at=NOON)


def _connected() -> ProlificAccount:
    return ProlificAccount.objects.create(project=make_project(), sealed_token="sealed", user_id="5f00", saved_at=NOON)


def _on_prolific(folder: Path, *actions: str, **given: int) -> Callable[..., object]:
    """Return the last of some actions, after the others were done on a local platform that keeps its data."""
    study = launch_study()
    ProlificAccount.objects.create(
        project=study.project, sealed_token=seal(TOKEN), user_id="5f00", workspace_id=WORKSPACE, saved_at=NOON
    )
    row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by="dora", now=NOON)

    def do(action: str, **given: Any) -> None:
        with local_platform(folder) as local, override_settings(PROLIFIC_ADDRESS=local.double.address):
            getattr(prolific_studies, action)(prolific_study=fresh(row), now=NOON, **given)

    do("send_draft")
    for action in actions[:-1]:
        do(action, by="dora")
    return lambda by, now: do(actions[-1], by=by, **given)


def _pausing_on_prolific(folder: Path) -> Callable[..., object]:
    """Return the pause of a study on Prolific that a policy has paused here."""
    _on_prolific(folder, "publish")(by="dora", now=NOON)
    study = Study.objects.get()
    change_state(study=study, to=StudyState.PAUSED, by="dora", now=NOON)
    PolicyAct.objects.create(study=study, policy="cost", acted_at=NOON)

    def act(*, by: Any, now: Any) -> None:
        with local_platform(folder) as local, override_settings(PROLIFIC_ADDRESS=local.double.address):
            pause_on_prolific(study=study, by=by, now=now)

    return act


def _session() -> Session:
    return Session.objects.get()


def _reviewed(status: str = "AWAITING REVIEW") -> ProlificStudy:
    """Return a study on Prolific with one finished session."""
    study = visited()
    Session.objects.update(state="finished", ended_at=NOON)
    remote = make_prolific_study(study)
    make_submission(remote, _session(), "66f000000000000000000b01", status)
    return remote


def _ordering() -> Callable[..., object]:
    study = _reviewed().study
    order = Order(_session().pk, Payment.Reason.DECIDED, Decimal("1.50"))
    return with_fixed(order_payments, study=study, orders=[order])


def _payment(state: str = Payment.State.PLANNED) -> Payment:
    _ordering()(by=make_person("cora"), now=NOON - timedelta(hours=2))
    Payment.objects.update(state=state)
    return Payment.objects.select_related("study__project").get()


def _sending_again() -> Callable[..., object]:
    refused = _payment(Payment.State.REFUSED)
    return with_fixed(send_refused, study=refused.study, payments=[refused])


def _deciding_unpaid(folder: Path) -> Callable[..., object]:
    return _on_the_platform(folder, lambda paying, **who: note_unpaid(payments=[paying.held()], **who))


def _asking_to_return(folder: Path) -> Callable[..., object]:
    return _on_the_platform(
        folder, lambda paying, **who: ask_to_return(submission=paying.submission(), reason="Other", **who)
    )


def _rejecting(folder: Path) -> Callable[..., object]:
    return _on_the_platform(
        folder,
        lambda paying, **who: reject(submission=paying.submission(), category="FAILED_CHECK", message=MESSAGE, **who),
    )


def _undoing_rejection(folder: Path) -> Callable[..., object]:
    def prepare(paying: Stage) -> None:
        paying.local.client.reject_submission(paying.ids[0], category=RejectionCategory.FAILED_CHECK, message=MESSAGE)
        Submission.objects.update(status="REJECTED")

    return _on_the_platform(
        folder, lambda paying, **who: undo_rejection(submission=paying.submission(), **who), prepare=prepare
    )


def _noting_amount(folder: Path) -> Callable[..., object]:
    def prepare(paying: Stage) -> None:
        # Approved there, so that Prolific tells of more than is known here.
        paying.local.client.approve_submission(paying.ids[0])
        Submission.objects.update(status="PARTIALLY APPROVED")

    return _on_the_platform(
        folder,
        lambda paying, **who: note_amount(submission=paying.submission(), amount=Decimal("2.00"), **who),
        prepare=prepare,
    )


def _on_the_platform(
    folder: Path, action: Callable[..., object], *, prepare: Callable[[Stage], object] = lambda paying: None
) -> Callable[..., object]:
    """Return an action that is done on what a local platform has, which stops afterwards."""
    running = ExitStack()
    paying = running.enter_context(stage(folder, people=1))
    prepare(paying)

    def act(*, by: Any, now: Any) -> object:
        with running:
            return action(paying, by=by, now=now)

    return act


def _underpaid() -> Callable[..., object]:
    session = arrive(launch_study(pay={"currency": "USD", "per_session": "1.00"}), CAME)
    Session.objects.filter(pk=session.pk).update(state="finished", ended_at=NOON + timedelta(hours=1))
    return record_underpaid


def _over_its_bound() -> Callable[..., object]:
    """Return the policies of a study that owes 2.00, as it has two sessions that finished, and may owe 1.00."""
    limit = {"policy": "cost", "cost_above": "1.00"}
    study = launch_study(answers=2, pay={"currency": "USD", "per_session": "1.00"}, policies=[limit])
    for who in (CAME, "eve"):
        session = arrive(study, who)
        Session.objects.filter(pk=session.pk).update(state="finished", ended_at=NOON, questions_answered=1)
    return with_fixed(act_on_policies, study=study)


def _archived() -> Project:
    projects.archive_project(project=make_project(), by=make_person("ben"), now=NOON)
    return make_project()


def _deleting() -> Callable[..., object]:
    study = launch_study()
    change_state(study=study, to=StudyState.CLOSED, by=make_person("cora"), now=NOON)
    return with_fixed(request_deletion, project=_archived(), name="Vases", pay_settled=False)


def _cancelling_deletion() -> Callable[..., object]:
    _deleting()(by=make_person("dora"), now=NOON)
    return with_fixed(cancel_deletion, project=make_project())


def _invited() -> tuple[Invitation, str]:
    owner = make_member(make_project(), "owner")
    return membership.invite(project=make_project(), role="viewer", days=7, whom="", by=owner, now=NOON)


def _viewer() -> Membership:
    make_member(make_project(), "viewer")
    return Membership.objects.get()


def _years_later() -> Callable[..., object]:
    study = visited()
    Annotator.objects.update(created_at=NOON)
    Study.objects.filter(pk=study.pk).update(state="closed", closed_at=NOON)
    return lambda by, now: delete_old_ids(by=by, now=now.replace(year=now.year + 2))


def _lapsing() -> Callable[..., object]:
    visited()
    return lambda by, now: expire(by=by, now=now.replace(year=now.year + 1))


def _doubted() -> Session:
    evidence = asdict(TimeEvidence(5, 5, 105.0, 0.4, 2.9, is_too_quick=True, claims_too_much=True))
    visited().sessions.update(time_evidence=evidence)
    return Session.objects.get()


def _flagged() -> Session:
    """Return a session without answers, and with a flag."""
    session = visited().sessions.get()
    SessionFlag.objects.create(session=session, rule="too_fast", found_at=NOON)
    return session


def _from_a_network() -> Session:
    visited().sessions.update(network="a digest")
    return Session.objects.get()


def _with_a_new_instance() -> Callable[..., object]:
    study = visited()
    make_instance(study.project, "came-later")
    return with_fixed(extend_study.add_instances, study=study)


def _all_answered() -> Callable[..., object]:
    answer_all(arrive_at_work(launch_study(instances=1), CAME, session=f"session-of-{CAME}"), "none")
    return complete_study.note_completed


def _waiting() -> Export:
    return request_export(study=visited(), format="jsonl", by=make_person("ben"), now=NOON)


def _wanted(folder: Path) -> Import:
    return request_import(**files_of(jsonl(folder)), by=make_person("ben"), now=NOON)


def _imported_table(folder: Path) -> Import:
    (folder / "vases.csv").write_text("nr,text\n1,A red vase.\n")
    wanted = request_import(
        project=make_project(),
        files=[folder / "vases.csv"],
        format="table",
        mapping={"nr": "key", "text": "caption:caption"},
        by=make_person("ben"),
        now=NOON,
    )
    assert run_now(Job.objects.get()).error == ""
    wanted.refresh_from_db()
    return wanted


def _mapping_change(one: Import) -> Callable[..., object]:
    return with_fixed(
        change_mapping,
        one=one,
        mapping={"nr": "key", "text": "caption:words"},
        progress=ignore_progress,
        on_problem=ignore_progress,
        on_saved=ignore_progress,
    )


def _cancelled_import(folder: Path) -> Import:
    wanted = _wanted(folder)
    cancel_import(wanted=wanted, by=make_person("cora"), now=NOON)
    wanted.refresh_from_db()
    return wanted


def _choosing() -> Callable[..., object]:
    study = visited(dataset=False)
    return with_fixed(set_dataset, project=study.project, studies=[study])


def stored() -> dict[str, str]:
    """Return all that the database holds, model by model."""
    rooms = ("background", "studies", "annotation", "predictions", "training", "results", "simulation", "workspace")
    models = [model for room in rooms for model in apps.get_app_config(room).get_models() if model not in DERIVED]
    return {model.__name__: serializers.serialize("json", model._base_manager.order_by("pk")) for model in models}


def test_every_action_that_takes_who_acts_is_tried_here() -> None:
    acting = [name for name, signature in actions() if "by" in signature.parameters]
    # By their names; by the room too where several have one, unless one covers all.
    pairs = [(f"{name.partition('.')[0]}.{name.rpartition('.')[2]}", name.rpartition(".")[2]) for name in acting]
    names = {whole if whole in ACTIONS else short for whole, short in pairs}
    assert names == ACTIONS.keys()


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_leaves_an_event_that_names_who_acted_and_none_holds_a_providers_id(
    name: str, tmp_path: Path
) -> None:
    what, prepare = ACTIONS[name]
    act, anna = prepare(tmp_path), make_person("anna")
    act(by=anna, now=NOON)
    event = Event.objects.filter(by=anna).get(what=what)
    assert (event.by_name, event.project.slug) == ("anna", f"demo-{anna.pk}" if name == "request_demo" else "vases")
    assert CAME not in serializers.serialize("json", Event.objects.all())


@pytest.mark.parametrize("name", ACTIONS)
def test_what_leaves_no_event_changes_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    act, anna = ACTIONS[name][1](tmp_path), make_person("anna")
    before = stored()

    def fail(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError("The event cannot be stored.")

    monkeypatch.setattr("studies.models.events.EventQuerySet.create", fail)
    with pytest.raises(RuntimeError, match="The event cannot be stored"):
        act(by=anna, now=NOON)
    assert stored() == before
