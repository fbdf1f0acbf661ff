"""A random walk of a real browser through a session in foul weather, beside a model of what must be stored.

The walk chooses, changes its mind, sends, changes what it has sent, reloads, goes back, opens and closes tabs, takes up
a second browser, loses the line, while what lies between loses replies, answers in the server's place, cuts what it
passes on or brings it late. The model knows each press of Send, and each notice that a page has shown. It demands:
- Of one browser the answer sent last stands; of two browsers, one of their last answers.
- Every other answer is named on a page, unless its person changed it on a page that showed it.
- No page says that something is saved which is not.
"""

import itertools
import json
import random
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Error, Page, Route

from annotation.actions.answering import responses
from annotation.actions.launching.launch import launch
from annotation.models import AnswerNotice, Response, Session, Slot
from studies.actions.studies import create_study
from studies.kinds import KINDS, get_kind
from studies.models import Study
from tests.browser.stage import draw_all
from tests.contracts.stage import draw_thing_for, secret_ask
from tests.factories import TESTS, make_project

SETTLE_SECONDS = 30
ASK_MS = 2_000
# Long after the page has said "Saving…" of what is on its way.
SAYS_SO_SECONDS = 1.0
# Of each step, so that little of the walk is spent before a page that cannot come.
BACK_ON_LINE = 0.3
# What is asked about one thing, of all kinds together.
QUESTIONS_ABOUT_A_THING = 13
# Why an answer of a browser may stand though the same browser sent a later one.
MAY_KEEP_OLDER = frozenset({"first_stands", "newer_stands", "built_on", "ended"})

FILL = """
const fill = (form, values) => {
  for (const field of form.querySelectorAll("textarea[name]")) {
    field.value = values[field.name] ?? "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  for (const box of form.querySelectorAll("input[type=checkbox][name]"))
    if (box.checked !== (values[box.name] === box.value)) box.click();
  for (const radio of form.querySelectorAll("input[type=radio][name]"))
    if (values[radio.name] === radio.value) radio.click();
};
const shown = () => document.querySelector("[data-stage] [data-question], .stage [data-question]");
"""
SLOT = "() => document.querySelector('[data-stage] [data-question], .stage [data-question]')?.dataset.slot ?? null"
SEND = (
    "([slot, values]) => {"
    + FILL
    + """
  const form = shown();
  if (form?.dataset.slot !== slot) return null;
  fill(form, values);
  let submitted = null;
  let given = null;
  const scripts = document.documentElement.dataset.scripts;
  window.addEventListener("submit", (event) => (submitted = event), { once: true, capture: true });
  document.addEventListener("answer:given", ({ detail }) => (given = detail), { once: true });
  form.querySelector("[data-send]").click();
  // Where not even the first script came, as where the others did not, the browser itself sends the form.
  const isForm = scripts === undefined || scripts === "lost";
  const isTaken = isForm ? !submitted?.defaultPrevented : scripts === "running";
  return {
    isForm,
    isSent: submitted !== null && isTaken,
    isOrdered: form.elements.send_number !== undefined,
    replaces: form.elements.replaces?.value ?? null,
    submission: given?.submission ?? form.elements.submission.value,
  };
}"""
)
CHOOSE = (
    "([slot, values]) => {"
    + FILL
    + """
  if (shown()?.dataset.slot === slot) fill(shown(), values);
}"""
)
NOTICES = (
    """() => [...document.querySelectorAll("[data-notices] li")].map((item) => [item.dataset.notice, item.innerText])"""
)
DISMISS = "() => document.querySelector('[data-notices] button')?.click()"
BEGIN = """() => {
  const button = document.querySelector("form[action$='/begin/'] button");
  button?.click();
  return Boolean(button);
}"""
SAYS = """() => ({
  saved: document.querySelector("[data-saved]")?.innerText.trim() === "Saved",
  answered: Number(document.querySelector("[data-answered]")?.textContent ?? 0),
})"""
IS_SETTLED = """() => document.body?.dataset.session !== undefined && document.body.dataset.unsent === undefined
  && (document.querySelector("[data-stage] [data-seen]") !== null || document.querySelector("article.card") !== null)"""


@dataclass
class Press:
    """One press of Send: what for, what was said, where, and when. `replaces`: the version that its page showed."""

    slot: int
    value: Any
    submission: uuid.UUID
    replaces: int | None
    is_ordered: bool
    device: int
    tab: int
    at: float


@dataclass
class Walk:
    """One sitting in the weather. `report` holds what was done, for whoever has to find out why it failed."""

    browser: Browser
    site: str
    session: Session
    dice: random.Random
    blocks_workers: bool = True
    presses: list[Press] = field(default_factory=list)
    # Forms that the browser could not send, and sends when its own page about that is reloaded, or never.
    unsure: list[Press] = field(default_factory=list)
    refused: set[uuid.UUID] = field(default_factory=set)
    # The notices that a page has shown.
    named: set[int] = field(default_factory=set)
    # Question and answer of each of them: who said the same twice is told of both at once.
    named_answers: list[tuple[int, Any]] = field(default_factory=list)
    report: list[str] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)
    late: list[dict[str, Any]] = field(default_factory=list)
    weather: list[str] = field(default_factory=list)
    loses_scripts: bool = False
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.devices: list[BrowserContext] = []
        # Each with its device and a number of its own.
        self.tabs: list[tuple[int, Page, int]] = []
        self.offline = [False, False]
        self.here = 0
        self.opened = 0
        for _ in range(2):
            workers: Any = "block" if self.blocks_workers else "allow"
            device = self.browser.new_context(service_workers=workers, viewport={"width": 800, "height": 600})
            device.set_default_timeout(5000)
            device.route("**/answer/", self._answer)
            device.route("**/js/whole/work.js", self._script)
            self.devices.append(device)
        self._open(0)

    @property
    def address(self) -> str:
        return f"{self.site}/s/{self.session.token}/"

    def close(self) -> None:
        for device in self.devices:
            device.close()

    # What lies between.

    def _answer(self, route: Route) -> None:
        kind = self.weather.pop(0) if self.weather else "fair"
        fields = {name: values[0] for name, values in parse_qs(route.request.post_data or "").items()}
        is_form = route.request.is_navigation_request()
        if is_form and kind not in {"fair", "lost"}:
            kind = "fair"
        self.report.append(f"    {kind}: slot {fields.get('slot')}, {fields.get('submission')}")
        with suppress(Error):
            self._pass_on(route, kind, fields, is_form=is_form)

    def _pass_on(self, route: Route, kind: str, fields: dict[str, str], *, is_form: bool) -> None:
        if kind == "refused":
            route.abort()
        elif kind == "busy":
            route.fulfill(status=502, body="<h1>Bad gateway</h1>", content_type="text/html")
        elif kind == "portal":
            route.fulfill(status=200, body="<h1>Welcome to our network</h1>", content_type="text/html")
        elif kind == "portal in JSON":
            route.fulfill(status=200, json={"status": "login required"})
        elif kind == "guarded":
            route.fulfill(status=403, json={"error": "blocked by policy"})
        elif kind == "late":
            request = route.request
            self.late.append({"url": request.url, "content": request.post_data, "headers": dict(request.headers)})
            route.fulfill(status=504, body="Gateway timeout")
        elif is_form and kind == "fair":
            route.continue_()
        else:
            reply = route.fetch(max_redirects=0)
            if kind == "lost":
                route.abort()
            elif kind == "timeout":
                route.fulfill(status=504, body="Gateway timeout")
            elif kind == "cut":
                route.fulfill(status=reply.status, body=reply.text()[: len(reply.text()) // 2])
            else:
                self._heard(fields, reply.text())
                route.fulfill(response=reply)

    def _heard(self, fields: dict[str, str], text: str) -> None:
        if "error" in json.loads(text):
            self.refused.add(uuid.UUID(fields["submission"]))

    def _script(self, route: Route) -> None:
        with suppress(Error):
            if self.loses_scripts:
                self.loses_scripts = False
                route.abort()
            else:
                route.continue_()

    def bring_what_is_late(self) -> None:
        """Let what a proxy held for long reach the server after all."""
        for request in self.late:
            httpx.post(request["url"], content=request["content"], headers=request["headers"], timeout=20)
        self.late.clear()

    # What is done.

    @property
    def page(self) -> Page:
        return self.tabs[self.here][1]

    @property
    def device(self) -> int:
        return self.tabs[self.here][0]

    @property
    def tab(self) -> int:
        return self.tabs[self.here][2]

    def _open(self, device: int) -> None:
        self.opened += 1
        self.tabs.append((device, self.devices[device].new_page(), self.opened))
        self.here = len(self.tabs) - 1
        self._go(self.address)

    def _go(self, address: str) -> None:
        with suppress(Error):
            self.page.goto(address, wait_until="commit")

    def step(self) -> None:
        """Do one thing at random, and hear what the page says of it."""
        steps = list(STEPS)
        name = self.dice.choices(steps, [STEPS[step] for step in steps])[0]
        if self.offline[self.device] and self.dice.random() < BACK_ON_LINE:
            name = "line"
        self.report.append(f"{name} (device {self.device}, tab {self.tab})")
        with suppress(Error):
            getattr(self, f"_{name}")()
        self._listen()

    def _ask(self, script: str, value: Any = None) -> Any:
        """Return what the page says, None while it is between two pages."""
        with suppress(Error):
            # Through an element: `page.evaluate` waits without end for a page that never comes.
            return self.page.locator(":root").evaluate(f"(_, value) => ({script})(value)", value, timeout=ASK_MS)
        return None

    def _send(self) -> None:
        if self.dice.random() < 0.8:
            self._wait("() => document.querySelector('[data-stage] [data-seen]') !== null", 0.8)
        if not self.offline[self.device] and not self._ask("() => document.querySelector('.stage') !== null"):
            # Whoever sees what the browser says of a page that did not come opens it again.
            self._go(self.address)
        if self._ask(SLOT) is None and self._ask(BEGIN):
            self.report.append("    begin")
            self._wait("() => document.querySelector('[data-stage] [data-seen]') !== null", 2)
        slot = self._ask(SLOT)
        if slot is None:
            return
        posted, value = self._make_up(int(slot))
        pressed = self._ask(SEND, [slot, posted])
        self.report.append(f"    slot {slot} = {value}: {pressed}")
        if pressed and pressed["isSent"]:
            press = Press(
                slot=int(slot),
                value=value,
                submission=uuid.UUID(pressed["submission"]),
                replaces=int(pressed["replaces"]) if pressed["replaces"] else None,
                is_ordered=pressed["isOrdered"],
                device=self.device,
                tab=self.tab,
                at=time.monotonic(),
            )
            # What a form loses without a line is said by the browser itself, in the place of the page.
            is_unsure = pressed["isForm"] and self.offline[self.device]
            (self.unsure if is_unsure else self.presses).append(press)

    def _make_up(self, slot: int) -> tuple[dict[str, str], Any]:
        """Return what a page posts for some answer to the question in `slot`, and the answer."""
        question = Slot.objects.select_related("question").get(pk=slot).question
        kind, order = get_kind(question.kind), responses.order_for(session=self.session, question=question)
        posted = dict(kind.simulate(question.content, order, dice=self.dice))
        if posted.get("text"):
            # Nobody says the same of two images.
            posted["text"] = f"{posted['text']} It is {next(self.numbers)} years old."[-300:]
        return posted, kind.parse(question.content, order, posted).value

    def _wait(self, condition: str, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._ask(condition):
            if time.monotonic() > deadline:
                return False
            self.page.wait_for_timeout(20)
        return True

    def _choose(self) -> None:
        if (slot := self._ask(SLOT)) is not None:
            self._ask(CHOOSE, [slot, self._make_up(int(slot))[0]])

    def _change(self) -> None:
        if self.dice.random() < 0.5:
            self._go(f"{self.address}change/")
        else:
            self._ask("() => document.querySelector('[data-change]')?.click()")
            self._wait("() => document.querySelector('[data-stage] [name=replaces]') !== null", 0.6)
        self._send()

    def _reload(self) -> None:
        self.page.reload(wait_until="commit")

    def _back(self) -> None:
        self.page.go_back(wait_until="commit")

    def _forward(self) -> None:
        self.page.go_forward(wait_until="commit")

    def _another_tab(self) -> None:
        mine = [place for place, (device, _, _) in enumerate(self.tabs) if device == self.device]
        if len(mine) < 2:
            self._open(self.device)
        else:
            self.here = next(place for place in mine if place != self.here)

    def _close_tab(self) -> None:
        device, page, _ = self.tabs.pop(self.here)
        self.here = 0
        _close(page)
        mine = [place for place, (other, _, _) in enumerate(self.tabs) if other == device]
        if mine:
            self.here = mine[0]
        else:
            self._open(device)

    def _another_device(self) -> None:
        device = 1 - self.device
        mine = [place for place, (other, _, _) in enumerate(self.tabs) if other == device]
        if mine:
            self.here = mine[0]
        else:
            self._open(device)

    def _line(self) -> None:
        """Lose the line, or find it again."""
        self.offline[self.device] = not self.offline[self.device]
        self.devices[self.device].set_offline(self.offline[self.device])

    def _nudge(self) -> None:
        self._ask("() => { window.dispatchEvent(new Event('online')); }")

    def _foul(self) -> None:
        self.weather = [self.dice.choice(WEATHER) for _ in range(self.dice.randint(1, 3))]
        self.report.append(f"    {self.weather}")

    def _scripts_lost(self) -> None:
        self.loses_scripts = True
        self.page.reload(wait_until="commit")

    def _dismiss(self) -> None:
        self._read_notices()
        self._ask(DISMISS)

    def _arrive_late(self) -> None:
        self.bring_what_is_late()

    def _rest(self) -> None:
        self.page.wait_for_timeout(self.dice.choice([20, 100, 450]))

    # What is said.

    def _listen(self) -> None:
        """See that the page says nothing of what it sent that is not so."""
        self._read_notices()
        says = self._ask(SAYS)
        if says is None:
            return
        self.session.refresh_from_db()
        if says["answered"] > self.session.questions_answered:
            self.untrue.append(f"{says['answered']} answered, stored are {self.session.questions_answered}")
        mine = [press for press in self.presses if press.tab == self.tab and press.device == self.device]
        if says["saved"] and mine and time.monotonic() - mine[-1].at > SAYS_SO_SECONDS:
            last = mine[-1]
            stored = Response.objects.filter(session=self.session, submission_id=last.submission)
            noted = AnswerNotice.objects.filter(session=self.session, submission_id=last.submission)
            if not stored.exists() and not noted.exists() and last.submission not in self.refused:
                self.untrue.append(f"saved, but slot {last.slot} = {last.value} is not")

    def _read_notices(self) -> None:
        """Remember which answers the page names, and see that it names their questions."""
        for pk, text in self._ask(NOTICES) or []:
            notice = AnswerNotice.objects.filter(session=self.session, pk=pk).first()
            if notice is None or f"question {notice.number}" not in text:
                self.untrue.append(f"a notice that names no question: {text}")
            self.named.add(int(pk))
            if notice is not None and notice.answer is not None:
                self.named_answers.append((notice.slot_id, notice.answer))

    def settle(self) -> None:
        """Let the sun come out, and each device look at the sitting once more until all is sent."""
        self.weather.clear()
        self.loses_scripts = False
        self.bring_what_is_late()
        for device, context in enumerate(self.devices):
            context.set_offline(False)
            self.offline[device] = False
        for device in {tab[0] for tab in self.tabs}:
            for _, page, _ in [tab for tab in self.tabs if tab[0] == device]:
                _close(page)
            self.tabs = [tab for tab in self.tabs if tab[0] != device]
            self._open(device)
            if not self._wait(IS_SETTLED, SETTLE_SECONDS):
                self.untrue.append(f"device {device} does not come to rest")
        # What one device has sent just now, the other one may be told.
        for place in range(len(self.tabs)):
            self.here = place
            self._go(self.address)
            self._wait(IS_SETTLED, SETTLE_SECONDS)
            self._read_notices()

    def differences(self) -> list[str]:
        """Return what is stored otherwise than it was sent, or was said otherwise than it is; none is the goal."""
        found = list(self.untrue)
        for slot in sorted({press.slot for press in self.presses}):
            found += self._differences_of(slot)
        sent = {press.slot for press in [*self.presses, *self.unsure]}
        stored = set(Response.objects.filter(session=self.session).values_list("slot_id", flat=True))
        found += [f"slot {slot} is stored and was never sent" for slot in stored - sent]
        return found

    def _differences_of(self, slot: int) -> list[str]:
        presses = [press for press in self.presses if press.slot == slot]
        unsure = [press for press in self.unsure if press.slot == slot]
        versions = list(Response.objects.filter(session=self.session, slot=slot).order_by("version"))
        if not versions:
            untold = [press for press in presses if press.submission not in self.refused]
            return [f"slot {slot}: {untold[-1].value} was sent, nothing is stored"] if untold else []
        found = []
        if [version.version for version in versions] != list(range(1, len(versions) + 1)):
            found.append(f"slot {slot}: versions {[version.version for version in versions]}")
        if [version.is_current for version in versions] != [False] * (len(versions) - 1) + [True]:
            found.append(f"slot {slot}: not the last version is current")
        if len(versions) > len(presses) + len(unsure):
            found.append(f"slot {slot}: {len(versions)} versions of {len(presses)} presses")
        dropped = [press for press in self._not_standing(presses, versions) if not self._was_told(press)]
        sent = [(press.value, press.replaces, press.device, press.tab) for press in presses]
        found += [f"slot {slot}: {press.value} of {sent} is dropped untold" for press in dropped]
        return found + self._out_of_order(slot, [*presses, *unsure], versions[-1])

    def _not_standing(self, presses: list[Press], versions: list[Response]) -> Iterator[Press]:
        """Yield the presses that have to be told: what was sent last from each browser and does not stand, and whatever
        was never stored; not what its person changed on a page that showed it."""
        replaces = {press.submission: press.replaces for press in [*self.presses, *self.unsure]}
        stands = versions[-1].whole_answer
        lasts = {press.device: press for press in presses if press.submission not in self.refused}
        for press in presses:
            if press.submission in self.refused or press.value == stands:
                continue
            stored = [
                one for one in versions if one.submission_id == press.submission and one.whole_answer == press.value
            ]
            later = versions[stored[0].version :] if stored else []
            is_changed = bool(stored) and all(replaces.get(one.submission_id) == one.version - 1 for one in later)
            if not stored or (lasts[press.device] is press and not is_changed):
                yield press

    def _out_of_order(self, slot: int, presses: list[Press], stands: Response) -> list[str]:
        """Return what is wrong where an answer stands though the same browser sent a later one."""
        standing = [press for press in presses if press.submission == stands.submission_id]
        if not standing:
            return [f"slot {slot}: {stands.whole_answer} stands and was never sent"]
        by, certain = standing[0], [press for press in presses if press in self.presses]
        later = [press for press in certain if press.device == by.device and press.at > by.at and press.is_ordered]
        later = [press for press in later if press.submission not in self.refused | {by.submission}]
        wrong = [
            press for press in later if press.value != stands.whole_answer and not self._was_told(press, MAY_KEEP_OLDER)
        ]
        return [f"slot {slot}: {stands.whole_answer} stands, {press.value} was sent later" for press in wrong]

    def _was_told(self, press: Press, why: frozenset[str] = frozenset()) -> bool:
        told = AnswerNotice.objects.filter(session=self.session, submission_id=press.submission, pk__in=self.named)
        if why:
            return told.filter(why__in=why).exists()
        return told.exists() or (press.slot, press.value) in self.named_answers

    @property
    def summary(self) -> str:
        """What was walked, in numbers."""
        asked = len({press.slot for press in self.presses})
        told = AnswerNotice.objects.filter(session=self.session, pk__in=self.named).count()
        return f"{asked} questions, {len(self.presses)} answers sent, {told} of them named as not standing"


# What may become of one answer on its way. Lost: stored, and the reply is not seen. Late: the proxy gives up, and
# brings it to the server all the same, some time after.
WEATHER = ("lost", "lost", "busy", "timeout", "portal", "portal in JSON", "guarded", "cut", "late", "refused", "fair")
STEPS: dict[str, int] = {
    "send": 60,
    "choose": 6,
    "change": 16,
    "reload": 6,
    "back": 4,
    "forward": 2,
    "another_tab": 8,
    "close_tab": 4,
    "another_device": 6,
    "line": 5,
    "nudge": 8,
    "foul": 14,
    "scripts_lost": 2,
    "dismiss": 4,
    "arrive_late": 5,
    "rest": 6,
}


def _close(page: Page) -> None:
    # A page that is sending a form through what lies between may never close: it is left first. One that cannot be
    # left is closed with its browser.
    with suppress(Error):
        page.goto("about:blank", wait_until="commit")
        page.close()


def open_all_kinds(*, things: int) -> Study:
    """Return an open study with a part for each kind of question, about `things`."""
    asks = {get_kind(name): secret_ask(get_kind(name), name) for name in KINDS}
    project = make_project("weather")
    for number in range(1, things + 1):
        draw_thing_for(asks, project, number)
    draw_all()
    file = {
        "study": "weather",
        "title": "Things in all weathers",
        "parts": [{"kind": kind.name, "ask": ask} for kind, ask in asks.items()],
        "rule": "collected-v1",
        "seed": "weather",
        "contact": "Ada Lovelace, ada@example.org",
        "recruitment": {"any_ids": True},
    }
    study = create_study(project=project, source=json.dumps(file), by=TESTS, now=timezone.now())
    launch(study=study, by=TESTS, now=timezone.now())
    return study


def walk(make: Callable[[], Walk], *, steps: int) -> Walk:
    """Walk `steps` steps, or to the end of the sitting, and come to rest."""
    walked = make()
    try:
        for _ in range(steps):
            walked.step()
        walked.settle()
    finally:
        walked.close()
    return walked
