import html
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import Decision, Response, Session
from background.models import Job
from predictions.models import Prediction
from results.actions import cached_statistics
from results.actions.releases import freeze_release, prepare_release
from results.errors import CannotExport
from results.exporting.dataset_card import About
from results.models import KeptNumbers
from studies.actions.projects.datasets import dataset_studies
from studies.kinds import get_kind
from studies.models import Event, Instance, InstanceImage, Study, StudyState
from tests.factories import (
    NOON,
    TESTS,
    answer,
    draw_instance,
    make_launched,
    make_model,
    make_person,
    make_project,
    make_study,
    questions,
    sit_down,
)
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from tests.removing import exclude
from tests.results.pipelines import STEP_3, STEP_4, by_key, open_study, project_of, sit_through

CAPTIONS = {"study": "captions", "kind": "image_to_text", "ask": {"images": ["image"]}}


def test_the_home_page_lists_ones_own_projects(client: Client, study: Study) -> None:
    answer(sit_down(study, "one"), questions(study)[0], "none")
    make_project("somebody-elses")
    page = client.get("/").content.decode()
    assert 'href="/projects/birds/"' in page
    assert "1 open" in page
    assert page.count(" loading=") == 4, "pictures of its first instance"
    assert "somebody-elses" not in page


def test_the_home_page_says_what_each_project_accepted_and_marks_one_that_needs_a_hand(
    client: Client, researcher: User
) -> None:
    study = open_study(project_of(researcher), STEP_3)
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="none"))
    make_project("empty", members=[researcher])
    page = words_of(client.get("/"))
    assert "<dt>Accepted</dt><dd>1 <small>of 4</small></dd>" in page, "it asks about all four instances"
    assert page.count("<dt>Accepted</dt>") == 1, "the other has no dataset"
    assert "1</a> <small>of 4 asked</small>" in words_of(client.get("/projects/vases/"))
    assert f"<p>{get_kind(STEP_3['kind']).title}</p>" in page
    assert "<p>No studies yet</p>" in page
    assert needs(client) == {"vases": [], "empty": ["instances to import"]}
    Study.objects.update(completed_at=NOON)
    assert needs(client) == {"vases": ["1 to close"], "empty": ["instances to import"]}


def needs(client: Client) -> dict[str, list[str]]:
    """Return project -> what its card on the home page says that somebody has to do there."""
    return {card.project.slug: list(card.needs) for card in client.get("/").context["projects"]}


def test_a_card_is_marked_where_the_overview_needs_somebody(client: Client, researcher: User) -> None:
    project = project_of(researcher)

    def check(*expected: str) -> None:
        assert needs(client) == {"vases": list(expected)}
        overview = words_of(client.get("/projects/vases/"))
        assert ('<h2 id="next">Needs you</h2>' in overview) is bool(expected)

    check("study to create")
    study = open_study(project, STEP_3)
    sit_through(study, "ann", "none")
    check()
    exclude(project, "ann")
    check("answers to replace")
    Study.objects.update(state=StudyState.PAUSED)
    check("1 to resume")
    Study.objects.update(state=StudyState.CLOSED, closed_at=NOON)
    check("release to create")
    make_study(project, "later")
    check("1 to launch")
    InstanceImage.objects.filter(instance__key="vase-0").update(image=None)
    check("images to upload", "1 to launch")
    project.archived_at = NOON
    project.save()
    assert needs(client) == {"vases": []}


def test_the_project_page_shows_studies_instances_and_commands(client: Client, study: Study) -> None:
    InstanceImage.objects.filter(role="candidate", position=0).update(image=None)
    answer(sit_down(study, "one"), questions(study)[0], "none")
    page = words_of(client.get("/projects/birds/"))
    assert "1 of 4 answers, 25 %" in page
    assert "4 images</a> of an import are missing." in page
    assert "python manage.py import_instances birds FILE --format bivlc-manifest --images DIR" in page
    assert "python manage.py create_study FILE.yaml --project birds" in page


def test_an_open_study_without_questions_is_not_called_unlaunched(client: Client, researcher: User) -> None:
    project = project_of(researcher, instances=1)
    first = open_study(project, STEP_3)
    open_study(project, STEP_4)
    assert f"Waiting for accepted instances from {first.slug}" in words_of(client.get("/projects/vases/"))
    # What the study before it has accepted is ready to be asked about, and nobody has come yet.
    sit_through(first, "ann", "candidate-1")
    page = words_of(client.get("/projects/vases/"))
    assert "No answers yet" in page
    assert "Not launched yet" not in page


def test_a_project_without_studies_says_how_many_instances_it_has(client: Client, researcher: User) -> None:
    project = project_of(researcher)
    counted = '<dt>Instances</dt><dd><a href="/projects/vases/instances/">4</a></dd>'
    assert counted in words_of(client.get("/projects/vases/"))
    open_study(project, STEP_3)
    assert counted not in words_of(client.get("/projects/vases/"))


def test_a_project_that_only_models_have_answered_leads_to_their_results(client: Client, researcher: User) -> None:
    project = project_of(researcher, instances=1)
    instance = project.instances.get()
    model = make_model(project, "CLIP <x>", version="2")
    asked = {"kind": "image_to_text", "variant": "image", "caption_rule": "as-is-v1"}
    source = {"source_file": "r.csv", "source_row": 1, "created_at": NOON}
    Prediction.objects.create(model=model, instance=instance, is_right=True, **asked, **source)
    assert "CLIP &lt;x&gt; 2" in client.get("/projects/vases/models/").content.decode()
    assert "Models choosing the caption of an image" in client.get("/projects/vases/results/").content.decode()


def test_the_project_page_leads_to_its_releases(client: Client, researcher: User) -> None:
    study = open_study(project_of(researcher), STEP_3)
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="none"))
    release, _ = prepare_release(study=study, about=About(release="v1"), by=TESTS, now=NOON)
    assert "No releases yet" in client.get("/projects/vases/releases/").content.decode()
    freeze_release(release=release, now=NOON)
    page = client.get("/projects/vases/releases/").content.decode()
    assert f'<a href="/studies/vases/step-3/releases/#release-{release.pk}">v1</a>' in page
    assert "<dt>Items</dt><dd>1</dd>" in page
    assert "<dt>Answers</dt><dd>2</dd>" in page


def test_a_card_of_a_release_says_its_splits_and_who_was_removed_since(client: Client, researcher: User) -> None:
    project = project_of(researcher)
    Instance.objects.filter(key__in=["vase-0", "vase-1"]).update(split="train")
    Instance.objects.filter(key="vase-2").update(split="test")
    study = open_study(project, STEP_3)
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="candidate-0", vase_3="none"))
    release, _ = prepare_release(study=study, about=About(release="v1"), by=TESTS, now=NOON)
    freeze_release(release=release, now=NOON)
    page = words_of(client.get("/projects/vases/releases/"))
    assert "<div><dt>test</dt><dd>1</dd></div><div><dt>train</dt><dd>2</dd></div>" in page
    assert f'href="/releases/{release.pk}/hub/">Push to the Hub' in page
    assert "excluded since" not in page
    exclude(project, "ann")
    page = words_of(client.get("/projects/vases/releases/"))
    assert 'Contains answers of <a href="/projects/vases/people/">1 annotator</a> excluded since' in page
    # A release of an older version has not stored its splits.
    release.dossier.pop("splits")
    release.save()
    assert "<dt>train</dt>" not in words_of(client.get("/projects/vases/releases/"))


def test_what_a_baseline_accepted_cannot_be_released(client: Client, researcher: User) -> None:
    study = open_study(project_of(researcher), CAPTIONS)
    with pytest.raises(CannotExport, match="accepts nothing, so there is nothing to release: its purpose is baseline"):
        prepare_release(study=study, about=About(release="v1"), by=TESTS, now=NOON)
    page = client.post("/studies/vases/captions/releases/", {"name": "v1", "format": "jsonl"})
    assert page.status_code == 409
    said = words_of(page)
    assert "Create and launch one. Export the answers of captions on its Exports page." in said
    assert "Create release" not in said
    assert 'href="/projects/vases/new-study/"' in said
    # The project's releases say it too, and so do the study's exports.
    assert "Nothing can be released yet. A release needs a launched study" in words_of(
        client.get("/projects/vases/releases/")
    )
    assert "captions accepts nothing, so it has no releases." in words_of(
        client.get("/studies/vases/captions/exports/")
    )


def test_a_baseline_leads_to_the_releases_that_hold_its_answers(client: Client, researcher: User) -> None:
    project = project_of(researcher)
    open_study(project, STEP_3)
    of_import = open_study(project, CAPTIONS)
    address = "/studies/vases/captions/releases/"
    # Its answers are about imported instances, which step-3 did not choose.
    assert "Release step-3. Export the answers of captions on its Exports page." in words_of(client.get(address))
    Study.objects.filter(pk=of_import.pk).update(fed_by=Study.objects.get(slug="step-3"))
    assert "Release step-3: the answers of captions are part of that release." in words_of(client.get(address))


def test_an_empty_project_says_so(client: Client, study: Study) -> None:
    project = study.project
    Study.objects.filter(pk=study.pk).update(project=make_project("other"))
    project.instances.update(project=make_project("third"))
    page = client.get("/projects/birds/").content.decode()
    assert "No studies yet." in page
    assert "No instances yet." in page
    assert "No exports yet." in client.get("/projects/birds/releases/").content.decode()


def test_more_projects_studies_and_instances_add_no_query(
    client: Client, study: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(10, 14):
        draw_instance(study.project, number)
        make_launched(make_study(study.project, f"study-{number}"))
        make_project(f"project-{number}", members=list(study.project.members.all()))
    # Session and user; then twelve queries of the home page; the project, its rail and switcher, and eighteen parts.
    with django_assert_num_queries(20):
        client.get("/")
    with django_assert_num_queries(35):
        client.get("/projects/birds/")


def test_a_large_project_shows_what_was_counted_last(
    client: Client, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = project_of(researcher)
    sit_through(open_study(project, STEP_3), "ann", by_key(vase_0="candidate-0", vase_1="none"))
    sit_through(open_study(project, STEP_4), "ben", "original")
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)

    def shown() -> tuple[object, ...]:
        page = client.get(f"/projects/{project.slug}/").context
        steps = [(step.study.pk, step.cell) for step in page["funnel"].steps]
        return (
            steps,
            page["funnel"].rows,
            page["totals"],
            page["figures"],
            [line.answers for line in page["studies"]],
        )

    counted_now = shown()
    run_now(jobs.pop())
    # The same numbers, and no longer read from answers.
    Response.objects.update(is_current=False)
    assert shown() == counted_now
    assert "nothing has changed since" in client.get(f"/projects/{project.slug}/").content.decode()


def test_the_card_of_a_large_project_shows_what_was_counted_last_and_when(
    client: Client, researcher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = open_study(project_of(researcher), STEP_3)
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="none"))
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)

    def shown() -> tuple[object, ...]:
        (card,) = client.get("/").context["projects"]
        return card.project.instance_count, card.project.answer_count, card.accepted, card.asked, card.as_of is None

    # Nothing is stored yet, so the card counts, and has the numbers computed.
    assert shown() == (4, 2, 1, 4, True)
    run_now(jobs.pop())
    assert not jobs
    Decision.objects.update(answers=7)
    assert shown() == (4, 2, 1, 4, False)
    assert "· counted" in words_of(client.get("/"))
    # Two minutes later, somebody has come since.
    KeptNumbers.objects.update(as_of=F("as_of") - timedelta(minutes=2))
    Session.objects.update(last_seen_at=timezone.now())
    assert shown() == (4, 2, 1, 4, False)
    assert len(jobs) == 1


def test_every_count_of_the_funnel_leads_to_its_instances(client: Client, researcher: User) -> None:
    study = open_study(project_of(researcher), STEP_3)
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="none"))
    page = client.get("/projects/vases/").content.decode()
    for state, number in (("accepted", 1), ("rejected", 1), ("none-yet", 2)):
        address = f"/projects/vases/instances/?study=step-3&amp;state={state}"
        assert f'href="{address}"' in page
        assert client.get(address.replace("&amp;", "&")).context["count"] == number


def test_every_count_of_instances_leads_to_them(client: Client, researcher: User) -> None:
    """Two of four are replace/obj; one of these was accepted, and the other rejected."""
    study = open_study(project_of(researcher), STEP_3)
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="none"))
    Instance.objects.filter(key="vase-3").update(type="", subtype="")
    leading = re.compile(r'<a href="(/projects/vases/instances/[^"]*)"(?: title="[^"]*")?>(?:<text [^>]*>)?([0-9,]+)')
    found = {
        html.unescape(address): int(number)
        for page in ("/", "/projects/vases/", "/studies/vases/step-3/")
        for address, number in leading.findall(client.get(page).content.decode())
    }
    counted = {address: client.get(address).context["count"] for address in found}
    assert found == counted
    where = {address.partition("?")[2]: number for address, number in found.items()}
    assert where[""] == 4
    assert (where["type=replace"], where["type=%28none%29"]) == (2, 1)
    assert where["type=replace&study=step-3&state=accepted"] == 1
    # Two answers, each to the one question about its instance.
    assert (where["question=answered"], where["study=step-3&question=answered"]) == (2, 2)
    assert (where["study=step-3&question=complete"], where["study=step-3&question=unanswered"]) == (2, 2)


def choose(client: Client, name: str) -> str:
    page = client.post("/projects/birds/dataset/", {"study": name}, follow=True)
    return words_of(page)


def kept_by(study: Study) -> str:
    return ", ".join(each.slug for each in dataset_studies(study.project))


def test_a_member_says_which_study_keeps_the_dataset(client: Client, study: Study) -> None:
    page = client.get("/projects/birds/").content.decode()
    assert '<input type="checkbox" name="study" value="birds-step-3"> birds-step-3' in page
    assert "The dataset contains the items accepted by birds-step-3." in choose(client, "birds-step-3")
    assert kept_by(study) == "birds-step-3"
    page = client.get("/projects/birds/").content.decode()
    assert '<input type="checkbox" name="study" value="birds-step-3" checked> birds-step-3' in page
    event = Event.objects.get()
    assert (event.what, event.by_name, event.study) == ("dataset set", "researcher", study)
    assert "The dataset contains all instances." in choose(client, "")
    assert kept_by(study) == ""


@pytest.mark.both
def test_only_a_study_that_accepts_can_keep_it(client: Client, study: Study) -> None:
    make_study(study.project, "draft")
    baseline = make_launched(make_study(study.project, "baseline"))
    Study.objects.filter(pk=baseline.pk).update(purpose="baseline")
    make_launched(make_study(make_project("fish"), "of-fish"))
    page = client.get("/projects/birds/").content.decode()
    assert page.count('name="study"') == 1
    for name, sentence in (
        ("baseline", "baseline accepts no instances, so it cannot be part of the dataset."),
        ("draft", "draft is a draft, so it has accepted nothing yet."),
        ("of-fish", "The project birds has no study called of-fish."),
        ("fish/of-fish", "fish/of-fish is a study of another project than birds."),
        ("a\0b", "The project birds has no study called ab."),
    ):
        assert sentence in choose(client, name)
    assert kept_by(study) == ""
    assert not Event.objects.exists()


def test_a_stranger_does_not_choose_it(study: Study) -> None:
    stranger = signed_in(make_person("stranger"))
    assert stranger.post("/projects/birds/dataset/", {"study": "birds-step-3"}).status_code == 404
    assert kept_by(study) == ""


def test_choosing_it_needs_the_token_of_our_own_form(study: Study) -> None:
    member = Client(enforce_csrf_checks=True)
    member.force_login(make_person("root", superuser=True))
    assert member.post("/projects/birds/dataset/", {"study": "birds-step-3"}).status_code == 403
