"""Simulated sessions of careless people, and of honest people whose answers look odd, to measure flag rules on. Pure.

Everything is drawn from a seed. Honest people err more often where a question is hard, and then mostly in the same way.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import exp

from analytics.flags import AnswerRecord, WritingRecord
from analytics.session_comparison import SentRecord

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
# Whom a question divides: people who see colours, or read an idiom, or judge it, in another way.
COLOUR, IDIOM, DEBATABLE = "colour", "idiom", "debatable"
DIVIDES = ((COLOUR, 0.15), (IDIOM, 0.2), (DEBATABLE, 0.3))
# How many checks a session has for each 20 questions.
CHECKS = (("gold", 2), ("instruction", 1), ("repeat", 1))


@dataclass(frozen=True)
class StudyKind:
    """A kind of study. shuffled, fixed: keys of its options. seconds: the median time of an answer.

    ties: the share of questions whose options are equally good. hardness: factor of the chance to err.
    """

    name: str
    shuffled: Sequence[str]
    fixed: Sequence[str]
    words: int
    pictures: int
    seconds: float
    ties: float = 0.0
    hardness: float = 1.0

    @property
    def options(self) -> list[str]:
        return [*self.shuffled, *self.fixed]

    @property
    def is_written(self) -> bool:
        return not self.options


KINDS = (
    StudyKind("pick", [f"candidate-{n}" for n in range(1, 5)], ["none"], words=12, pictures=4, seconds=8.0),
    StudyKind("yes-no", [], ["yes", "no"], words=12, pictures=1, seconds=5.0),
    StudyKind("retrieval", [f"image-{n}" for n in range(10)], [], words=20, pictures=10, seconds=14.0),
    StudyKind("description", [], [], words=0, pictures=10, seconds=45.0),
    StudyKind("pair", ["one", "other"], [], words=12, pictures=2, seconds=6.0, ties=0.4),
    StudyKind("easy", [], ["yes", "no"], words=12, pictures=1, seconds=4.0, hardness=0.1),
)


@dataclass(frozen=True)
class Asked:
    """A question. tempting: what people answer who err, or see it in another way. divides: whom it divides.

    clarity: from 0 to 1, evenly distributed; strict people need much of it. is_tie: both options are equally good.
    """

    id: int
    right: str
    tempting: str
    difficulty: float
    divides: frozenset[str]
    facts: Sequence[str] = ()
    check: str = ""
    clarity: float = 1.0
    is_tie: bool = False


@dataclass(frozen=True)
class Profile:
    """How somebody answers.

    slowness: factor of the time. errors: factor of the chance to err. view: what divides them from others; they answer
    otherwise on `view_share` of such questions. strategy: how they choose without looking, from `careless_from` of the
    session on, in `careless_seconds` (None: in their usual time). hidden: share of answers with the tab hidden for most
    of the time. unsure_first: they take the first place where they are unsure, also at ties. strictness: they say
    "none" or "no" to questions of less clarity, whatever is right. pauses: share of answers before which they rest for
    minutes. claims: factor of the time that their browser reports, beside the server's clock. writing, texts: how and
    what they write. unsure_last: as `unsure_first`, of the last place. leniency: they say "yes", and never "none", to
    questions of more clarity than 1 - leniency. tired: factor of the chance to err in the last third. jumps: how many
    times their browser's clock jumps ahead. spread: standard deviation of the logarithm of their times. skill: the
    share right of the strategy "model". block: they look at every second block of so many questions.
    """

    name: str
    is_honest: bool
    slowness: float = 1.0
    errors: float = 1.0
    view: str = ""
    view_share: float = 0.8
    strategy: str = ""
    careless_from: float = 0.0
    careless_seconds: float | None = None
    hidden: float = 0.0
    unsure_first: float = 0.0
    strictness: float = 0.0
    pauses: float = 0.0
    unmeasured: float = 0.0
    claims: float = 1.0
    unsure_last: float = 0.0
    leniency: float = 0.0
    tired: float = 1.0
    jumps: int = 0
    spread: float = 0.4
    skill: float = 0.0
    block: int = 0
    writing: str = "typed"
    texts: str = "own"
    kinds: Sequence[str] = ("pick", "yes-no", "retrieval", "description")


CHOICES, TEXTS = ("pick", "yes-no", "retrieval"), ("description",)
# With an option for people who need more to accept an image.
LEANS = ("pick", "yes-no")
HONEST = (
    Profile("typical", True),
    Profile("slow reader", True, slowness=3.0),
    Profile("screen reader", True, slowness=2.5, errors=1.3, unsure_first=0.6, unmeasured=0.3, writing="dictated"),
    Profile("colour-blind", True, view=COLOUR, view_share=0.95),
    Profile("dialect", True, view=IDIOM),
    Profile("phone", True, slowness=0.9, errors=1.2, hidden=0.1, unmeasured=0.1, writing="phone"),
    Profile("fast expert", True, slowness=0.35, errors=0.5),
    Profile("minority opinion", True, view=DEBATABLE, view_share=0.9),
    Profile("second-language writer", True, slowness=2.0, errors=1.5, hidden=0.25, writing="dictionary"),
    Profile("writes in a translator", True, slowness=1.5, hidden=0.3, writing="pasted", kinds=TEXTS),
    Profile("strict", True, strictness=0.8, kinds=LEANS),
    Profile("very strict", True, strictness=0.94, kinds=LEANS),
    Profile("first of equals", True, unsure_first=1.0, kinds=("pick", "pair")),
    Profile("bursts and pauses", True, slowness=0.5, pauses=0.08, hidden=0.05),
    Profile("pastes own notes", True, hidden=0.6, writing="pasted", texts="notes", kinds=TEXTS),
    Profile("clock runs fast", True, claims=1.05),
    Profile("clock jumps", True, jumps=3),
    Profile("lenient", True, leniency=0.8, kinds=LEANS),
    Profile("last of equals", True, errors=1.5, unsure_last=1.0, kinds=("pick", "pair")),
    Profile("interrupted, with music", True, slowness=1.3, hidden=0.4, pauses=0.25),
    Profile("tired in the last third", True, tired=2.5, kinds=CHOICES),
    Profile("dictates by key presses", True, slowness=1.2, writing="voice", kinds=TEXTS),
    Profile("same frame for all texts", True, texts="frame", kinds=TEXTS),
    Profile("careful in an easy study", True, slowness=1.5, errors=0.3, kinds=("easy",)),
)
CHEATERS = (
    Profile("random clicks", False, strategy="random", kinds=CHOICES),
    Profile("always the first", False, strategy="first"),
    Profile("always the last", False, strategy="last", kinds=LEANS),
    Profile("cycle of places", False, strategy="cycle", kinds=CHOICES),
    Profile("too fast", False, strategy="random", careless_seconds=0.5),
    Profile("hurried", False, strategy="random", careless_seconds=1.6, kinds=CHOICES),
    Profile("claims more time", False, strategy="random", careless_seconds=1.6, claims=4.0, kinds=CHOICES),
    Profile("careless later", False, strategy="random", careless_from=0.4, careless_seconds=2.0, kinds=CHOICES),
    Profile("copies a session", False, strategy="copy"),
    Profile("tab hidden", False, strategy="random", hidden=0.9, writing="pasted", texts="machine"),
    Profile("pastes the caption", False, strategy="random", writing="pasted", texts="caption", kinds=TEXTS),
    Profile("pastes machine text", False, strategy="random", writing="pasted", texts="machine", kinds=TEXTS),
    Profile(
        "pastes at once", False, strategy="random", careless_seconds=2.5, writing="pasted", texts="machine", kinds=TEXTS
    ),
    Profile("random blocks", False, strategy="random", careless_seconds=1.6, block=10, kinds=CHOICES),
    Profile("half at random", False, strategy="model", skill=0.5, kinds=LEANS),
    Profile("model, 70 % right", False, strategy="model", skill=0.7, kinds=LEANS),
    Profile("program with even times", False, strategy="model", skill=0.7, spread=0.03, kinds=LEANS),
    Profile("image by its file", False, strategy="file", kinds=("pick",)),
    Profile("types machine text", False, strategy="random", texts="machine", kinds=TEXTS),
    Profile("types by script", False, strategy="random", writing="script", texts="machine", kinds=TEXTS),
)
PROFILES = {each.name: each for each in (*HONEST, *CHEATERS)}

_THINGS = (
    "man",
    "woman",
    "girl",
    "boy",
    "dog",
    "horse",
    "child",
    "player",
    "cat",
    "cyclist",
    "singer",
    "cook",
    "nurse",
)
_LOOKS = (
    "tall",
    "small",
    "young",
    "old",
    "wet",
    "tired",
    "smiling",
    "bearded",
    "barefoot",
    "masked",
    "seated",
    "quiet",
)
_ACTS = ("holds", "lifts", "touches", "passes", "watches", "follows", "pulls", "carries", "leaves", "cleans", "paints")
_OBJECTS = (
    "cup",
    "ball",
    "door",
    "rope",
    "lamp",
    "paper",
    "kite",
    "box",
    "ladder",
    "table",
    "basket",
    "guitar",
    "book",
)
_PLACES = ("street", "garden", "kitchen", "beach", "stage", "field", "station", "river", "market", "bridge", "yard")
_OPENINGS = ("There is", "We see", "It shows", "I can see", "In it stands", "Here is", "You see", "Look for")
# Of people who write every text in the same words: the person, the object and the place.
_FRAMES = (
    (
        "Of the ten images, mine is the one with ",
        "In this picture I can clearly see ",
        "The main thing in it is ",
        "Find ",
    ),
    ("a {0}", "somebody, who is a {0}", "a person or animal: a {0}"),
    (", and not far away ", " as well as ", ", then beside that also ", ", next to which there must be "),
    ("a {1}", "something like a {1}", "at least one {1}"),
    (", all of it in the {2}.", ", with the {2} in the background.", " (the place is a {2})."),
)
_LINKS = ("while", "and", "as", "just when", "because", "but")


@dataclass
class Survey:
    """Questions that several people answer, with captions of their images."""

    kind: StudyKind
    asked: Sequence[Asked]
    captions: Mapping[int, Sequence[str]] = field(default_factory=dict)


def draw_survey(kind: StudyKind, *, size: int, first: int, dice: random.Random) -> Survey:
    """Return a survey of `size` questions with ids from `first` on, and its checks at random places."""
    asked = [_draw_question(kind, first + number, "", dice) for number in range(size)]
    captions = {each.id: [_write(each.facts, dice)] for each in asked if kind.is_written}
    checks: list[Asked] = []
    if kind.options:
        for check, per_20 in CHECKS:
            for _ in range(per_20 * size // 20):
                checks.append(_draw_question(kind, first + size + len(checks), check, dice))
    for each in checks:
        asked.insert(dice.randrange(len(asked) + 1), each)
    return Survey(kind, asked, captions)


def _draw_question(kind: StudyKind, id: int, check: str, dice: random.Random) -> Asked:
    if kind.is_written:
        facts = [dice.choice(words) for words in (_LOOKS, _THINGS, _ACTS, _LOOKS, _OBJECTS, _PLACES, _THINGS, _ACTS)]
        return Asked(id, "", "", 0.0, frozenset(), facts, check)
    right = dice.choice(kind.options)
    if check == "instruction" and kind.fixed:
        # As on the site, where everybody sees this option by the same name.
        return Asked(id, kind.fixed[-1], dice.choice(kind.options[:-1]), 0.01, frozenset(), (), check)
    if kind.shuffled and kind.fixed:
        right = "none" if dice.random() < 0.15 else dice.choice(kind.shuffled)
    tempting = dice.choice([each for each in kind.options if each != right])
    # Mean .1: most questions are easy, and some are hard.
    difficulty = kind.hardness * dice.betavariate(0.6, 5.4)
    divides = frozenset(name for name, share in DIVIDES if dice.random() < share * min(kind.hardness, 1.0))
    is_tie = not check and dice.random() < kind.ties
    if is_tie:
        difficulty, divides = 0.5, frozenset()
    if check:
        difficulty, divides = {"gold": 0.06, "instruction": 0.01, "repeat": difficulty}[check], frozenset()
    clarity = 1.0 if check in ("instruction", "repeat") else dice.random()
    return Asked(id, right, tempting, difficulty, divides, (), check, clarity, is_tie)


def sit(
    survey: Survey, profile: Profile, *, session: int, dice: random.Random, earlier: Sequence[Sequence[SentRecord]] = ()
) -> list[SentRecord]:
    """Return the answers of somebody like `profile`. earlier: the sessions that answered the survey before."""
    kind, moment = survey.kind, BEGUN + timedelta(hours=session)
    speed, carefulness = profile.slowness * exp(dice.gauss(0, 0.25)), profile.errors * exp(dice.gauss(0, 0.3))
    copied = {each.answer.question: each.answer for each in dice.choice(earlier)} if earlier else {}
    cycle = dice.choice(((0, 1), (0, 1, 2), (0, 1, 2, 3), (0, 1, 2, 3, 2, 1)))
    found: list[SentRecord] = []
    # Drawn only if they are needed, so that other people's draws stay the same.
    frame = "".join(dice.choice(part) for part in _FRAMES) if profile.texts == "frame" else ""
    jumping = dice.sample(range(1, len(survey.asked) + 1), profile.jumps) if profile.jumps else ()
    for number, asked in enumerate(survey.asked, start=1):
        is_careless = bool(profile.strategy) and number > profile.careless_from * len(survey.asked)
        is_careless = is_careless and not (profile.block and (number - 1) // profile.block % 2 == 0)
        fatigue = profile.tired if 3 * number > 2 * len(survey.asked) else 1.0
        order = list(kind.shuffled)
        dice.shuffle(order)
        shown = [*order, *kind.fixed]
        seconds = kind.seconds * speed * exp(dice.gauss(0, profile.spread))
        if is_careless and profile.careless_seconds is not None:
            seconds = profile.careless_seconds * exp(dice.gauss(0, 0.35))
        if dice.random() < profile.pauses:
            seconds += dice.uniform(60, 900)
        moment += timedelta(seconds=seconds)
        # Two people who ran out of time, or looked away, are among all of them.
        hidden = seconds * dice.uniform(1.5, 6) if dice.random() < profile.hidden else 0.0
        hidden = hidden or (dice.random() < 0.03) * dice.uniform(5, 300)
        label = None
        if shown:
            step = cycle[(number - 1) % len(cycle)] % len(shown)
            label = _choose(profile, asked, shown, carefulness * fatigue, is_careless, step, copied, dice)
        text = "" if shown else _text(profile, survey, asked, copied, is_careless, found, frame, dice)
        measured = dice.random() >= profile.unmeasured
        answer = AnswerRecord(
            question=asked.id,
            number=number,
            kind=kind.name,
            label=label,
            place=order.index(label) if label in order else None,
            places=len(shown),
            words=kind.words,
            pictures=kind.pictures,
            claimed_seconds=profile.claims * seconds + (1_800 if number in jumping else 0) if measured else None,
            possible_seconds=seconds,
            hidden_seconds=hidden if measured else None,
            text=text,
            shown_texts=survey.captions.get(asked.id, ()) if profile.texts == "caption" else (),
            writing=_WRITERS[profile.writing](text, dice) if text else None,
            check=asked.check,
            is_right=label == asked.right if asked.check else None,
            shuffled=len(kind.shuffled),
        )
        found.append(SentRecord(session, moment, answer))
    return found


def _choose(
    profile: Profile,
    asked: Asked,
    shown: Sequence[str],
    carefulness: float,
    is_careless: bool,
    step: int,
    copied: Mapping[int, AnswerRecord],
    dice: random.Random,
) -> str:
    if is_careless and profile.strategy == "copy" and asked.id in copied:
        return copied[asked.id].label or shown[0] if dice.random() < 0.98 else dice.choice(shown)
    if is_careless and profile.strategy == "model":
        return asked.right if dice.random() < profile.skill else dice.choice(shown)
    if is_careless:
        places = {"first": shown[0], "last": shown[-1], "cycle": shown[step], "file": min(shown)}
        return places.get(profile.strategy) or dice.choice(shown)
    if asked.clarity < profile.strictness:
        return shown[-1]
    if asked.check != "instruction" and asked.clarity > 1 - profile.leniency and shown[0] == "yes":
        return shown[0]
    if asked.check != "instruction" and profile.leniency and asked.right == "none":
        return dice.choice(shown[:-1])
    if asked.is_tie and dice.random() < profile.unsure_first:
        return shown[0]
    if asked.is_tie and dice.random() < profile.unsure_last:
        return shown[-1]
    if profile.view in asked.divides and dice.random() < profile.view_share:
        return asked.tempting
    if dice.random() >= min(asked.difficulty * carefulness, 0.9):
        return asked.right
    if dice.random() < profile.unsure_first:
        return shown[0]
    if dice.random() < profile.unsure_last:
        return [each for each in shown if each != "none"][-1]
    wrong = [each for each in shown if each != asked.right]
    return asked.tempting if dice.random() < 0.6 else dice.choice(wrong)


def _write(facts: Sequence[str], dice: random.Random) -> str:
    """Return a description that mentions most facts, in words of one's own."""
    look, thing, act, other_look, object_, place, other, other_act = facts
    clauses = [
        f"{dice.choice(_OPENINGS)} a {look} {thing}",
        f"the {thing} {act} {dice.choice(('a', 'the', 'some'))} {object_}",
        f"it is in the {place}" if dice.random() < 0.5 else f"the {place} is behind",
        f"a {other} {other_act} {dice.choice(('it', 'something', 'nearby'))}",
        f"the {object_} looks {other_look}",
    ]
    chosen = [clauses[0], *dice.sample(clauses[1:], dice.randint(1, 3))]
    text = chosen[0]
    for clause in chosen[1:]:
        text += f" {dice.choice(_LINKS)} {clause}"
    return f"{text}."


def _text(
    profile: Profile,
    survey: Survey,
    asked: Asked,
    copied: Mapping[int, AnswerRecord],
    is_careless: bool,
    found: Sequence[SentRecord],
    frame: str,
    dice: random.Random,
) -> str:
    if profile.texts == "caption" and asked.id in survey.captions:
        return survey.captions[asked.id][0]
    if profile.texts == "machine":
        return "The image depicts a scene in which " + _write(asked.facts, dice) + " " + _write(asked.facts, dice)
    if profile.texts == "notes":
        # Notes begin with the same words.
        return f"What I noted about this one of the ten: {_write(asked.facts, dice)}"
    if frame:
        look, thing, _, other_look, object_, place, *_ = asked.facts
        return frame.format(f"{look} {thing}", f"{other_look} {object_}", place)
    if is_careless and profile.strategy == "copy" and asked.id in copied:
        return copied[asked.id].text
    if is_careless and profile.strategy == "first":
        # The same again and again.
        return found[0].answer.text if found else _write(asked.facts, dice)
    return _write(asked.facts, dice)


def _typed(text: str, dice: random.Random, *, keys_a_second: float = 4.5, keys: float = 1.1) -> WritingRecord:
    pressed = round(len(text) * keys * dice.uniform(0.95, 1.1))
    pauses = sum(dice.random() < 0.04 for _ in range(len(text) // 2))
    paused = sum(round(1000 * dice.uniform(2, 9)) for _ in range(pauses))
    typing = round(1000 * pressed / (keys_a_second * exp(dice.gauss(0, 0.3))))
    return WritingRecord(pressed, 0, [], int(dice.random() < 0.1), pauses, paused, typing + paused)


def _dictionary(text: str, dice: random.Random) -> WritingRecord:
    """Somebody who looks words up, pastes some, and now and then a sentence that they wrote elsewhere."""
    if dice.random() < 0.15:
        return WritingRecord(dice.randint(0, 4), 1, [len(text)], 2, 1, 4_000, 9_000)
    typed = _typed(text, dice, keys_a_second=3.0)
    words = [dice.randint(3, 12) for _ in range(dice.randint(0, 2))]
    return replace(typed, pastes=len(words), pasted=words, focus_losses=len(words) + 1)


def _pasted(text: str, dice: random.Random) -> WritingRecord:
    return WritingRecord(dice.randint(0, 3), 1, [len(text)], 1, 0, 0, dice.randint(300, 4_000))


def _scripted(text: str, dice: random.Random) -> WritingRecord:
    return WritingRecord(len(text), 0, [], 0, 0, 0, round(1000 * len(text) / dice.uniform(25, 80)))


def _dictated(text: str, dice: random.Random) -> WritingRecord:
    return WritingRecord(dice.randint(0, 6), 0, [], 0, 0, 0, None if dice.random() < 0.5 else dice.randint(500, 20_000))


def _voice(text: str, dice: random.Random) -> WritingRecord:
    """Software that hears phrases of about six words, and presses the keys of each in an instant."""
    pauses = [dice.uniform(1.5, 5.0) for _ in range(len(text) // 35)]
    noted = [each for each in pauses if each > 2]
    typing, looking = len(text) * dice.uniform(3, 12), dice.uniform(800, 6_000)
    ms = round(1000 * sum(pauses) + typing + looking)
    return WritingRecord(len(text), 0, [], 0, len(noted), round(1000 * sum(noted)), ms)


def _on_a_phone(text: str, dice: random.Random) -> WritingRecord:
    """Whole words come from suggestions, and the keyboard reports some of its keys."""
    return _typed(text, dice, keys_a_second=3.5, keys=dice.uniform(0.3, 0.9))


_WRITERS: Mapping[str, Callable[[str, random.Random], WritingRecord]] = {
    "typed": _typed,
    "phone": _on_a_phone,
    "dictionary": _dictionary,
    "dictated": _dictated,
    "pasted": _pasted,
    "script": _scripted,
    "voice": _voice,
}
