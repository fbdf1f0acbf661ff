"""What the contract tests play with: material for any kind of question, studies of it, and people who answer by hand.

Nothing here knows a kind: roles come from the kind itself, and are given names that stand nowhere by chance.
"""

import itertools
import json
import random
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bs4 import BeautifulSoup, Tag
from django.contrib.auth.models import User
from django.test import Client

from annotation.actions.answering import responses
from annotation.actions.answering.skip_question import FAILED_LOADS_TO_SKIP
from annotation.actions.launching.launch import launch
from annotation.models import Response, Session, Slot
from studies.actions.studies import create_study
from studies.descriptions import TARGETS, role_of
from studies.kinds import KINDS, CannotAsk, ImageFacts, InstanceFacts, Kind, get_kind, usual_ask
from studies.models import Instance, InstanceImage, Project, Question, Study
from tests.contracts import made_up
from tests.factories import NOON, TESTS, draw_image, make_instance, make_project
from tests.pages import hidden_fields
from tests.people import digest_of

NAMES = [*KINDS, *made_up.KINDS]
# Stands in every name of a role, and so in every key, file name and address that is made of one.
SECRET = "zqxjkv"
# How many images an instance may need in a role, the fewest first.
SO_MANY = (1, 2, 3, 10)
ADJECTIVES = ("blue", "tall", "old", "round", "quiet", "wooden", "bright", "heavy", "narrow", "soft")
PEOPLE = ("pid-of-ann", "pid-of-ben")


def secret_ask(kind: Kind, prefix: str = SECRET) -> dict[str, Any]:
    """Return what `kind` usually asks, with `prefix` before the names of all roles."""
    ask = usual_ask(kind)
    roles = kind.roles(ask).all() | kind.adds_roles(ask).all()
    renamed: dict[str, Any] = _renamed(ask, {role: f"{prefix}_{role}" for role in roles})
    return renamed


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(entry, names) for entry in value]
    if isinstance(value, dict):
        return {name: _renamed(entry, names) for name, entry in value.items()}
    return names.get(value, value) if isinstance(value, str) else value


def caption(role: str, number: int) -> str:
    """Return a caption unlike those of other roles and instances, which does not name its role."""
    chosen = random.Random(f"{role}|{number}").sample(ADJECTIVES, 2 + number % 3)
    return f"A {' '.join(chosen)} thing on shelf {number}."


def images_needed(kind: Kind, ask: Mapping[str, Any]) -> dict[str, int]:
    """Return the fewest images in each role that `kind` needs to ask about an instance."""
    roles = kind.roles(ask)
    for counts in itertools.product(SO_MANY, repeat=len(roles.images)):
        needed = dict(zip(roles.images, counts, strict=True))
        try:
            kind.questions(facts(kind, ask, needed), ask, seed="any")
        except CannotAsk:
            continue
        return needed
    raise AssertionError(f"{kind.name} can ask about no instance with up to {SO_MANY[-1]} images in each role.")


def facts(kind: Kind, ask: Mapping[str, Any], needed: Mapping[str, int], *, number: int = 1) -> InstanceFacts:
    """Return an instance as `kind` sees it, of pictures that nobody has stored."""
    captions = {role: caption(role, number) for role in kind.roles(ask).captions}
    shas = itertools.count(number * 1000)
    images = {
        role: [ImageFacts(f"{next(shas):064x}", 8, 6, f"{SECRET}-{role}-{position}.png") for position in range(count)]
        for role, count in needed.items()
    }
    # What a study would have handed on, or an import brings: a description of the second image.
    said = {"text": f"The {caption('description', number)[2:]}", "target": 1} if kind.asks_about_answers else {}
    return InstanceFacts(f"thing-{number}", captions, images, said)


def some_facts(kind: Kind, ask: Mapping[str, Any], *, number: int = 1) -> InstanceFacts:
    return facts(kind, ask, images_needed(kind, ask), number=number)


def draw_thing(project: Project, kind: Kind, ask: Mapping[str, Any], number: int) -> Instance:
    """Store an instance about which `kind` can ask, with real pictures."""
    return draw_thing_for({kind: ask}, project, number)


def draw_thing_for(asks: Mapping[Kind, Mapping[str, Any]], project: Project, number: int) -> Instance:
    """Store an instance about which each of several kinds can ask, by roles of its own, with real pictures."""
    images: dict[str, Sequence[ImageFacts]] = {}
    captions, reference = dict[str, str](), dict[str, Any]()
    for kind, ask in asks.items():
        known = some_facts(kind, ask, number=number)
        captions |= known.captions
        images |= known.images
        if known.source:
            captions[role_of(1)], reference[TARGETS] = known.source["text"], [known.source["target"]]
    instance = make_instance(
        project,
        f"{SECRET}-thing-{number}",
        candidates=0,
        subtype="obj" if number % 2 else "att",
        captions=captions,
        original_captions=captions,
        reference=reference,
        source_row=number,
    )
    shown = itertools.count(number * 20)
    for role, files in images.items():
        for position, image in enumerate(files):
            drawn = draw_image(next(shown))
            InstanceImage.objects.create(
                instance=instance, role=role, position=position, filename=image.filename, image=drawn
            )
    return instance


def file_of(kind: Kind, ask: Mapping[str, Any], /, **entries: Any) -> str:
    """Return a study file about `kind`; JSON is YAML, too."""
    file = {
        "study": "things",
        "title": "Things on shelves",
        "kind": kind.name,
        "ask": ask,
        "answers": 2,
        "seed": f"{SECRET}-seed",
        "contact": "Ada Lovelace, ada@example.org",
        "consent": "We keep your answers.",
        "recruitment": {"any_ids": True},
    }
    return json.dumps(file | entries)


def project_for(kind: Kind, ask: Mapping[str, Any], *, things: int = 3, **about: Any) -> Project:
    project = make_project("shelves", **about)
    for number in range(1, things + 1):
        draw_thing(project, kind, ask, number)
    return project


@dataclass
class Seen:
    """A page that an annotator got: its address, status and source, and that read."""

    address: str
    status: int
    source: str
    html: BeautifulSoup


class Annotator:
    """Somebody with a browser that runs no script. `seen` keeps every page that came."""

    def __init__(self, person: str) -> None:
        self.person, self.client, self.seen = person, Client(), list[Seen]()
        self.page = BeautifulSoup("", "html.parser")

    def _keep(self, response: Any) -> Any:
        source = response.content.decode()
        self.page = BeautifulSoup(source, "html.parser")
        self.seen.append(Seen(response.request["PATH_INFO"], response.status_code, source, self.page))
        return response

    def arrive(self, study: Study) -> None:
        """Come in by the study's link, agree, and read what there is to read."""
        ids = f"PROLIFIC_PID={self.person}&STUDY_ID=study-at-prolific&SESSION_ID=sitting-of-{self.person}"
        door = f"/take/{study.entry_name}/?{ids}"
        self._keep(self.client.get(door))
        self._keep(self.client.post(door, follow=True))
        while self.question is None:
            self.press({"agree": "yes"})

    @property
    def question(self) -> Tag | None:
        return self.page.select_one("[data-stage] form[data-question]")

    @property
    def session(self) -> Session:
        return Session.objects.get(annotator__id_digest=digest_of(self.person))

    @property
    def slot(self) -> Slot:
        assert self.question is not None
        field = self.question.select_one("input[name=slot]")
        assert field is not None
        return Slot.objects.select_related("question").get(pk=int(str(field["value"])))

    def press(self, fields: Mapping[str, str]) -> None:
        """Send the first form that leads on."""
        forms = self.page.select("main form")
        form = next(form for form in forms if re.search(r"/(consent|begin|go-on)/$", str(form.get("action"))))
        self._keep(self.client.post(str(form["action"]), hidden_fields(form) | dict(fields), follow=True))

    def posts(self, label: str = "") -> dict[str, str]:
        """Return what the question shown is answered with: the answer with `label`, or any."""
        question = self.slot.question
        # Not by its id, with which every run on PostgreSQL would have other answers.
        number = Question.objects.filter(study=question.study_id, pk__lte=question.pk).count()
        kind, dice = get_kind(question.kind), random.Random(f"{self.person}|{number}")
        order = responses.order_for(session=self.session, question=question)
        return dict(kind.simulate(question.content, order, dice=dice, label=label))

    def posts_of(self, value: Any) -> dict[str, str]:
        """Return what the question shown is answered with by the whole answer `value`."""
        question = self.slot.question
        order = responses.order_for(session=self.session, question=question)
        return dict(get_kind(question.kind).form_data(question.content, order, value))

    def answer(self, fields: Mapping[str, str], *, submission: str = "") -> int:
        """Send the question's form with `fields` in it; return the status of the page that comes after all."""
        form = self.question
        assert form is not None
        own = hidden_fields(form) | {"submission": submission or str(uuid.uuid4())}
        return int(self._keep(self.client.post(str(form["action"]), own | dict(fields), follow=True)).status_code)

    def change(self) -> int:
        return int(self._keep(self.client.get(f"/s/{self.session.token}/change/", follow=True)).status_code)

    def skip(self) -> int:
        """Say that no image of the question comes."""
        assert self.question is not None
        names = [*(str(value) for value in range(1, 12)), "image", *(f"image-{number}" for number in range(2, 12))]
        failed = [{"value": name, "failed_loads": FAILED_LOADS_TO_SKIP} for name in names]
        fields = hidden_fields(self.question) | {"images": json.dumps(failed)}
        found = self.client.post(f"/s/{self.session.token}/skip/", fields, follow=True)
        return int(self._keep(found).status_code)


def practice_of(kind: Kind, ask: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `practice` of a study file: one question about the first thing, the first answer to it is right."""
    known = kind.questions(some_facts(kind, ask, number=1), ask, seed="any")[0]
    right = next(iter(kind.categories(known.content)), "anything")
    return {"pass": 1, "questions": [{"instance": f"{SECRET}-thing-1", "right": right, "feedback": "Look again."}]}


def draft(name: str, **entries: Any) -> Study:
    """Make a draft about three things that everybody who has an account is a member of; `entries` add to its file."""
    kind = get_kind(name)
    ask = secret_ask(kind)
    project = project_for(kind, ask, members=list(User.objects.all()))
    return create_study(project=project, source=file_of(kind, ask, **entries), by=TESTS, now=NOON)


def launched(name: str, **entries: Any) -> Study:
    study = draft(name, **entries)
    launch(study=study, by=TESTS, now=NOON)
    return study


Say = Callable[[str, int], Any]
Look = Callable[[Annotator, Mapping[str, str]], None]


def answered(study: Study, say: Say | None = None, look: Look | None = None) -> list[Annotator]:
    """Let two people answer everything.

    say: (person, number of the question, from 1) -> the label, or the whole answer where it is no text. Without it: the
    same to the first question, each another one to the second where there is another one, and to the others what their
    dice say. `look` is called before each answer.
    """
    people = [Annotator(person) for person in PEOPLE]
    for person in people:
        person.arrive(study)
        number = 0
        while person.question is not None:
            number += 1
            said = say(person.person, number) if say else _usual(person, number)
            posts = person.posts(said) if isinstance(said, str) else person.posts_of(said)
            if look:
                look(person, posts)
            assert person.answer(posts) == 200
    return people


def _usual(person: Annotator, number: int) -> str:
    question = person.slot.question
    categories = get_kind(question.kind).categories(question.content)
    if not categories or number > 2:
        return ""
    return categories[PEOPLE.index(person.person) % len(categories) if number == 2 else 0]


def given(study: Study) -> list[Response]:
    return list(Response.objects.counted_in(study).select_related("question"))


def keys_of_shuffled(question: Question) -> Iterator[str]:
    kind = get_kind(question.kind)
    yield from (option.key for option in kind.options(question.content) if option.shuffled)
    yield from (picture.key for picture in kind.question_content(question.content).pictures if picture.key)


def researcher_pages(study: Study) -> list[str]:
    """Return the addresses of every page about `study`, its project and its instances."""
    project, here = study.project, f"/studies/{study.project.slug}/{study.slug}/"
    about = [here, *(f"{here}{page}/" for page in ("progress", "results", "annotators", "releases", "preview"))]
    about += [f"{here}disagreements/?show={which}" for which in ("conflicting", "disagree", "settled")]
    of_project = ["", "instances/", "results/", "events/"]
    of_project += [f"instances/?look=table&study={study.slug}&order={order}" for order in ("least-alike", "longest")]
    of_project += [f"instances/{instance.name_in_address}/" for instance in project.instances.all()]
    return ["/", *about, *(f"/projects/{project.slug}/{page}" for page in of_project)]
