"""Every action of a researcher, a command or a program leaves an event, in the transaction of what it changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.apps import apps
from django.core import serializers

from annotation.actions import removals, taking_out
from annotation.actions.adjudication import settle, unsettle
from annotation.actions.groups import set_group
from annotation.actions.launching import launch
from annotation.actions.leading_on import expire
from annotation.actions.responses import open_slots
from annotation.actions.sessions import end_early
from annotation.models import SessionState
from predictions.actions.from_file import ModelName, import_predictions
from predictions.actions.models import delete_model, rename_model
from predictions.actions.runs import cancel_run, request_run, resume_run
from predictions.models import Run
from rehearsal.actions.announcing import announce_replay, announce_simulation
from results.actions import people
from results.actions.exports import cancel_export, export_into, export_project_into, request_export
from results.actions.forgetting import forget
from results.actions.releases import (
    freeze_release,
    prepare_release,
    provider_ids,
    release_into,
    write_provider_ids,
)
from results.exporting.dossier import About
from results.models import Export, Pseudonym, Release, ReleasePseudonym
from studies.actions import drafts, membership, projects
from studies.actions.datasets import set_dataset
from studies.actions.importing import import_files, import_instances
from studies.actions.imports import cancel_import, request_again, request_import
from studies.actions.studies import change_state, create_study
from studies.models import Event, Import, Invitation, Membership, Project, Question, Study, StudyState
from tests.annotation.test_responses import send
from tests.factories import (
    NOON,
    arrive,
    arrive_at_work,
    create_draft,
    launch_study,
    make_member,
    make_model,
    make_person,
    make_project,
)
from tests.predictions.result_files import add_instance, result, write_results
from tests.test_actors import actions

pytestmark = pytest.mark.django_db

# Prepares what an action is about and returns the action, to be called with `by` and `now`.
Prepare = Callable[[Path], Callable[..., object]]
ANOTHER = "study: another\ntitle: Which vase?\nkind: best_of_n\n"
CAME = "65f000000000000000000abc"
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


def _taken_out() -> Question:
    asked = question()
    taking_out.take_out(question=asked, reason="broken", by=make_person("ben"), now=NOON)
    return asked


def frozen() -> Release:
    release, _ = prepare_release(study=visited(), about=About(release="v1"), by=make_person("ben"), now=NOON)
    freeze_release(release=release)
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


def _cancelled_run() -> Run:
    run = running()
    cancel_run(run=run, by=make_person("cora"), now=NOON)
    return run


def quiet(done: int, total: int) -> None:
    pass


def files_of(told: dict[str, Any]) -> dict[str, Any]:
    return {"files" if name == "file" else name: [value] if name == "file" else value for name, value in told.items()}


def with_fixed(action: Callable[..., object], **fixed: Any) -> Callable[..., object]:
    return lambda **who: action(**fixed, **who)


ACTIONS: dict[str, tuple[str, Prepare]] = {
    "settle": ("question settled", lambda _: with_fixed(settle, question=question(), choice="none", note="")),
    "unsettle": ("question unsettled", lambda _: with_fixed(unsettle, question=settled())),
    "take_out": ("question taken out", lambda _: with_fixed(taking_out.take_out, question=question(), reason="broken")),
    "put_back": ("question put back", lambda _: with_fixed(taking_out.put_back, question=_taken_out())),
    "launch": ("study launched", lambda _: with_fixed(launch, study=create_draft(dataset=False))),
    "freeze": ("dataset set", lambda _: with_fixed(launch, study=create_draft())),
    "end_early": (
        "seat freed",
        lambda _: with_fixed(end_early, session=visited().sessions.get(), to=SessionState.RETURNED),
    ),
    "expire": ("session lapsed", lambda _: _lapsing()),
    "import_predictions": ("predictions imported", lambda folder: with_fixed(import_predictions, **predicted(folder))),
    "request_run": ("predictions requested", lambda _: with_fixed(request_run, study=visited(), **asked_of_model())),
    "cancel_run": ("predictions cancelled", lambda _: with_fixed(cancel_run, run=running())),
    "resume_run": ("predictions resumed", lambda _: with_fixed(resume_run, run=_cancelled_run())),
    "rename_model": ("model renamed", lambda _: with_fixed(rename_model, **of_model(), name="SigLIP", version="2")),
    "delete_model": ("model deleted", lambda _: with_fixed(delete_model, **of_model())),
    "import_files": ("instances imported", lambda folder: with_fixed(import_files, **files_of(jsonl(folder)))),
    "request_import": ("import requested", lambda folder: with_fixed(request_import, **files_of(jsonl(folder)))),
    "request_again": ("import requested", lambda folder: with_fixed(request_again, wanted=_cancelled_import(folder))),
    "cancel_import": ("import cancelled", lambda folder: with_fixed(cancel_import, wanted=_wanted(folder))),
    "import_instances": ("instances imported", lambda folder: with_fixed(import_instances, **jsonl(folder))),
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
    "request_export": (
        "export requested",
        lambda _: with_fixed(request_export, study=visited(), format="jsonl"),
    ),
    "cancel_export": ("export cancelled", lambda _: with_fixed(cancel_export, export=_waiting())),
    "prepare_release": (
        "release made",
        lambda _: with_fixed(prepare_release, study=visited(), about=About(release="v1")),
    ),
    "release_into": (
        "release written",
        lambda folder: with_fixed(release_into, release=frozen(), format="jsonl", folder=folder, report=quiet),
    ),
    "provider_ids": ("provider ids taken", lambda _: with_fixed(provider_ids, release=frozen())),
    "write_provider_ids": (
        "provider ids taken",
        lambda folder: with_fixed(write_provider_ids, release=frozen(), folder=folder),
    ),
    "announce_replay": (
        "study replayed",
        lambda _: with_fixed(announce_replay, study=visited(), seed="bivlc"),
    ),
    "announce_simulation": (
        "answers simulated",
        lambda _: with_fixed(announce_simulation, study=visited(), annotators=2, accuracy=0.9, seed="1"),
    ),
    "withdraw": ("annotator withdrawn", lambda _: with_fixed(people.withdraw, **of_visitor())),
    "exclude": ("annotator excluded", lambda _: with_fixed(removals.exclude, **of_visitor(), reason="clicked through")),
    "include": ("annotator let back", lambda _: with_fixed(removals.include, **of_visitor(excluded=True))),
    "reopen_slots": ("slots opened again", lambda _: with_fixed(removals.reopen_slots, **of_visitor(excluded=True))),
    "forget": ("annotator forgotten", lambda _: with_fixed(forget, **of_visitor())),
    "set_dataset": ("dataset set", lambda _: _choosing()),
    "set_group": (
        "group set",
        lambda _: with_fixed(
            set_group, project=make_project(), group="testers", provider="prolific", people=["ann", "ben"]
        ),
    ),
    "change_state": ("study closed", lambda _: with_fixed(change_state, study=visited(), to=StudyState.CLOSED)),
    "create_study": ("study created", lambda _: with_fixed(create_study, project=make_project(), source=ANOTHER)),
    "create_or_replace": (
        "study created",
        lambda _: with_fixed(drafts.create_or_replace, project=make_project(), source=ANOTHER),
    ),
    "update_draft": (
        "study changed",
        lambda _: with_fixed(drafts.update_draft, study=create_draft(), source=ANOTHER),
    ),
    "duplicate_study": (
        "study duplicated",
        lambda _: with_fixed(drafts.duplicate_study, study=visited(), slug="another", title="Which vase?"),
    ),
    "make_project": ("project made", lambda _: with_fixed(projects.make_project, slug="vases", name="Vases")),
    "rename_project": (
        "project renamed",
        lambda _: with_fixed(projects.rename_project, project=make_project(), name="Jugs"),
    ),
    "archive_project": ("project archived", lambda _: with_fixed(projects.archive_project, project=make_project())),
    "reopen_project": ("project reopened", lambda _: with_fixed(projects.reopen_project, project=_archived())),
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
    "delete_draft": ("study deleted", lambda _: with_fixed(drafts.delete_draft, study=create_draft())),
}


def _archived() -> Project:
    projects.archive_project(project=make_project(), by=make_person("ben"), now=NOON)
    return make_project()


def _invited() -> tuple[Invitation, str]:
    owner = make_member(make_project(), "owner")
    return membership.invite(project=make_project(), role="viewer", days=7, whom="", by=owner, now=NOON)


def _viewer() -> Membership:
    make_member(make_project(), "viewer")
    return Membership.objects.get()


def _lapsing() -> Callable[..., object]:
    visited()
    return lambda by, now: expire(by=by, now=now.replace(year=now.year + 1))


def _waiting() -> Export:
    return request_export(study=visited(), format="jsonl", by=make_person("ben"), now=NOON)


def _wanted(folder: Path) -> Import:
    return request_import(**files_of(jsonl(folder)), by=make_person("ben"), now=NOON)


def _cancelled_import(folder: Path) -> Import:
    wanted = _wanted(folder)
    cancel_import(wanted=wanted, by=make_person("cora"), now=NOON)
    wanted.refresh_from_db()
    return wanted


def _choosing() -> Callable[..., object]:
    study = visited(dataset=False)
    return with_fixed(set_dataset, project=study.project, study=study)


def stored() -> dict[str, str]:
    """Return all that the database holds, model by model."""
    rooms = ("background", "studies", "annotation", "predictions", "results", "rehearsal", "workspace")
    models = [model for room in rooms for model in apps.get_app_config(room).get_models() if model not in DERIVED]
    return {model.__name__: serializers.serialize("json", model._base_manager.order_by("pk")) for model in models}


def test_every_action_that_takes_who_acts_is_tried_here() -> None:
    acting = {name.rpartition(".")[2] for name, signature in actions() if "by" in signature.parameters}
    assert acting == ACTIONS.keys()


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_leaves_an_event_that_names_who_acted_and_none_holds_a_providers_id(
    name: str, tmp_path: Path
) -> None:
    what, prepare = ACTIONS[name]
    act, anna = prepare(tmp_path), make_person("anna")
    act(by=anna, now=NOON)
    event = Event.objects.filter(by=anna).get(what=what)
    assert (event.by_name, event.project.slug) == ("anna", "vases")
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
