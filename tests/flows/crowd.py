"""A crowd: annotators who answer at the same time, over HTTP, as the page's script does, and do not give up."""

import json
import re
import threading
import time
import uuid
from collections import deque
from dataclasses import dataclass, field

import httpx

from tests.flows.site import browser_at

FORM = re.compile(r'<form class="question".*?</form>', re.DOTALL)
SLOT = re.compile(r'name="slot" value="(\d+)"')
_OPTIONS = re.compile(r'name="choice"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="choice"')
GIVE_UP_SECONDS = 120
# Whoever sends a request again waits for so long.
PAUSE_SECONDS = 0.25


@dataclass
class Crowd:
    """`acknowledged` holds the submission of every answer the site said it had saved; `errors` what it said instead.

    `shown` holds the errors that a browser shows: those of pages and forms. The page's script sends answers, and sends
    them again.
    """

    url: str
    slug: str
    # How long an annotator looks at a question.
    seconds_per_question: float = 0.0
    acknowledged: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def run(self, annotators: int) -> None:
        """Let them answer until nothing is left for anybody."""
        threads = [threading.Thread(target=self._one, args=(number,)) for number in range(annotators)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _one(self, number: int) -> None:
        try:
            with browser_at(self.url) as browser:
                sitting = 0
                while self._sit(browser, person=f"person-{number:03}", session=f"sitting-{number:03}-{sitting:03}"):
                    sitting += 1
        except Exception as error:  # noqa: BLE001 (reported by the test, in the main thread)
            self.failures.append(repr(error))

    def _sit(self, browser: httpx.Client, *, person: str, session: str) -> bool:
        """Take one survey to its end; False when there was none left."""
        query = {"PROLIFIC_PID": person, "STUDY_ID": "study", "SESSION_ID": session}
        arrived = self.patiently(browser, "POST", f"/take/{self.slug}/", params=query)
        if "/s/" not in str(arrived.url):
            return False
        page = arrived.url.path
        shown = deque(self._forms(self.patiently(browser, "POST", f"{page}begin/").text))
        while shown:
            time.sleep(self.seconds_per_question)
            slot, values = shown.popleft()
            submission = str(uuid.uuid4())
            fields = {"slot": slot, "submission": submission, "choice": values[int(slot) % len(values)]}
            fields["have"] = ",".join(held for held, _ in shown)
            answered = self.patiently(
                browser, "POST", f"{page}answer/", data=fields, headers={"Accept": "application/json"}
            )
            body = json.loads(answered.text)
            if body.get("saved"):
                self.acknowledged.append(submission)
            shown.extend(self._forms(body.get("next") or ""))
            if body.get("go") and not shown:
                return True
        return True

    @staticmethod
    def _forms(html: str) -> list[tuple[str, list[str]]]:
        forms = []
        for form in FORM.findall(html):
            slot = SLOT.search(form)
            assert slot is not None
            forms.append((slot[1], [first or second for first, second in _OPTIONS.findall(form)]))
        return forms

    def patiently(self, browser: httpx.Client, method: str, address: str, **request: object) -> httpx.Response:
        """Send a request again, the same, until the site answers it."""
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while True:
            try:
                response = browser.request(method, address, **request)  # type: ignore[arg-type]
                if response.status_code < 500:
                    return response
                problem = str(response.status_code)
            except httpx.TransportError as error:
                problem = type(error).__name__
            self.errors.append(problem)
            if not address.endswith("/answer/"):
                self.shown.append(f"{method} {address}: {problem}")
            if time.monotonic() > deadline:
                raise AssertionError(f"{address} was never answered: {self.errors[-1]}")
            time.sleep(PAUSE_SECONDS)
