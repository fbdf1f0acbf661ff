"""Everything that tests begin with: people, projects, instances, studies, sessions and answers.

Few, explicit, nothing random. There are two ways to have a thing, and a maker's name says which:

- `make_...`, `draw_...`, `sit_down` and `answer` write rows directly, so that a test of one room does not depend on the
  actions of another. `draw_...` stores real pictures too; `make_image` and `make_instance` store none.
- `create_draft`, `launch_study`, `arrive` and `arrive_at_work` go through the real actions, as on a real site.
"""

import io
import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar

import PIL.Image
import yaml
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import Model as DjangoModel

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.actions.deciding.decisions import rule_input
from annotation.actions.launching.launch import launch
from annotation.actions.recruiting.panel import add_to_panel
from annotation.actions.recruiting.prolific_draft import Draft
from annotation.models import (
    Annotator,
    Decision,
    PanelMember,
    ProlificStudy,
    Response,
    Seat,
    Session,
    SessionState,
    Slot,
    Submission,
)
from annotation.models.sessions import OPEN_STATES
from annotation.recruitment.base import Entry
from background.sealed_secrets import keyed_digest, seal
from predictions.models import Model, Prediction
from studies.actions.images import original_name
from studies.actions.studies import create_study
from studies.design import Design
from studies.kinds import ImageFacts, InstanceFacts, get_kind, shown_order
from studies.models import (
    CompletionCode,
    Image,
    Instance,
    InstanceImage,
    Membership,
    Outcome,
    Project,
    Question,
    Study,
    StudyState,
    Survey,
    SurveyQuestion,
)
from studies.rules import Vote, decide
from tests.people import make_annotator

Row = TypeVar("Row", bound=DjangoModel)
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PASSWORD = "a password of the tests"
# Who acts, where it does not matter who does.
TESTS = "tests"
CONTACT = "Ada Lovelace, ada@example.org"
ASK = {"caption": "negative_caption", "images": "candidate", "becomes": "negative_image"}


# A study on Prolific of 20 minutes for 4.00, with 3 places.
PROLIFIC_DRAFT = Draft(
    name="Which vase?",
    description="<p>You will choose vases.</p>",
    reward=Decimal("4.00"),
    currency="USD",
    places=3,
    minutes=20,
    at_most=60,
    devices=("desktop",),
)


def fresh(row: Row) -> Row:
    """Return `row` itself, with the values that the database has now."""
    row.refresh_from_db()
    return row


def make_person(name: str, *, superuser: bool = False) -> User:
    return User.objects.create_user(username=name, password=PASSWORD, is_superuser=superuser, is_staff=superuser)


def make_project(slug: str = "vases", *, members: Sequence[User] = ()) -> Project:
    """Return the project `slug`; asked for again, it is the same one."""
    project, _ = Project.objects.get_or_create(slug=slug, defaults={"name": slug.title()})
    for member in members:
        Membership.objects.create(project=project, user=member)
    return project


def make_model(project: Project, name: str = "CLIP", **names: str) -> Model:
    return Model.objects.create(project=project, name=name, created_at=NOON, **names)


def make_prediction(
    model: Model, instance: Instance, kind: str = "image_to_text", variant: str = "image", **fields: Any
) -> Prediction:
    """Return what `model` says of a question about `instance`: the right answer, unless `fields` say otherwise."""
    usual = {"caption_rule": instance.caption_rule, "is_right": True, "source_row": 1, "created_at": NOON}
    return Prediction.objects.create(model=model, instance=instance, kind=kind, variant=variant, **usual | fields)


def make_member(project: Project, role: str, *, name: str = "") -> User:
    """Return somebody who has this role in the project, called like it unless a name is given."""
    person = make_person(name or role)
    Membership.objects.create(project=project, user=person, role=role)
    return person


def make_image(name: str, *, width: int = 64, height: int = 64) -> Image:
    """Return a stored image without a file; pages that only link to it need no more."""
    image, _ = Image.objects.get_or_create(pk=_digest(name), defaults=_measures(width, height))
    return image


def store_missing_files() -> None:
    """Store a file for every image that has none; the picture is the same for all."""
    for name in map(original_name, Image.objects.values_list("pk", flat=True)):
        if not default_storage.exists(name):
            default_storage.save(name, ContentFile(_png(0)))


def make_images(names: Sequence[str]) -> list[Image]:
    """Return what `make_image` returns for each name, made in one statement."""
    images = [Image(sha256=_digest(name), **_measures(64, 64)) for name in names]
    return Image.objects.bulk_create(images, ignore_conflicts=True)


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def _measures(width: int, height: int) -> dict[str, Any]:
    return {"width": width, "height": height, "format": "PNG", "byte_size": 100}


def make_instance(project: Project, key: str, *, candidates: int = 4, **fields: Any) -> Instance:
    """Return an instance with two captions and `candidates` candidate images."""
    captions = {"caption": f"A vase, {key}.", "negative_caption": f"A map, {key}."}
    defaults = {
        "type": "replace",
        "subtype": "obj",
        "captions": captions,
        "original_captions": captions,
        "caption_rule": "as-is-v1",
        "source_file": "vases.csv",
        "source_row": 1,
    }
    instance = Instance.objects.create(project=project, key=key, **(defaults | fields))
    names = [f"{key}_{position}" for position in range(candidates)]
    InstanceImage.objects.bulk_create(
        InstanceImage(
            instance=instance, role="candidate", position=position, filename=f"{names[position]}.png", image=image
        )
        for position, image in enumerate(make_images(names))
    )
    return instance


def draw_image(number: int) -> Image:
    """Draw, store and return a picture of 8 by 6 pixels; the same number is the same picture."""
    return draw_images([number])[0]


def draw_images(numbers: Sequence[int]) -> list[Image]:
    """Return what `draw_image` returns for each number, made in one statement."""
    names = [sha256(_png(number)).hexdigest() for number in numbers]
    drawn = dict(zip(names, map(_png, numbers), strict=True))
    known = Image.objects.in_bulk(drawn)
    new = [
        Image(sha256=name, width=8, height=6, format="PNG", byte_size=len(png))
        for name, png in drawn.items()
        if name not in known
    ]
    for image in Image.objects.bulk_create(new, ignore_conflicts=True):
        name = image.sha256
        default_storage.save(f"images/{name[:2]}/{name}", ContentFile(drawn[name]))
    known |= {image.sha256: image for image in new}
    return [known[name] for name in names]


@cache
def _png(number: int) -> bytes:
    out = io.BytesIO()
    PIL.Image.new("RGB", (8, 6), (number % 256, number // 256 % 256, 128)).save(out, "PNG")
    return out.getvalue()


def draw_instance(project: Project, number: int, *, candidates: int = 4, **fields: Any) -> Instance:
    """Make the instance "row-<number>" with an original image and its candidates, all different pictures."""
    captions = {"caption": f"A bird on {number} roofs.", "negative_caption": f"A bird under {number} roofs."}
    instance = Instance.objects.create(
        project=project,
        **{
            "key": f"row-{number}",
            "type": "replace",
            "subtype": "rel",
            "split": "test",
            "captions": captions,
            "original_captions": {role: text.rstrip(".") for role, text in captions.items()},
            "caption_rule": "bivlc-release-v1",
            "source_file": "manifest.csv",
            "source_row": number,
            **fields,
        },
    )
    first = number * (candidates + 1)
    original, *others = draw_images(range(first, first + 1 + candidates))
    InstanceImage.objects.bulk_create(
        [
            InstanceImage(instance=instance, role="image", filename=f"{number}.png", image=original, source="drawn"),
            *(
                InstanceImage(
                    instance=instance,
                    role="candidate",
                    position=position,
                    filename=f"{number}_{position}.png",
                    image=image,
                    source="drawn",
                    licence="CC0",
                    generator="Pillow",
                )
                for position, image in enumerate(others)
            ),
        ]
    )
    return instance


def make_study(project: Project, slug: str = "birds-step-3", **design: Any) -> Study:
    """Make the rows of a draft study; `design` replaces whole entries of its design."""
    study = Study.objects.create(
        project=project,
        slug=slug,
        title="Pick the image that fits the description",
        kind="best_of_n",
        rule="chosen-v1",
        source=f"study: {slug}\n",
        seed=slug,
        invite_token=f"invite-{project.slug}-{slug}",
        design=design_of(slug, **design),
    )
    for outcome in Outcome.values:
        CompletionCode.objects.create(study=study, outcome=outcome, code=f"{outcome.upper()}-{study.slug}"[:40])
    return study


def design_of(slug: str = "birds-step-3", **design: Any) -> Design:
    """Return a design as a version without numbers stored it; `design` replaces whole entries of it."""
    return Design.from_stored(
        {
            "study": slug,
            "title": "Pick the image that fits the description",
            "parts": [{"kind": "best_of_n", "ask": ASK, "instructions": "Pick the image that fits."}],
            "max_answers": 1,
            "instances": {"from": "", "type": [], "subtype": [], "split": [], "keys": []},
            "answers": 1,
            "surveys": {"size": 100, "double_seats": 0},
            "rule": "chosen-v1",
            "seed": slug,
            "recruitment": {
                "prolific": True,
                "invite": True,
                "prolific_study_ids": [],
                "other_studies": "accept",
                "sessions_per_annotator": 1,
            },
            "time": {"estimated_minutes": 40, "limit_minutes": 120},
            "pay": {"currency": "USD", "per_session": "8.00"},
            "contact": CONTACT,
            "consent": "We keep your answers.",
            "practice": {"pass": 0, "rounds": 1, "questions": []},
            **design,
        }
    )


def redesign(study: Study, **changes: Any) -> None:
    """Store `study` with a design that is otherwise in these entries, as no action lets anybody do after a launch."""
    study.design = study.design.model_copy(update=changes)
    study.save()


def make_launched(study: Study, *, size: int = 100, seats: int = 1, now: datetime = NOON) -> Study:
    """Open `study`, a draft of `make_study`: a question per instance of its project, surveys of `size`.

    Each survey has `seats` seats.
    """
    study.state, study.launched_at = StudyState.OPEN, now
    study.save()
    questions = [_make_question(study, instance, seats) for instance in study.project.instances.all()]
    for start in range(0, len(questions), size):
        survey = Survey.objects.create(study=study, number=start // size + 1, seats_planned=seats)
        for position, question in enumerate(questions[start : start + size]):
            SurveyQuestion.objects.create(survey=survey, question=question, position=position)
        for number in range(1, seats + 1):
            seat = Seat.objects.create(study=study, survey=survey, number=number)
            Slot.objects.bulk_create(
                Slot(seat=seat, question=question, position=position)
                for position, question in enumerate(questions[start : start + size])
            )
    return study


def _make_question(study: Study, instance: Instance, answers: int) -> Question:
    images: dict[str, list[ImageFacts]] = {}
    for position in instance.images.all():
        images.setdefault(position.role, []).append(ImageFacts(position.image_id, 8, 6, position.filename))
    (built,) = get_kind(study.kind).questions(InstanceFacts(instance.key, instance.captions, images), ASK, seed="")
    content = built.content
    question = Question.objects.create(
        study=study, instance=instance, kind=study.kind, content=content, answers_wanted=answers
    )
    Decision.objects.create(study=study, question=question, rule=study.rule)
    return question


def sit_down(study: Study, person: str, *, now: datetime = NOON, **fields: Any) -> Session:
    """Start a session of the Prolific participant `person` on the first free seat; it is at its first question."""
    annotator = Annotator.objects.with_id("prolific", [person]).first() or make_annotator(person)
    seat = Seat.objects.filter(study=study, session=None, filled_at=None).order_by("survey__number", "number").first()
    state = fields.get("state", SessionState.WORKING)
    session = Session.objects.create(
        study=study,
        annotator=annotator,
        provider="prolific",
        **{
            "token": f"token-{study.slug}-{person}-{now:%H%M%S}",
            **Session.seal_id(f"submission-{person}-{now:%H%M%S}"),
            "provider_study_id": "prolific-study",
            "state": state,
            "questions_total": seat.slots.filter(answered_at=None).count() if seat else 0,
            "arrived_at": now,
            "last_seen_at": now,
            "lease_until": now + timedelta(minutes=130),
            "ended_at": None if state in OPEN_STATES else now,
            **fields,
        },
    )
    if seat and state in OPEN_STATES:
        seat.session, seat.claimed_at = session, now
        seat.save()
        seat.slots.filter(answered_at=None).update(annotator=annotator)
    return session


def answer(session: Session, question: Question, choice: str, *, now: datetime = NOON, **measured: Any) -> Response:
    """Store an answer of `session`, or its next version, and decide the question; the last one ends the session."""
    slot = Slot.objects.filter(seat__session=session, question=question).first()
    before = Response.objects.filter(session=session, question=question)
    version = before.count() + 1
    before.update(is_current=False)
    response = Response.objects.create(
        study=session.study,
        question=question,
        session=session,
        annotator=session.annotator,
        slot=slot,
        version=version,
        submission_id=uuid.uuid4(),
        choice=choice,
        answer=choice,
        shown_order=shown_order(
            get_kind(question.kind),
            question.content,
            seed=session.study.seed,
            annotator=session.annotator_id,
            question=question.pk,
        ),
        received_at=now,
        **measured,
    )
    if slot and version == 1:
        Slot.objects.filter(pk=slot.pk).update(answered_at=now)
        session.questions_answered += 1
    _decide(question)
    if session.questions_answered == session.questions_total:
        session.state, session.ended_at, session.handed_back_at = SessionState.FINISHED, now, now
        Seat.objects.filter(session=session).update(filled_at=now)
    session.last_seen_at = now
    session.save()
    return response


def _decide(question: Question) -> None:
    counted = Response.objects.filter(question=question, is_current=True, slot__isnull=False)
    given = [Vote(choice, answer) for choice, answer in counted.values_list("choice", "answer")]
    verdict = decide(question.study.rule, rule_input(question, question.study), given)
    Decision.objects.filter(question=question).update(
        state=verdict.state.value,
        winner=verdict.winner or "",
        votes=dict(Counter(each.label for each in given)),
        answers=len(given),
        asks_more=verdict.more,
    )


def questions(study: Study) -> list[Question]:
    """Return the questions of `study` in the order of the instances' source rows."""
    return list(study.questions.order_by("instance__source_row"))


def create_draft(
    project: Project | None = None, *, instances: int = 4, selection: dict[str, Any] | None = None, **design: Any
) -> Study:
    """Return a draft study read from a study file, making instances until the project has `instances`.

    `design` adds to the file; `selection` is its `instances` section.
    """
    project = project or make_project()
    have = project.instances.count()
    for number in range(have, max(have, instances)):
        make_instance(project, f"vase-{number}")
    file = {"study": "best-vase", "title": "Which vase?", "contact": CONTACT, "kind": "best_of_n"} | design
    file["instances"] = selection or {}
    # People of the tests are called "ann" and "ben", which is no id of Prolific's.
    file["recruitment"] = {"any_ids": True} | design.get("recruitment", {})
    return create_study(project=project, source=yaml.safe_dump(file), by=TESTS, now=NOON)


def launch_study(project: Project | None = None, *, instances: int = 4, **design: Any) -> Study:
    """Return an open study, launched from what `create_draft` returns."""
    study = create_draft(project, instances=instances, **design)
    launch(study=study, by=TESTS, now=NOON)
    return study


def arrive(study: Study, person: str = "ann", *, session: str = "", now: datetime = NOON) -> Session:
    """Return the session of a person who has just come from Prolific."""
    entry = Entry(provider="prolific", person=person, session_id=session or f"session-of-{person}", study_id="study")
    return sessions.start(study=study, entry=entry, now=now)


def arrive_at_work(study: Study, person: str = "ann", *, session: str = "", now: datetime = NOON) -> Session:
    """Return the session of a person who has read everything and is at the first question."""
    started = arrive(study, person, session=session, now=now)
    sessions.consent(session=started, agreed=True, now=now)
    advance_session.begin(session=started, part=0, now=now)
    return started


def member_of_panel(address: str, *, project: Project | None = None) -> PanelMember:
    """Add somebody to a project's panel."""
    [member] = add_to_panel(project=project or make_project("birds"), addresses=[address], by=TESTS, now=NOON)
    return member


def make_prolific_study(study: Study, remote_id: str = "66f0", **fields: Any) -> ProlificStudy:
    """Return a study on Prolific for `study`, which pays 4.00 in dollars."""
    usual = {"status": "ACTIVE", "places": 10, "reward": "4.00", "currency": "USD", "created_at": NOON}
    made = ProlificStudy.objects.create(
        study=study, remote_id=remote_id, internal_name=f"{study.slug}-{remote_id}", **usual | fields
    )
    return fresh(made)


def make_submission(
    prolific_study: ProlificStudy,
    session: Session | None,
    remote_id: str,
    status: str = "AWAITING REVIEW",
    **fields: Any,
) -> Submission:
    """Return a submission on Prolific as it was read at noon. It took 15 minutes there."""
    usual = {"started_at": NOON - timedelta(minutes=15), "completed_at": NOON, "read_at": NOON}
    return Submission.objects.create(
        prolific_study=prolific_study,
        session=session,
        sealed_id=seal(remote_id),
        id_digest=keyed_digest(remote_id, purpose="submission"),
        status=status,
        **usual | fields,
    )
