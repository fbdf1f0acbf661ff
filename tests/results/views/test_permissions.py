"""Who gets what from every address of the researcher's pages, with every method."""

from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver

from annotation.models import Decision
from results import urls
from results.actions.exports import make_export, request_export
from results.models import Export, Pseudonym, Release
from studies.models import Instance, Membership, Question, Study, StudyState
from tests.factories import NOON, draw_instance, make_launched, make_person, sit_down

SIGN_IN, NOT_FOUND, NOT_ALLOWED, FINE, ELSEWHERE = "sign in", 404, 405, 200, 302

# address: (what a member gets by GET, what a member gets by POST). A study in the draft state has the slug "draft".
PRIVATE = {
    "/projects/birds/": (FINE, NOT_ALLOWED),
    "/projects/birds/instances/": (FINE, NOT_ALLOWED),
    "/projects/birds/instances/row-1/": (FINE, NOT_ALLOWED),
    "/projects/birds/instances/by-id/1/": (FINE, NOT_ALLOWED),
    "/projects/birds/people/A-34679/withdraw/": (FINE, ELSEWHERE),
    # Without a reason.
    "/projects/birds/people/A-34679/exclude/": (FINE, 409),
    # Of somebody who is not excluded.
    "/projects/birds/people/A-34679/include/": (409, 409),
    "/projects/birds/people/A-34679/reopen/": (409, 409),
    "/projects/birds/results/": (FINE, NOT_ALLOWED),
    "/projects/birds/events/": (FINE, NOT_ALLOWED),
    "/projects/birds/dataset/": (NOT_ALLOWED, ELSEWHERE),
    "/projects/birds/report/md/": (FINE, NOT_ALLOWED),
    "/studies/birds/birds-step-3/results/": (FINE, NOT_ALLOWED),
    "/studies/birds/birds-step-3/annotators/": (FINE, NOT_ALLOWED),
    "/studies/birds/birds-step-3/disagreements/": (FINE, NOT_ALLOWED),
    "/studies/birds/birds-step-3/disagreements/1/settle/": (NOT_ALLOWED, 409),
    "/studies/birds/birds-step-3/disagreements/1/unsettle/": (NOT_ALLOWED, 409),
    "/studies/birds/birds-step-3/": (FINE, NOT_ALLOWED),
    "/studies/birds/birds-step-3/progress/": (FINE, NOT_ALLOWED),
    # From before the project stood in it.
    "/studies/birds-step-3/": (ELSEWHERE, 307),
    "/studies/birds/draft/launch/": (FINE, ELSEWHERE),
    # Without a study file, and without a name.
    "/studies/birds/draft/file/": (ELSEWHERE, 409),
    "/studies/birds/birds-step-3/duplicate/": (FINE, 409),
    "/studies/birds/draft/delete/": (FINE, ELSEWHERE),
    "/studies/birds/birds-step-3/pause/": (FINE, ELSEWHERE),
    "/studies/birds/birds-step-3/resume/": (ELSEWHERE, 409),
    "/studies/birds/birds-step-3/close/": (FINE, ELSEWHERE),
    "/studies/birds/birds-step-3/exports/": (ELSEWHERE, ELSEWHERE),
    "/studies/birds/birds-step-3/preview/": (FINE, 303),
    "/studies/birds/birds-step-3/releases/": (FINE, 409),
    "/studies/birds/birds-step-3/sessions/1/free/": (FINE, ELSEWHERE),
    "/studies/birds/birds-step-3/returned/": (NOT_ALLOWED, ELSEWHERE),
    "/exports/1/": (FINE, NOT_ALLOWED),
    "/exports/1/download/": (FINE, NOT_ALLOWED),
}
# address: (what a member gets by GET and by POST, what an owner gets by GET and by POST).
OWNERS = {
    "/releases/1/provider-ids/": ((403, NOT_ALLOWED), (FINE, NOT_ALLOWED)),
    "/projects/birds/people/find/": ((NOT_ALLOWED, 403), (NOT_ALLOWED, ELSEWHERE)),
}
PUBLIC = {"/sign-in/", "/healthz", "/readyz"}
OWN = {"/", "/sign-out/", "/password/"}


@pytest.fixture(autouse=True)
def _addresses(draft: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what the addresses name: the study birds-step-3, the study draft, and a ready export number 1."""
    monkeypatch.setattr("results.tasks.make_export.delay_on_commit", lambda pk: None)
    Study.objects.create(
        **{
            field.name: getattr(draft, field.name)
            for field in Study._meta.fields
            if field.name not in {"id", "slug", "public_token", "invite_token"}
        },
        slug="draft",
        invite_token="other",
    )
    study = make_launched(draft)
    # Where the database has counted on since the last test, there is no question or instance number 1 yet.
    fields = {"study": study, "instance": draw_instance(study.project, 5), "kind": "best_of_n"}
    if not Instance.objects.filter(pk=1).exists():
        draw_instance(study.project, 6, pk=1)
    content = study.questions.values_list("content", flat=True)[0]
    Question.objects.get_or_create(pk=1, defaults=fields | {"content": content, "answers_wanted": 1})
    Decision.objects.get_or_create(question_id=1, defaults={"study": study, "rule": study.rule})
    owner = make_person("owner", superuser=True)
    export = request_export(study=study, format="jsonl", by=owner, now=NOON)
    Export.objects.filter(pk=export.pk).update(id=1)
    make_export(export=Export.objects.get(pk=1), now=lambda: NOON)
    somebody = sit_down(study, "somebody", pk=1).annotator
    Pseudonym.objects.create(project=study.project, annotator=somebody, name="A-34679")
    Release.objects.create(pk=1, project=study.project, study=study, name="v1", made_at=NOON)


def read(response: Any) -> None:
    """Read a download to its end, so that its file is closed."""
    if response.streaming:
        b"".join(response)


def status(client: Client, method: str, address: str) -> int | str:
    response = client.get(address) if method == "GET" else client.post(address)
    read(response)
    if response.status_code == 302 and response["Location"].startswith("/sign-in/"):
        return SIGN_IN
    return response.status_code


def test_every_address_is_in_the_table() -> None:
    patterns = {str(pattern.pattern) for pattern in urls.urlpatterns}
    named = {
        get_resolver(
            "results.urls",
        )
        .resolve(address)
        .route
        for address in [*PRIVATE, *OWNERS, *PUBLIC, *OWN]
    }
    assert len(patterns) > 10
    assert named == patterns


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("address", [*PRIVATE, *OWNERS, "/", "/password/"])
def test_somebody_who_has_not_signed_in_is_asked_to(address: str, method: str) -> None:
    assert status(Client(), method, address) == SIGN_IN
    assert Study.objects.get(slug="birds-step-3").state == StudyState.OPEN


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("address", [*PRIVATE, *OWNERS])
def test_a_stranger_does_not_learn_that_it_exists(address: str, method: str) -> None:
    stranger = Client()
    stranger.force_login(make_person("stranger"))
    assert status(stranger, method, address) == NOT_FOUND
    assert Study.objects.get(slug="birds-step-3").state == StudyState.OPEN
    assert Study.objects.get(slug="draft").state == StudyState.DRAFT
    assert Export.objects.count() == 1


@pytest.mark.parametrize(("address", "expected"), PRIVATE.items())
@pytest.mark.parametrize("superuser", [False, True])
def test_members_and_superusers_get_it(
    client: Client, address: str, expected: tuple[int, int], superuser: bool
) -> None:
    if superuser:
        client.force_login(make_person("root", superuser=True))
    assert (status(client, "GET", address), status(client, "POST", address)) == expected


@pytest.mark.parametrize(("address", "expected"), OWNERS.items())
def test_what_is_for_owners_is_for_owners(
    client: Client, address: str, expected: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    assert (status(client, "GET", address), status(client, "POST", address)) == expected[0]
    Membership.objects.update(role=Membership.Role.OWNER)
    assert (status(client, "GET", address), status(client, "POST", address)) == expected[1]


@pytest.mark.parametrize("address", [*PRIVATE, *OWNERS])
def test_private_pages_are_kept_in_no_cache(client: Client, address: str) -> None:
    response = client.get(address)
    read(response)
    assert "no-store" in response["Cache-Control"]


def test_a_stranger_sees_no_project_of_others() -> None:
    stranger = Client()
    stranger.force_login(make_person("stranger"))
    page = stranger.get("/").content.decode()
    assert "You are not a member of any project yet." in page
    assert "Birds" not in page


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_health_is_for_everybody(address: str) -> None:
    assert status(Client(), "GET", address) == FINE
    assert status(Client(), "POST", address) == NOT_ALLOWED


def test_signing_out_takes_a_post(client: Client) -> None:
    assert status(client, "GET", "/sign-out/") == NOT_ALLOWED
    assert status(client, "POST", "/sign-out/") == SIGN_IN
    assert status(client, "GET", "/") == SIGN_IN


@pytest.mark.parametrize(
    "address", ["/studies/birds/draft/launch/", "/studies/birds/birds-step-3/close/", "/sign-out/"]
)
def test_a_change_needs_the_token_of_our_own_form(address: str) -> None:
    member = Client(enforce_csrf_checks=True)
    member.force_login(make_person("root", superuser=True))
    assert status(member, "POST", address) == 403
