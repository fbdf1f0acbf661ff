"""A random walk of a real browser through a sitting in foul weather, beside a model of what must be stored.

The walk chooses, changes its mind, sends, changes what it has sent, reloads, goes back, opens and closes tabs, takes up
a second device, loses the line, while what lies between loses replies, answers in the server's place, cuts what it
passes on or brings it late. The model knows each press of Send and what the page was told about it. It says: what
was sent last for a question is what is stored, or the page was told that another answer stands, which only somebody
can bring about who answers the same in two places; and no page ever says that something is saved which is not.
"""

import json
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx
from playwright.sync_api import Browser, BrowserContext, Error, Page, Route

from annotation.models import Response, Session

VALUES = ("1", "2", "3", "4", "none")
SETTLE_SECONDS = 30
# Long after the page has said "Saving…" of what is on its way.
SAYS_SO_SECONDS = 1.0
# Of each step, so that little of the walk is spent before a page that cannot come.
BACK_ON_LINE = 0.3

SEND = """(value) => {
  const form = document.querySelector("[data-stage] [data-question], .stage [data-question]");
  const input = form?.querySelector(`[name=choice][value="${value}"]`);
  if (!input) return null;
  input.click();
  let submitted = null;
  const scripts = document.documentElement.dataset.scripts;
  window.addEventListener("submit", (event) => (submitted = event), { once: true, capture: true });
  form.querySelector("[data-send]").click();
  // Where not even the first script came, as where the others did not, the browser itself sends the form.
  const isForm = scripts === undefined || scripts === "lost";
  const isTaken = isForm ? !submitted?.defaultPrevented : scripts === "running";
  const isSent = submitted !== null && isTaken;
  const isChange = form.elements.replaces !== undefined;
  return { slot: form.dataset.slot, isSent, isChange, isForm };
}"""
CHOOSE = """(value) => document.querySelector(`[data-stage] [name=choice][value="${value}"]`)?.click()"""
SAYS = """() => ({
  saved: document.querySelector("[data-saved]")?.innerText.trim() === "Saved",
  answered: Number(document.querySelector("[data-answered]")?.textContent ?? 0),
})"""
IS_SETTLED = """() => document.body?.dataset.session !== undefined && document.body.dataset.unsent === undefined
  && (document.querySelector("[data-stage] [data-seen]") !== null || document.querySelector("article.card") !== null)"""


@dataclass
class Press:
    """One press of Send: what for, where, and when."""

    slot: str
    value: str
    is_change: bool
    device: int
    tab: int
    at: float


@dataclass
class Told:
    """What a page was told about a submission, if the reply came through."""

    slot: str
    value: str
    kept: bool


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
    told: list[Told] = field(default_factory=list)
    report: list[str] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)
    late: list[dict[str, Any]] = field(default_factory=list)
    weather: list[str] = field(default_factory=list)
    loses_scripts: bool = False

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
        self.report.append(f"    {kind}: slot {fields.get('slot')} = {fields.get('choice')}")
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
        said = json.loads(text)
        kept = "kept=" in (said.get("go") or "") or "error" in said
        self.told.append(Told(fields["slot"], fields["choice"], kept))

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
            return self.page.evaluate(script, value)
        return None

    def _send(self) -> None:
        if self.dice.random() < 0.8:
            self._wait("() => document.querySelector('[data-stage] [data-seen]') !== null", 0.8)
        if not self.offline[self.device] and not self._ask("() => document.querySelector('.stage') !== null"):
            # Whoever sees what the browser says of a page that did not come opens it again.
            self._go(self.address)
        value = self.dice.choice(VALUES)
        pressed = self._ask(SEND, value)
        self.report.append(f"    {value}: {pressed}")
        if pressed and pressed["isSent"]:
            press = Press(pressed["slot"], value, pressed["isChange"], self.device, self.tab, time.monotonic())
            # What a form loses without a line is said by the browser itself, in the place of the page.
            is_unsure = pressed["isForm"] and self.offline[self.device]
            (self.unsure if is_unsure else self.presses).append(press)

    def _wait(self, condition: str, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._ask(condition):
            if time.monotonic() > deadline:
                return False
            self.page.wait_for_timeout(20)
        return True

    def _choose(self) -> None:
        self._ask(CHOOSE, self.dice.choice(VALUES))

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

    def _arrive_late(self) -> None:
        self.bring_what_is_late()

    def _rest(self) -> None:
        self.page.wait_for_timeout(self.dice.choice([20, 100, 450]))

    # What is said.

    def _listen(self) -> None:
        """See that the page says nothing of what it sent that is not so."""
        says = self._ask(SAYS)
        if says is None:
            return
        self.session.refresh_from_db()
        if says["answered"] > self.session.questions_answered:
            self.untrue.append(f"{says['answered']} answered, stored are {self.session.questions_answered}")
        mine = [press for press in self.presses if press.tab == self.tab and press.device == self.device]
        if says["saved"] and mine and time.monotonic() - mine[-1].at > SAYS_SO_SECONDS:
            last = mine[-1]
            stored = Response.objects.filter(session=self.session, slot=int(last.slot))
            if last.value not in map(value_of, stored) and not self._was_told(last):
                self.untrue.append(f"saved, but slot {last.slot} = {last.value} is not")

    def _was_told(self, press: Press) -> bool:
        return any(told.kept for told in self.told if (told.slot, told.value) == (press.slot, press.value))

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

    def differences(self) -> list[str]:
        """Return what is stored otherwise than it was sent, or was said otherwise than it is; none is the goal."""
        found = list(self.untrue)
        by_slot: dict[str, list[Press]] = {}
        for press in self.presses:
            by_slot.setdefault(press.slot, []).append(press)
        for slot, presses in by_slot.items():
            found += self._differences_of(slot, presses)
        sent = {int(press.slot) for press in [*self.presses, *self.unsure]}
        stored = set(Response.objects.filter(session=self.session).values_list("slot_id", flat=True))
        found += [f"slot {slot} is stored and was never sent" for slot in stored - sent]
        return found

    def _differences_of(self, slot: str, presses: list[Press]) -> list[str]:
        versions = list(Response.objects.filter(session=self.session, slot=int(slot)).order_by("version"))
        if not versions:
            return [f"slot {slot}: {presses[-1].value} was sent, nothing is stored"]
        found = []
        if [version.version for version in versions] != list(range(1, len(versions) + 1)):
            found.append(f"slot {slot}: versions {[version.version for version in versions]}")
        if [version.is_current for version in versions] != [False] * (len(versions) - 1) + [True]:
            found.append(f"slot {slot}: not the last version is current")
        last, stands = presses[-1], value_of(versions[-1])
        unsure = [press for press in self.unsure if press.slot == slot]
        if len(versions) > len(presses) + len(unsure):
            found.append(f"slot {slot}: {len(versions)} versions of {len(presses)} presses")
        if stands in {last.value, *(press.value for press in unsure if press.at > last.at)}:
            return found
        places = {(press.device, press.tab) for press in presses}
        is_by_rights = len(places) > 1 and self._was_told(last) and stands in {press.value for press in presses}
        if not is_by_rights:
            sent = [(press.value, "change" if press.is_change else "first", press.device) for press in presses]
            found.append(f"slot {slot}: sent {sent}, stored {stands}, told {self._was_told(last)}")
        return found


# What may become of one answer on its way. Lost: stored, and the reply is not seen. Late: the proxy gives up, and
# brings it to the server all the same, some time after.
WEATHER = ("lost", "lost", "busy", "timeout", "portal", "portal in JSON", "guarded", "cut", "late", "refused", "fair")
STEPS: dict[str, int] = {
    "send": 40,
    "choose": 6,
    "change": 16,
    "reload": 6,
    "back": 4,
    "forward": 2,
    "another_tab": 4,
    "close_tab": 4,
    "another_device": 3,
    "line": 5,
    "nudge": 8,
    "foul": 14,
    "scripts_lost": 2,
    "arrive_late": 5,
    "rest": 6,
}


def _close(page: Page) -> None:
    # A page that is sending a form through what lies between may never close; it is left at once.
    with suppress(Error):
        page.goto("about:blank", wait_until="commit")
    page.close()


def value_of(response: Response) -> str:
    """Return what was posted for a stored choice: its place among the options as they were shown."""
    return "none" if response.choice == "none" else str(response.shown_order.index(response.choice) + 1)


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
