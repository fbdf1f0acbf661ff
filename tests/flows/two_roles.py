"""Describers and retrievers of image sets, at work on each other over HTTP, as the scripts of their pages do it."""

import json
import random
import re
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from studies.picture_handles import sha256_of
from tests.flows.crowd import FORM, SLOT, Crowd
from tests.flows.site import browser_at

_TARGET = re.compile(r"data-marked>.*?/images/([\w-]+)/view", re.DOTALL)
_OPTION = re.compile(r'data-option="(\w+)".*?/images/([\w-]+)/view', re.DOTALL)
_CAPTION = re.compile(r"data-caption>([^<]*)<")
# How much of the name of a picture its description says.
NAMED = 12
JSON = {"Accept": "application/json"}
# A page asks every two seconds; nobody looks at these.
LOOKS_AGAIN_SECONDS = 0.3
# How often a retriever takes another image, and a describer names a place first, which is refused.
WRONG, REFUSED = 0.3, 0.3


def studies(*, sets: int, targets: int) -> list[str]:
    """Return two studies for `tests.flows.launch_studies`: `targets` images of each set are described, and found."""
    both = {"instances": 0, "surveys": {"size": 4}, "recruitment": {"sessions_per_annotator": 0}}
    describe = {"sets": sets, "study": "describe", "kind": "describe", "rule": "described-v1", "max_answers": 2}
    retrieve = {"study": "retrieve", "kind": "retrieve", "rule": "retrieved-2-of-3-v1", "answers": 2, "max_answers": 3}
    describe["ask"] = {"images": "candidate", "targets": targets}
    retrieve |= {"ask": {"images": "candidate"}, "selection": {"from": "describe"}, "lobby": {"minutes": 10}}
    return [json.dumps(both | study) for study in (describe, retrieve)]


@dataclass
class Role(Crowd):
    """People of one role, who come again and again until all is `over`."""

    over: threading.Event = field(default_factory=threading.Event)

    def threads(self, people: list[str]) -> list[threading.Thread]:
        return [threading.Thread(target=self._stay, args=(person,)) for person in people]

    def _stay(self, person: str) -> None:
        dice = random.Random(f"{self.slug} {person}")
        try:
            with browser_at(self.url) as browser:
                sitting = 0
                while not self.over.is_set():
                    if self._take_part(browser, dice, person=person, session=f"{self.slug}-{person}-{sitting}"):
                        sitting += 1
                    else:
                        time.sleep(LOOKS_AGAIN_SECONDS)
        except Exception as error:  # noqa: BLE001 (reported by the test, in the main thread)
            self.failures.append(repr(error))

    def _take_part(self, browser: httpx.Client, dice: random.Random, *, person: str, session: str) -> bool:
        """Take one sitting to its end; False when there was none."""
        query = {"PROLIFIC_PID": person, "STUDY_ID": "study", "SESSION_ID": session}
        arrived = self.patiently(browser, "POST", f"/take/{self.slug}/", params=query)
        if "/s/" not in str(arrived.url):
            return False
        page = arrived.url.path
        shown = self.patiently(browser, "POST", f"{page}begin/").text
        while True:
            forms = FORM.findall(shown)
            if forms:
                shown = self._answer(browser, dice, page, forms[0], person=person)
            elif "data-lobby" in shown:
                shown = self._wait(browser, page, shown)
            else:
                return True

    def _answer(self, browser: httpx.Client, dice: random.Random, page: str, form: str, *, person: str) -> str:
        """Answer the question in `form`; return what comes next."""
        slot = SLOT.search(form)
        assert slot is not None
        for fields in self.said(browser, dice, page, form, slot=slot[1], person=person):
            submission = str(uuid.uuid4())
            sent = {"slot": slot[1], "submission": submission, "have": "", **fields}
            reply = json.loads(self.patiently(browser, "POST", f"{page}answer/", data=sent, headers=JSON).text)
            if reply.get("saved"):
                self.acknowledged.append(submission)
                return reply["next"] or self.patiently(browser, "GET", page).text
        # Refused for good, or another sitting of the same person has it: where are we?
        return self.patiently(browser, "GET", page).text

    def _wait(self, browser: httpx.Client, page: str, shown: str) -> str:
        reply = json.loads(self.patiently(browser, "POST", f"{page}wait/", headers=JSON).text)
        if reply["go"]:
            return self.patiently(browser, "GET", page).text
        time.sleep(LOOKS_AGAIN_SECONDS)
        return shown

    def said(
        self, browser: httpx.Client, dice: random.Random, page: str, form: str, *, slot: str, person: str
    ) -> list[Mapping[str, str]]:
        """Return what is sent as the answer, one after the other until it is taken."""
        raise NotImplementedError


class Describers(Role):
    """Each says the name of the marked picture. Drafts go before it, and now and then a text that is refused."""

    def said(
        self, browser: httpx.Client, dice: random.Random, page: str, form: str, *, slot: str, person: str
    ) -> list[Mapping[str, str]]:
        marked = _TARGET.search(form)
        assert marked is not None
        text = f"Here {sha256_of(marked[1])[:NAMED]} is to be seen, writes {person}."
        for some in (len(text) // 3, len(text)):
            self.patiently(browser, "POST", f"{page}draft/", data={"slot": slot, "text": text[:some]}, headers=JSON)
        refused = [{"text": f"The third image, writes {person}."}] if dice.random() < REFUSED else []
        return [*refused, {"text": text}]


class Retrievers(Role):
    """Each looks for the picture whose name the description says, and now and then takes another one."""

    def said(
        self, browser: httpx.Client, dice: random.Random, page: str, form: str, *, slot: str, person: str
    ) -> list[Mapping[str, str]]:
        caption = _CAPTION.search(form)
        assert caption is not None
        named = caption[1].split()[1]
        right = {value: sha256_of(handle).startswith(named) for value, handle in _OPTION.findall(form)}
        is_wrong = dice.random() < WRONG
        return [{"choice": dice.choice([value for value, fits in right.items() if fits != is_wrong])}]
