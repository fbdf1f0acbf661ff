"""Who gets what from every endpoint with every method: the same table of roles and verbs as on the pages."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import resolve

from results.actions.exports import make_export, request_export
from results.models import Export
from studies.models import Event, Membership, Project, Study
from tests.factories import NOON, draw_instance, make_launched, make_person, make_project, make_study
from tests.workspace.api.asking import Script, content, script_of
from workspace.api.urls import endpoints
from workspace.models import Scope

pytestmark = pytest.mark.django_db

FINE, REFUSED, STRANGE, NOT_NOW, UNUSABLE, UNKNOWN_TYPE = 200, 403, 400, 409, 422, 415
BIRDS, STUDY, DRAFT = ("/api/v1/projects/birds/" + tail for tail in ("", "studies/birds-step-3/", "studies/draft/"))


def everybody(status: int = FINE) -> tuple[int, int, int]:
    return status, status, status


def not_viewers(status: int = FINE) -> tuple[int, int, int]:
    return REFUSED, status, status


# (method, address) -> what a viewer, an editor and an owner get. What changes something is sent what it cannot use,
# or asked where it cannot be done, so that the same rows serve every role.
TABLE: dict[tuple[str, str], tuple[int, int, int]] = {
    ("GET", BIRDS): everybody(),
    ("GET", f"{BIRDS}members/"): everybody(),
    ("GET", f"{BIRDS}events/"): everybody(),
    ("GET", f"{BIRDS}instances/"): everybody(),
    ("POST", f"{BIRDS}instances/"): not_viewers(UNKNOWN_TYPE),
    ("GET", f"{BIRDS}instances/{{instance}}/"): everybody(),
    ("POST", f"{BIRDS}images/missing/"): not_viewers(STRANGE),
    ("PUT", f"{BIRDS}images/{'0' * 64}/"): not_viewers(UNUSABLE),
    ("GET", f"{BIRDS}predictions/"): not_viewers(),
    ("POST", f"{BIRDS}predictions/"): not_viewers(UNKNOWN_TYPE),
    ("GET", f"{BIRDS}studies/"): everybody(),
    ("POST", f"{BIRDS}studies/"): not_viewers(UNUSABLE),
    ("POST", f"{BIRDS}check-study/"): not_viewers(UNUSABLE),
    ("GET", STUDY): everybody(),
    ("PUT", STUDY): not_viewers(NOT_NOW),
    ("DELETE", STUDY): not_viewers(NOT_NOW),
    ("POST", f"{STUDY}launch/"): not_viewers(NOT_NOW),
    ("POST", f"{DRAFT}pause/"): not_viewers(NOT_NOW),
    ("POST", f"{DRAFT}resume/"): not_viewers(NOT_NOW),
    ("POST", f"{DRAFT}close/"): not_viewers(NOT_NOW),
    ("GET", f"{STUDY}progress/"): everybody(),
    ("GET", f"{STUDY}sessions/"): everybody(),
    ("GET", f"{STUDY}responses/"): not_viewers(),
    ("GET", f"{STUDY}decisions/"): not_viewers(),
    ("GET", f"{STUDY}exports/"): everybody(),
    ("POST", f"{STUDY}exports/"): not_viewers(STRANGE),
    ("GET", f"{STUDY}releases/"): everybody(),
    ("POST", f"{STUDY}releases/"): not_viewers(STRANGE),
    ("GET", f"{BIRDS}exports/{{export}}/"): everybody(),
    ("POST", f"{BIRDS}exports/{{export}}/cancel/"): not_viewers(NOT_NOW),
    ("GET", f"{BIRDS}exports/{{export}}/file/"): not_viewers(),
}
# Of no project: a list of those that the token opens, and whose it is.
OWN = [("GET", "/api/v1/me/"), ("GET", "/api/v1/projects/"), ("POST", "/api/v1/projects/")]
COLUMNS = {"viewer": 0, "editor": 1, "researcher": 1, "owner": 2}


@pytest.fixture
def places() -> dict[str, int]:
    """Make what the addresses name, and return the ids that stand in them."""
    project = make_project("birds", members=[make_person("maker")])
    instance = draw_instance(project, 1)
    study = make_launched(make_study(project))
    draft = make_study(make_project("birds-of-drafts"), slug="draft")
    Study.objects.filter(pk=draft.pk).update(project=project)
    export = request_export(study=study, format="jsonl", by=User.objects.get(), now=NOON)
    make_export(export=export, now=lambda: NOON)
    return {"instance": instance.pk, "export": export.pk}


def statuses(script: Script, places: dict[str, int]) -> dict[tuple[str, str], int]:
    """Return what each endpoint answers with."""
    found = {}
    for method, address in TABLE:
        answer = script.ask(method, address.format(**places), {} if method != "GET" else None)
        content(answer)
        found[method, address] = answer.status_code
    return found


def state_of_everything() -> dict[str, Any]:
    return {
        "events": Event.objects.count(),
        "exports": Export.objects.count(),
        "studies": dict(Study.objects.values_list("slug", "state")),
        "instances": Project.objects.get(slug="birds").instances.count(),
    }


def test_every_endpoint_stands_in_the_table_with_every_method_that_it_has(places: dict[str, int]) -> None:
    """An endpoint without a line here is one that nobody has tried."""
    tried = {(method, resolve(address.format(**places)).url_name) for method, address in [*TABLE, *OWN]}
    there = {
        (method.upper(), each.name)
        for each in endpoints
        for method in ("get", "post", "put", "patch", "delete")
        if hasattr(each.callback.cls, method)  # type: ignore[attr-defined]
    }
    assert tried == there


def test_everybody_gets_what_the_table_says(places: dict[str, int]) -> None:
    before = state_of_everything()
    for role, column in COLUMNS.items():
        person = make_person(role)
        Membership.objects.create(project=Project.objects.get(slug="birds"), user=person, role=role)
        expected = {place: gets[column] for place, gets in TABLE.items()}
        assert statuses(script_of(person), places) == expected, role
    superuser = make_person("root", superuser=True)
    assert statuses(script_of(superuser), places) == {place: gets[2] for place, gets in TABLE.items()}
    assert state_of_everything() == before


def test_a_stranger_and_who_has_a_token_for_another_project_learn_of_nothing(places: dict[str, int]) -> None:
    other, maker = make_project("vases"), User.objects.get(username="maker")
    Membership.objects.create(project=other, user=maker)
    for script in (
        script_of(make_person("stranger")),
        script_of(maker, project=other),
        script_of(make_person("reader"), scope=Scope.READ),
    ):
        assert set(statuses(script, places).values()) == {404}


def test_a_token_that_may_read_changes_nothing_whoevers_it_is(places: dict[str, int]) -> None:
    owner = make_person("owner", superuser=True)
    found = statuses(script_of(owner, scope=Scope.READ), places)
    assert {status for (method, _), status in found.items() if method != "GET"} == {REFUSED}
    assert {status for (method, _), status in found.items() if method == "GET"} == {FINE}


def test_without_a_token_there_is_nothing_to_see(places: dict[str, int]) -> None:
    nobody = Script()
    for method, address in [*TABLE, *OWN]:
        answer = nobody.ask(method, address.format(**places), {})
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, 'Bearer realm="Lineup"'), address


def test_who_was_deactivated_is_nobody_any_more(places: dict[str, int]) -> None:
    maker = User.objects.get(username="maker")
    script = script_of(maker)
    assert script.get(BIRDS).status_code == FINE
    User.objects.update(is_active=False)
    assert script.get(BIRDS).status_code == 401
