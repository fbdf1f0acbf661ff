"""Who gets what from every endpoint with every method: the same table of roles and verbs as on the pages."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import resolve

from background.models import Job
from predictions.models import Run
from results.actions.exports import make_export, request_export
from results.actions.participant_changes import ACTS
from results.models import Export, Release
from studies.actions.drafts import LAUNCH_JOB
from studies.actions.imports.uploads import begin_upload
from studies.actions.projects.membership import invite
from studies.models import Event, Import, Invitation, Membership, Project, Study
from tests.factories import NOON, draw_instance, make_launched, make_person, make_project, make_study
from tests.training.site import waiting_run
from tests.workspace.api.asking import Script, content, script_of
from training.actions.runs import cancel_run
from training.models import TrainingRun
from workspace.api.urls import endpoints
from workspace.models import Delivery, HubPush, ModelPush, Scope, Webhook

pytestmark = pytest.mark.django_db

FINE, REFUSED, STRANGE, NOT_NOW, UNUSABLE, UNKNOWN_TYPE, NOT_THERE = 200, 403, 400, 409, 422, 415, 404
BIRDS, STUDY, DRAFT = ("/api/v1/projects/birds/" + tail for tail in ("", "studies/birds-step-3/", "studies/draft/"))


def everybody(status: int = FINE) -> tuple[int, int, int]:
    return status, status, status


def not_viewers(status: int = FINE) -> tuple[int, int, int]:
    return REFUSED, status, status


def owners_alone(status: int = FINE) -> tuple[int, int, int]:
    return REFUSED, REFUSED, status


# (method, address) -> what a viewer, an editor and an owner get. What changes something is sent what it cannot use,
# or asked where it cannot be done, so that the same rows serve every role.
TABLE: dict[tuple[str, str], tuple[int, int, int]] = {
    ("GET", BIRDS): everybody(),
    # Without a name that can be used.
    ("PATCH", BIRDS): owners_alone(STRANGE),
    ("GET", f"{BIRDS}members/"): everybody(),
    # Without a role; and of nobody.
    ("PATCH", f"{BIRDS}members/maker/"): owners_alone(STRANGE),
    ("DELETE", f"{BIRDS}members/nobody/"): owners_alone(404),
    ("GET", f"{BIRDS}invitations/"): owners_alone(),
    ("POST", f"{BIRDS}invitations/"): owners_alone(STRANGE),
    # One that was used.
    ("DELETE", f"{BIRDS}invitations/{{invitation}}/"): owners_alone(NOT_NOW),
    ("GET", f"{BIRDS}people/"): everybody(),
    # Of nobody.
    **{("POST", f"{BIRDS}people/A-34679/{change}/"): not_viewers(404) for change in ACTS},
    ("GET", f"{BIRDS}flags/"): everybody(),
    # Without a verdict; and of nobody.
    ("POST", f"{BIRDS}flags/0/review/"): not_viewers(STRANGE),
    ("POST", f"{BIRDS}flags/0/undo/"): not_viewers(404),
    ("POST", f"{BIRDS}uploads/"): not_viewers(201),
    # Of somebody else.
    ("GET", f"{BIRDS}uploads/{{upload}}/"): not_viewers(404),
    ("PUT", f"{BIRDS}uploads/{{upload}}/rows/?name=a&offset=0"): not_viewers(404),
    ("GET", f"{BIRDS}imports/"): everybody(),
    ("POST", f"{BIRDS}imports/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}imports/{{import}}/"): everybody(),
    # One that is done.
    ("POST", f"{BIRDS}imports/{{import}}/cancel/"): not_viewers(NOT_NOW),
    ("POST", f"{BIRDS}imports/{{import}}/again/"): not_viewers(NOT_NOW),
    ("POST", f"{BIRDS}imports/{{import}}/mapping/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}imports/{{import}}/problems/"): everybody(),
    ("GET", f"{BIRDS}events/"): everybody(),
    ("GET", f"{BIRDS}instances/"): everybody(),
    ("POST", f"{BIRDS}instances/"): not_viewers(UNKNOWN_TYPE),
    ("GET", f"{BIRDS}instances/{{instance}}/"): everybody(),
    # Without a tag.
    **{("POST", f"{BIRDS}instances/{change}/"): not_viewers(STRANGE) for change in ("tag", "untag")},
    ("POST", f"{BIRDS}images/missing/"): not_viewers(STRANGE),
    ("PUT", f"{BIRDS}images/{'0' * 64}/"): not_viewers(UNUSABLE),
    ("GET", f"{BIRDS}predictions/"): not_viewers(),
    ("POST", f"{BIRDS}predictions/"): not_viewers(UNKNOWN_TYPE),
    ("GET", f"{BIRDS}runs/"): everybody(),
    # Without a model; and of a run that is over.
    ("POST", f"{BIRDS}runs/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}runs/{{run}}/"): everybody(),
    ("POST", f"{BIRDS}runs/{{run}}/cancel/"): not_viewers(NOT_NOW),
    ("POST", f"{BIRDS}runs/{{run}}/go-on/"): not_viewers(NOT_NOW),
    ("GET", f"{BIRDS}trainings/"): everybody(),
    # Without a name; and of one that was cancelled, and one that is not there.
    ("POST", f"{BIRDS}trainings/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}trainings/{{training}}/"): everybody(),
    ("POST", f"{BIRDS}trainings/{{training}}/cancel/"): not_viewers(NOT_NOW),
    ("GET", f"{BIRDS}trainings/{{training}}/card/"): everybody(NOT_NOW),
    ("POST", f"{BIRDS}trainings/0/resume/"): not_viewers(NOT_THERE),
    ("DELETE", f"{BIRDS}trainings/0/"): not_viewers(NOT_THERE),
    ("GET", f"{BIRDS}studies/"): everybody(),
    ("POST", f"{BIRDS}studies/"): not_viewers(UNUSABLE),
    ("POST", f"{BIRDS}check-study/"): not_viewers(UNUSABLE),
    ("GET", STUDY): everybody(),
    ("PUT", STUDY): not_viewers(NOT_NOW),
    ("DELETE", STUDY): not_viewers(NOT_NOW),
    ("POST", f"{STUDY}launch/"): not_viewers(NOT_NOW),
    ("GET", f"{STUDY}jobs/{{job}}/"): everybody(),
    ("POST", f"{STUDY}jobs/{{job}}/cancel/"): not_viewers(NOT_NOW),
    ("POST", f"{DRAFT}pause/"): not_viewers(NOT_NOW),
    ("POST", f"{DRAFT}resume/"): not_viewers(NOT_NOW),
    ("POST", f"{DRAFT}close/"): not_viewers(NOT_NOW),
    # Without saying what.
    ("POST", f"{STUDY}more/"): not_viewers(STRANGE),
    ("GET", f"{STUDY}progress/"): everybody(),
    ("GET", f"{STUDY}policies/"): everybody(),
    ("GET", f"{STUDY}owed/"): everybody(),
    ("GET", f"{STUDY}sessions/"): everybody(),
    ("GET", f"{STUDY}ratings/"): everybody(),
    ("GET", f"{STUDY}responses/"): not_viewers(),
    ("GET", f"{STUDY}decisions/"): not_viewers(),
    # Without a choice; and nobody has settled it.
    ("POST", f"{STUDY}decisions/{{decision}}/settle/"): not_viewers(STRANGE),
    ("POST", f"{STUDY}decisions/{{decision}}/unsettle/"): not_viewers(NOT_NOW),
    ("GET", f"{STUDY}exports/"): everybody(),
    ("POST", f"{STUDY}exports/"): not_viewers(STRANGE),
    ("GET", f"{STUDY}releases/"): everybody(),
    ("POST", f"{STUDY}releases/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}exports/{{export}}/"): everybody(),
    ("POST", f"{BIRDS}exports/{{export}}/cancel/"): not_viewers(NOT_NOW),
    ("GET", f"{BIRDS}exports/{{export}}/file/"): not_viewers(),
    ("GET", f"{BIRDS}hub-pushes/"): not_viewers(),
    ("POST", f"{BIRDS}hub-pushes/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}hub-pushes/{{push}}/"): not_viewers(),
    ("POST", f"{BIRDS}hub-pushes/{{push}}/cancel/"): not_viewers(NOT_NOW),
    ("GET", f"{BIRDS}trainings/{{training}}/hub-pushes/"): not_viewers(),
    ("POST", f"{BIRDS}trainings/{{training}}/hub-pushes/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}model-pushes/{{model_push}}/"): not_viewers(),
    ("POST", f"{BIRDS}model-pushes/{{model_push}}/cancel/"): not_viewers(NOT_NOW),
    ("GET", f"{BIRDS}webhooks/"): owners_alone(),
    ("POST", f"{BIRDS}webhooks/"): owners_alone(STRANGE),
    ("GET", f"{BIRDS}webhooks/{{webhook}}/"): owners_alone(),
    # Of one that there is not: what can be deleted would be gone for the next role.
    ("DELETE", f"{BIRDS}webhooks/0/"): owners_alone(NOT_THERE),
    ("POST", f"{BIRDS}webhooks/0/key/"): owners_alone(NOT_THERE),
    ("POST", f"{BIRDS}webhooks/0/try/"): owners_alone(NOT_THERE),
    ("POST", f"{BIRDS}webhooks/{{webhook}}/on/"): owners_alone(NOT_NOW),
    ("GET", f"{BIRDS}webhooks/{{webhook}}/deliveries/"): owners_alone(),
    ("POST", f"{BIRDS}deliveries/{{delivery}}/repeat/"): owners_alone(NOT_NOW),
}
# Of no project: a list of those that the token opens, and whose it is.
OWN = [("GET", "/api/v1/me/"), ("GET", "/api/v1/projects/"), ("POST", "/api/v1/projects/")]
# In a PATCH what is not named stays, so that nothing is asked without anything.
UNUSABLE_BODY = {"name": [], "role": "emperor"}
COLUMNS = {"viewer": 0, "editor": 1, "researcher": 1, "owner": 2}


@pytest.fixture
def places() -> dict[str, Any]:
    """Make what the addresses name, and return the ids that stand in them."""
    project = make_project("birds", members=[make_person("maker")])
    instance = draw_instance(project, 1)
    study = make_launched(make_study(project))
    draft = make_study(make_project("birds-of-drafts"), slug="draft")
    Study.objects.filter(pk=draft.pk).update(project=project)
    export = request_export(study=study, format="jsonl", by=User.objects.get(), now=NOON)
    make_export(export=export, now=lambda: NOON)
    webhook = Webhook.objects.create(project=project, url="https://example.org/", made_at=NOON)
    delivery = Delivery.objects.create(webhook=webhook, topic="release.made", made_at=NOON, due_at=NOON)
    release = Release.objects.create(project=project, study=study, name="v1", made_at=NOON)
    over = {"error": "It was cancelled.", "requested_at": NOON, "finished_at": NOON}
    push = HubPush.objects.create(project=project, release=release, repository="lab/birds", **over)
    maker = User.objects.get()
    invitation, _ = invite(project=project, role="viewer", days=7, whom="", by=maker, now=NOON)
    Invitation.objects.update(used_at=NOON, used_by=maker)
    asked = {"spec": "open_clip:ViT-B-32/openai", "kind": "image_to_text", "by_name": "maker", "requested_at": NOON}
    run = Run.objects.create(project=project, state=Run.State.DONE, finished_at=NOON, **asked)
    done = Import.objects.create(project=project, files=[], format="jsonl", requested_at=NOON, finished_at=NOON)
    launched = Job.objects.create(
        kind=LAUNCH_JOB, key=str(study.pk), arguments={}, state="done", asked_at=NOON, finished_at=NOON
    )
    training = waiting_run(project)
    cancel_run(run=training, by="maker", now=NOON)
    return {
        "job": launched.pk,
        "training": training.pk,
        "instance": instance.pk,
        "export": export.pk,
        "webhook": webhook.pk,
        "delivery": delivery.pk,
        "push": push.pk,
        "model_push": ModelPush.objects.create(project=project, run=training, repository="lab/clip", **over).pk,
        "invitation": invitation.pk,
        "import": done.pk,
        "run": run.pk,
        "upload": begin_upload(project, maker, NOON).pk,
        "decision": study.decisions.all()[0].pk,
    }


def statuses(script: Script, places: dict[str, Any]) -> dict[tuple[str, str], int]:
    """Return what each endpoint answers with."""
    found = {}
    for method, address in TABLE:
        body = None if method == "GET" else UNUSABLE_BODY if method == "PATCH" else {}
        answer = script.ask(method, address.format(**places), body)
        content(answer)
        found[method, address] = answer.status_code
    return found


def state_of_everything() -> dict[str, Any]:
    return {
        "events": Event.objects.count(),
        "exports": Export.objects.count(),
        "pushes": (HubPush.objects.count(), ModelPush.objects.count()),
        "webhooks": dict(Webhook.objects.values_list("pk", "off_at")),
        "deliveries": dict(Delivery.objects.values_list("pk", "state")),
        "studies": dict(Study.objects.values_list("slug", "state")),
        "instances": Project.objects.get(slug="birds").instances.count(),
        "projects": list(Project.objects.values_list("slug", "name", "archived_at")),
        "members": list(Membership.objects.filter(user__username="maker").values_list("project__slug", "role")),
        "imports": Import.objects.count(),
        "runs": dict(Run.objects.values_list("pk", "state")),
        "trainings": dict(TrainingRun.objects.values_list("pk", "state")),
    }


def test_every_endpoint_stands_in_the_table_with_every_method_that_it_has(places: dict[str, Any]) -> None:
    """An endpoint without a line here is one that nobody has tried."""
    tried = {
        (method, resolve(address.format(**places).partition("?")[0]).url_name) for method, address in [*TABLE, *OWN]
    }
    there = {
        (method.upper(), each.name)
        for each in endpoints
        for method in ("get", "post", "put", "patch", "delete")
        if hasattr(each.callback.cls, method)  # type: ignore[attr-defined]
    }
    assert tried == there


def test_everybody_gets_what_the_table_says(places: dict[str, Any]) -> None:
    before = state_of_everything()
    for role, column in COLUMNS.items():
        person = make_person(role)
        Membership.objects.create(project=Project.objects.get(slug="birds"), user=person, role=role)
        expected = {place: gets[column] for place, gets in TABLE.items()}
        assert statuses(script_of(person), places) == expected, role
    superuser = make_person("root", superuser=True)
    assert statuses(script_of(superuser), places) == {place: gets[2] for place, gets in TABLE.items()}
    assert state_of_everything() == before


def test_a_stranger_and_who_has_a_token_for_another_project_learn_of_nothing(places: dict[str, Any]) -> None:
    other, maker = make_project("vases"), User.objects.get(username="maker")
    Membership.objects.create(project=other, user=maker)
    for script in (
        script_of(make_person("stranger")),
        script_of(maker, project=other),
        script_of(make_person("reader"), scope=Scope.READ),
    ):
        assert set(statuses(script, places).values()) == {404}


def test_a_token_that_may_read_changes_nothing_whoevers_it_is(places: dict[str, Any]) -> None:
    owner = make_person("owner", superuser=True)
    found = statuses(script_of(owner, scope=Scope.READ), places)
    assert {status for (method, _), status in found.items() if method != "GET"} == {REFUSED}
    reading = {place: gets[2] for place, gets in TABLE.items() if place[0] == "GET"}
    assert {place: found[place] for place in reading} == reading


def test_without_a_token_there_is_nothing_to_see(places: dict[str, Any]) -> None:
    nobody = Script()
    for method, address in [*TABLE, *OWN]:
        answer = nobody.ask(method, address.format(**places), {})
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="Lineup"'), address


def test_who_was_deactivated_is_nobody_any_more(places: dict[str, Any]) -> None:
    maker = User.objects.get(username="maker")
    script = script_of(maker)
    assert script.get(BIRDS).status_code == FINE
    User.objects.update(is_active=False)
    assert script.get(BIRDS).status_code == 401
