import csv
import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from background import jobs
from background.tasks import run_job
from results.exporting.licences import is_recognised
from results.models import Export, Release, ReleasePseudonym
from results.views.releases import SENT_TWICE
from studies.models import Membership, Study
from studies.permissions import Role
from tests.factories import NOON, answer, make_launched, make_study, questions, sit_down
from tests.jobs import run_now
from tests.pages import words_of

ASK = "/studies/birds/birds-step-3/releases/"


@pytest.fixture
def answered(study: Study) -> Study:
    session = sit_down(study, "5f3c0ffee")
    for question in questions(study):
        answer(session, question, "candidate-1")
    return study


Ask = Callable[..., Any]


@pytest.fixture
def ask(client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Ask:
    def request(address: str = ASK, **form: str) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(address, {"name": "v1", "format": "jsonl", **form}, follow=True)

    return request


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: run_job.apply(args=args, throw=True))


@pytest.mark.usefixtures("at_once", "answered")
def test_a_release_is_frozen_made_and_downloaded_and_made_again_in_another_format(client: Client, ask: Ask) -> None:
    assert "Waiting for the worker" in ask(licence="CC0-1.0").content.decode()
    release = Release.objects.get()
    assert (release.licence, release.instances, release.responses) == ("CC0-1.0", 4, 4)
    assert release.made_by
    assert release.made_by.username == "researcher"
    assert release.sha256 in client.get(ASK).content.decode()
    response = client.get(f"/exports/{Export.objects.get().pk}/download/")
    assert response["Content-Type"] == "application/zip"
    assert 'filename="birds-step-3-v1-jsonl.zip"' in response["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as packed:  # type: ignore[attr-defined]
        assert "birds-step-3-v1/instances.jsonl" in packed.namelist()
        assert not [name for name in packed.namelist() if b"c0ffee" in packed.read(name)]
    ask(format="csv")
    assert Release.objects.get() == release
    assert list(Export.objects.order_by("pk").values_list("format", "state")) == [("jsonl", "ready"), ("csv", "ready")]


@pytest.fixture
def of_two(answered: Study) -> Release:
    """The release v1 of birds-step-3 and another study of its project."""
    other = make_launched(make_study(answered.project, "birds-step-4"))
    release = Release.objects.create(project=answered.project, study=answered, name="v1", made_at=NOON)
    release.beside.set([other])
    return release


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("slug", ["birds-step-3", "birds-step-4"])
def test_a_release_of_several_studies_is_made_again_from_the_page_of_each(of_two: Release, ask: Ask, slug: str) -> None:
    assert ask(f"/studies/birds/{slug}/releases/").redirect_chain
    assert [(each.release, each.state) for each in Export.objects.all()] == [(of_two, "ready")]
    assert [study.slug for study in Release.objects.get().studies()] == ["birds-step-3", "birds-step-4"]


def test_a_release_of_several_studies_is_not_made_again_as_one_of_a_third(of_two: Release, ask: Ask) -> None:
    make_launched(make_study(of_two.project, "birds-step-5"))
    page = ask("/studies/birds/birds-step-5/releases/").content.decode()
    assert "is one of birds-step-3 and birds-step-4. Choose another name." in page


@pytest.mark.both
@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"name": "../v1"}, "cannot name a release"),
        ({"name": "v1\0"}, "cannot name a release"),
        ({"format": "responses"}, "A release cannot be in the format"),
        ({"format": "\0"}, "A release cannot be in the format"),
        ({"description": "Birds.\0"}, "The description of the release cannot be used. The text has a NUL character"),
        ({"licence": "MIT\0"}, "The licence of the release cannot be used. The text has a NUL character"),
        ({"licence": "MIT\nor none"}, "The licence of the release cannot be used. Its character 4 (U+000A)"),
        ({"licence": "x" * 201}, "The licence has 201 characters; at most 200 fit."),
        ({"description": "x" * 2_000_000}, "The description of the release cannot be used. The text has 2,000,000"),
        ({"description": "x" * 10_001}, "The text has 10,001 characters; at most 10,000 fit. Shorten it."),
        ({"citation": "@misc{birds}\0"}, "The citation of the release cannot be used. The text has a NUL character"),
    ],
)
@pytest.mark.usefixtures("answered")
def test_what_cannot_be_made_is_refused_in_words_and_the_form_is_kept(
    ask: Ask, form: dict[str, str], sentence: str
) -> None:
    response = ask(**{"citation": "@misc{birds}", **form})
    assert response.status_code == 409
    assert sentence in response.content.decode()
    assert "@misc{birds}" in response.content.decode()
    assert not Export.objects.exists()
    assert not Release.objects.exists()


@pytest.mark.usefixtures("answered")
def test_a_licence_that_nobody_knows_is_confirmed_before_it_is_frozen(ask: Ask) -> None:
    form = {"do": "new", "licence": "banana licence!"}
    response = ask(**form)
    assert response.status_code == 409
    page = response.content.decode()
    assert "“banana licence!” is neither an SPDX name nor an address" in page
    # The tick box may be a screen below the sentence that asks for it.
    assert '<a href="#own-licence">' in page
    assert '<input id="own-licence" type="checkbox"' in page
    assert not Release.objects.exists()
    ask(**form, own_licence="banana licence!")
    assert Release.objects.get().licence == "banana licence!"


@pytest.mark.usefixtures("answered")
def test_a_new_release_with_the_name_of_another_is_refused(ask: Ask) -> None:
    ask(do="new", licence="MIT")
    # A second click has the same release, and makes none and no other file.
    assert ask(do="new", licence="MIT").status_code == 200
    assert (Release.objects.count(), Export.objects.count()) == (1, 1)
    Release.objects.update(made_at=F("made_at") - SENT_TWICE)
    again = ask(do="new", licence="MIT")
    assert again.status_code == 409
    assert "The release v1 already exists and does not change." in again.content.decode()
    assert Export.objects.count() == 1


@pytest.mark.usefixtures("answered")
def test_a_long_name_of_a_release_is_refused_and_kept(client: Client, ask: Ask) -> None:
    assert "maxlength" not in client.get(ASK).content.decode().partition('id="name"')[2].partition(">")[0]
    page = ask(do="new", name="v" * 200).content.decode()
    assert "Use up to 40 letters, digits, dots, dashes and underscores" in page
    assert f'value="{"v" * 200}"' in page


@pytest.mark.parametrize(
    ("licence", "known"),
    [
        *(("MIT", True), ("CC BY 4.0", True), ("cc-by-sa-4.0", True), ("MIT OR Apache-2.0", True)),
        *(
            ("https://example.org/terms", True),
            ("banana licence!", False),
            ("http://[", False),
            ("javascript:1", False),
        ),
    ],
)
def test_spdx_names_and_addresses_are_known_licences(licence: str, known: bool) -> None:
    assert is_recognised(licence) is known


@pytest.mark.usefixtures("at_once", "answered")
def test_only_an_owner_gets_who_stands_behind_the_names(client: Client, ask: Ask) -> None:
    page = ask().content.decode()
    address = f"/releases/{Release.objects.get().pk}/provider-ids/"
    assert address not in page
    assert client.get(address).status_code == 403
    Membership.objects.update(role=Role.OWNER)
    assert address in client.get(ASK).content.decode()
    rows = list(csv.DictReader(io.StringIO(client.get(address).content.decode())))
    assert rows == [{"worker": ReleasePseudonym.objects.get().name, "provider": "prolific", "provider_id": "5f3c0ffee"}]


def test_a_study_that_was_not_launched_has_nothing_to_release(client: Client, draft: Study) -> None:
    assert "Nothing to release yet" in client.get(ASK).content.decode()


def test_as_many_queries_for_many_releases_as_for_few(
    client: Client, study: Study, django_assert_max_num_queries: Any
) -> None:
    other = make_launched(make_study(study.project, "birds-step-4"))
    for number in range(12):
        frozen = {"file": f"releases/{number}", "sha256": "0" * 64, "dossier": {"size": 4}}
        release = Release.objects.create(project=study.project, study=study, name=f"v{number}", made_at=NOON, **frozen)
        release.beside.set([other])
        job, _ = jobs.request_job(kind="results.export", arguments={}, by=None, now=release.made_at)
        Export.objects.create(
            project=study.project, study=study, release=release, format="hf", requested_at=release.made_at, job=job
        )
    with django_assert_max_num_queries(23):
        assert client.get(ASK).status_code == 200


def test_the_page_says_what_a_release_freezes(client: Client, study: Study) -> None:
    Study.objects.update(in_dataset=False)
    answers = "It has the answers of birds-step-3."
    assert f"A release freezes what birds-step-3 accepted. {answers}" in words_of(client.get(ASK))
    Study.objects.update(in_dataset=True)
    assert f"what birds-step-3 accepted, which is the whole dataset. {answers}" in words_of(client.get(ASK))
    Study.objects.filter(pk=make_launched(make_study(study.project, "birds-step-4")).pk).update(in_dataset=True)
    page = words_of(client.get(ASK))
    assert "accepted (birds-step-3, birds-step-4), or only birds-step-3, as chosen below. " in page
    assert "A release of the whole dataset has the answers of birds-step-3, birds-step-4." in page
    assert "Not in it" not in page


def test_the_page_names_the_studies_whose_answers_a_release_leaves_out(client: Client, study: Study) -> None:
    make_launched(make_study(study.project, "side-study"))
    link = f'<a href="/studies/{study.project.slug}/side-study/exports/">side-study</a>'
    assert f"Not in it are the answers of {link}. Export those on the page of each study." in words_of(client.get(ASK))


@pytest.mark.usefixtures("answered")
def test_a_release_is_called_frozen_when_its_download_appears(
    client: Client, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: None)
    assert "Being frozen." in words_of(ask())
    export, release = Export.objects.get(), Release.objects.get()
    state = f'id="release-{release.pk}-state"'
    assert state not in words_of(client.get(f"/exports/{export.pk}/")), "it is being made"
    assert export.job
    run_now(export.job)
    fragment = words_of(client.get(f"/exports/{export.pk}/"))
    assert "Download" in fragment
    said = fragment.partition(f'{state} hx-swap-oob="true">')[2]
    assert said.strip().startswith("birds-step-3: 4 accepted items, 4 answers, frozen")


@pytest.mark.usefixtures("answered")
def test_a_release_whose_files_failed_is_not_being_frozen(
    client: Client, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: None)
    ask()
    Export.objects.update(error="The disk is full.")
    page = words_of(client.get(ASK))
    assert "Not frozen, because no file could be created." in page
    assert "Being frozen." not in page
