"""One of each thing that an address of the researcher's pages names, with number 1."""

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.models import Decision, PanelMember, Payment, PersonNote, ProlificAccount, Session, SessionFlag
from background.models import Job
from making.models import Pipeline
from predictions.models import Model, Run
from results.actions.exports import make_export, request_export
from results.models import Export, Pseudonym, Release, StoredChart
from studies.actions.projects.membership import invite
from studies.models import Import, Instance, Invitation, Membership, Project, Question, Study
from tests.factories import (
    NOON,
    draw_instance,
    make_launched,
    make_model,
    make_person,
    make_project,
    make_prolific_study,
    make_study,
    make_submission,
    member_of_panel,
    sit_down,
)
from tests.training.site import waiting_run
from tests.workspace.views.addresses import DIGEST
from training.actions.runs import cancel_run
from training.models import TrainingRun
from workspace.models import Delivery, HubPush, ModelPush, Webhook

CHART = {
    **{"name": "times", "title": "Times", "description": "Few.", "form": "bars", "shown": "count", "axis": "Answers"},
    **{"series": [{"name": "", "points": []}], "reference": None},
}
PROBLEM = b'{"file": "birds.jsonl", "record": 1, "field": "key", "reason": "It is empty."}\n'


def make_what_the_addresses_name() -> str:
    """Make all of it, in the project birds and its studies birds-step-3 and draft; return the name of a member.

    Most are numbered afterwards, so that the database counts on from there.
    """
    researcher, owner = make_person("researcher"), make_person("owner", superuser=True)
    project = make_project("birds", members=[researcher])
    Membership.objects.update(id=1)
    study = _studies(project)
    _question(study)
    _export(study, by=owner)
    somebody = sit_down(study, "somebody", pk=1).annotator
    Pseudonym.objects.create(project=project, annotator=somebody, name="A-34679")
    evidence = {"hidden": 5, "measured": 6}
    SessionFlag.objects.create(pk=1, session_id=1, rule="hidden_tab", evidence=evidence, found_at=NOON)
    PersonNote.objects.create(pk=1, project=project, annotator=somebody, text="Slow.", at=NOON)
    _payment(study)
    _failed_import(project)
    _finished_pipeline(project)
    _cancelled_run(study)
    _cancelled_training(project)
    # Listed by the clock, so it must not have expired.
    invitation, _ = invite(project=project, role="viewer", days=7, whom="", by=owner, now=timezone.now())
    Invitation.objects.filter(pk=invitation.pk).update(id=1)
    Model.objects.filter(pk=make_model(project).pk).update(id=1)
    _webhook(project)
    ProlificAccount.objects.create(project=project, sealed_token="lost", user_id="5f00", saved_at=NOON)
    PanelMember.objects.filter(pk=member_of_panel("ann@example.org", project=project).pk).update(id=1)
    _pushed_release(study)
    StoredChart.objects.create(project=project, digest=DIGEST, values=CHART, svg="<svg/>", drawn_at=NOON, asked_at=NOON)
    return researcher.get_username()


def _payment(study: Study) -> None:
    """A reward that was refused, of session 1, whose submission awaits review."""
    session = Session.objects.get(pk=1)
    remote = make_prolific_study(study)
    make_submission(remote, session, "66f0b1")
    Payment.objects.create(
        pk=1,
        study=study,
        annotator=session.annotator,
        session=session,
        prolific_study=remote,
        reason=Payment.Reason.REWARD,
        amount="4.00",
        currency="USD",
        ordered_at=NOON,
        state=Payment.State.REFUSED,
        state_at=NOON,
        problem="The balance is too low.",
    )


def _finished_pipeline(project: Project) -> None:
    source = "name: swaps\nstart: {role: caption}\nstages:\n  - {name: swapped, make: 'words:swap'}\n"
    pipeline = Pipeline.objects.create(
        project=project, name="swaps", source=source, by_name="anna", requested_at=NOON, finished_at=NOON
    )
    Pipeline.objects.filter(pk=pipeline.pk).update(id=1)


def _cancelled_training(project: Project) -> None:
    run = waiting_run(project)
    cancel_run(run=run, by="anna", now=NOON)
    TrainingRun.objects.filter(pk=run.pk).update(id=1)
    over = {"repository": "lab/clip", "error": "It was cancelled.", "requested_at": NOON, "finished_at": NOON}
    push = ModelPush.objects.create(project=project, run_id=1, **over)
    ModelPush.objects.filter(pk=push.pk).update(id=1)


def _studies(project: Project) -> Study:
    """Make a study that is open, which is returned, and one that is a draft."""
    for number in range(1, 5):
        draw_instance(project, number)
    made = make_study(project)
    left_out = {"id", "slug", "public_token", "invite_token"}
    same = {field.name: getattr(made, field.name) for field in Study._meta.fields if field.name not in left_out}
    Study.objects.create(**same, slug="draft", invite_token="other")
    return make_launched(made)


def _question(study: Study) -> None:
    """Where the database has counted on since the last test, there is no question or instance number 1 yet."""
    instance = draw_instance(study.project, 5)
    if not Instance.objects.filter(pk=1).exists():
        draw_instance(study.project, 6, pk=1)
    content = study.questions.values_list("content", flat=True)[0]
    fields = {"study": study, "instance": instance, "kind": "best_of_n", "content": content, "answers_wanted": 1}
    Question.objects.get_or_create(pk=1, defaults=fields)
    Decision.objects.get_or_create(question_id=1, defaults={"study": study, "rule": study.rule})


def _export(study: Study, *, by: User) -> None:
    export = request_export(study=study, format="jsonl", by=by, now=NOON)
    Export.objects.filter(pk=export.pk).update(id=1)
    Job.objects.update(arguments={"export": 1})
    make_export(export=Export.objects.get(pk=1), now=lambda: NOON)


def _failed_import(project: Project) -> None:
    default_storage.save("imports/1/problems.jsonl", ContentFile(PROBLEM))
    wanted = Import.objects.create(
        project=project,
        files=[{"path": "/data/birds.jsonl", "sha256": "0" * 64}],
        error="Nothing was imported.",
        problems_file="imports/1/problems.jsonl",
        requested_at=NOON,
        finished_at=NOON,
    )
    Import.objects.filter(pk=wanted.pk).update(id=1)


def _cancelled_run(study: Study) -> None:
    asked = Run.objects.create(
        project=study.project,
        study=study,
        spec="open_clip:ViT-B-32/openai",
        state=Run.State.CANCELLED,
        requested_at=NOON,
        finished_at=NOON,
    )
    Run.objects.filter(pk=asked.pk).update(id=1)


def _webhook(project: Project) -> None:
    """A webhook, and a message that waits."""
    webhook = Webhook.objects.create(project=project, url="https://example.org/", topics=[], made_at=NOON)
    Webhook.objects.filter(pk=webhook.pk).update(id=1)
    message = Delivery.objects.create(webhook_id=1, topic="release.made", made_at=NOON, due_at=NOON)
    Delivery.objects.filter(pk=message.pk).update(id=1)


def _pushed_release(study: Study) -> None:
    release = Release.objects.create(project=study.project, study=study, name="v1", made_at=NOON)
    Release.objects.filter(pk=release.pk).update(id=1)
    over = {"repository": "lab/birds", "error": "It was cancelled.", "requested_at": NOON, "finished_at": NOON}
    push = HubPush.objects.create(project=study.project, release_id=1, **over)
    HubPush.objects.filter(pk=push.pk).update(id=1)
