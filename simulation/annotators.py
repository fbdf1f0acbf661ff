"""Simulated annotators: they use the real pages, as a browser without JavaScript would.

They read a page and send its forms. The right option, which no page shows, comes from the instance's reference, found
through the question's slot. Nothing here writes to the database, except to release the place of a failed visit.
"""

import logging
import random
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from ipaddress import IPv6Address
from math import isclose
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag
from bs4.filter import SoupStrainer
from django.conf import settings
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from annotation.actions import sessions
from annotation.actions.answering import practice, responses
from annotation.models import Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES
from annotation.simulation_ids import SIMULATED_STUDY
from simulation.demo.image_sets import TEXTS
from studies.kinds import Kind, NotAnAnswer, get_kind, has_own_score
from studies.models import PracticeQuestion, Question, Study

# New texts to try after a duplicate was refused.
MOST_TRIES = 20
# Draws until one is right, or wrong.
MOST_DRAWN = 500
TIMEOUT_SECONDS = 30
# Parsing the rest of a page would take half as long again.
LOOKED_AT = ["main", "h1", "progress"]
# Far more pages than a survey has; ends a visit to a page that links to itself.
MOST_PAGES = 10_000
# Without styles and scripts, pages may name these files as in the source.
UNCOLLECTED = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}


class CannotRead(Exception):
    """A page is not what an annotator's page should be; the message says which and why."""


@dataclass(frozen=True)
class Page:
    """The page after all redirects. `path` has no host; `html` is the part that LOOKED_AT names."""

    path: str
    status: int
    html: BeautifulSoup

    @property
    def title(self) -> str:
        heading = self.html.select_one("h1")
        return heading.get_text(" ", strip=True) if heading else ""

    @property
    def text(self) -> str:
        return " ".join(part.get_text(" ", strip=True) for part in self.html.select("main p"))


def _read(source: bytes) -> BeautifulSoup:
    return BeautifulSoup(source, "html.parser", parse_only=SoupStrainer(LOOKED_AT))


class BrowserInProcess:
    """Call the site's code in this process, with middleware, whether or not static files were collected."""

    def __init__(self) -> None:
        host = next((name.lstrip(".") for name in settings.ALLOWED_HOSTS if name != "*"), "localhost")
        # Private addresses, one per annotator: many arrive quickly, and arrivals are limited per network.
        address = str(IPv6Address((0xFD << 120) | random.getrandbits(120)))
        self._client = Client(
            enforce_csrf_checks=True, raise_request_exception=False, SERVER_NAME=host, REMOTE_ADDR=address
        )
        self._https = settings.SECURE_SSL_REDIRECT

    def open(self, path: str) -> Page:
        with _in_process():
            return self._page(self._client.get(path, follow=True, secure=self._https))

    def send(self, path: str, fields: Mapping[str, str]) -> Page:
        with _in_process():
            return self._page(self._client.post(path, dict(fields), follow=True, secure=self._https))

    def _page(self, response: Any) -> Page:
        if response.exc_info:
            error = response.exc_info[1]
            raise CannotRead(
                f"An annotator's page failed ({type(error).__name__}: {error}). "
                "Run the command again with --traceback to see where."
            ) from error
        return Page(response.request["PATH_INFO"], response.status_code, _read(response.content))


@contextmanager
def _in_process() -> Iterator[None]:
    """Work without collected files, accept simulated times, and do not log failing pages: the error has the message."""
    logger = logging.getLogger("django.request")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        # The second keeps WhiteNoise from looking for the folder of collected files.
        storages = settings.STORAGES | UNCOLLECTED
        with override_settings(STORAGES=storages, WHITENOISE_AUTOREFRESH=True, CHECK_TIMES=False):
            yield
    finally:
        logger.setLevel(before)


class BrowserOverHttp:
    """Send requests to a running `site`, which must use the same database as this process."""

    def __init__(self, site: str) -> None:
        if urlsplit(site).scheme not in {"http", "https"}:
            raise CannotRead(f"{site} is not the address of a site. Write one like http://127.0.0.1:8000.")
        self._site = site
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def open(self, path: str) -> Page:
        return self._ask(path, None)

    def send(self, path: str, fields: Mapping[str, str]) -> Page:
        return self._ask(path, urlencode(fields).encode())

    def _ask(self, path: str, body: bytes | None) -> Page:
        try:
            with self._opener.open(urljoin(self._site, path), body, timeout=TIMEOUT_SECONDS) as response:
                return self._page(response, response.status)
        except urllib.error.HTTPError as error:
            with error:
                return self._page(error, error.code)
        except (urllib.error.URLError, OSError) as error:
            raise CannotRead(
                f"{self._site} does not answer ({error}). Start the site, or name another --url."
            ) from error

    def _page(self, response: Any, status: int) -> Page:
        return Page(urlsplit(response.url).path, status, _read(response.read()))


Browser = BrowserInProcess | BrowserOverHttp
"""One person's browser, with its own cookies."""


@dataclass(frozen=True)
class SimulatedAnnotator:
    """A simulated annotator. `accuracy`: chance of the reference answer. `leaves`: stops half way."""

    number: int
    seed: str
    accuracy: float
    leaves: bool = False

    def ids(self) -> tuple[str, str]:
        """Return ids of person and submission; the same seed and number are the same person."""
        ids = self.dice("ids")
        return f"{ids.getrandbits(96):024x}", f"{ids.getrandbits(96):024x}"

    def entry(self, study: Study) -> str:
        """Return the entry link as Prolific would send it."""
        person, session = self.ids()
        query = urlencode({"PROLIFIC_PID": person, "STUDY_ID": f"{SIMULATED_STUDY}{study.slug}", "SESSION_ID": session})
        return f"{reverse('take', args=[study.entry_name])}?{query}"

    def dice(self, of: str) -> random.Random:
        return random.Random(f"{self.seed}|{self.number}|{of}")  # noqa: S311 (made-up people)


def annotators(*, count: int, accuracy: float, seed: str, leave: float = 0.0) -> Iterator[SimulatedAnnotator]:
    """Yield `count` annotators; a share of `leave`, evenly spread, will stop half way."""
    for number in range(count):
        leaves = int((number + 1) * leave) > int(number * leave)
        yield SimulatedAnnotator(number=number, seed=seed, accuracy=accuracy, leaves=leaves)


@dataclass
class VisitResult:
    """The result of one person's visit.

    state: of the session at the end; empty without a session, and then `turned_away` is the page's message.
    by_reference: answers to questions with a known right answer. scores: of answers that their kind scores itself.
    written: texts taken from the instance's source. completion_code: that the last page leads back to the platform
    with.
    """

    state: str = ""
    turned_away: str = ""
    nothing_left: bool = False
    answers: int = 0
    by_reference: int = 0
    right: int = 0
    written: int = 0
    completion_code: str = ""
    scores: list[float] = field(default_factory=list)


@dataclass
class _Visit:
    browser: Browser
    person: SimulatedAnnotator
    page: Page
    dice: random.Random
    pace: random.Random
    sitting: VisitResult = field(default_factory=VisitResult)


def take_part(*, browser: Browser, study: Study, person: SimulatedAnnotator) -> VisitResult:
    """Simulate one person's whole visit, and return its result.

    Raises CannotRead. If the visit ends early, also by Ctrl-C, its place is released.
    """
    try:
        return _visit(browser=browser, study=study, person=person)
    except BaseException:
        _release_place(study=study, person=person)
        raise


def _release_place(*, study: Study, person: SimulatedAnnotator) -> None:
    """Let the session of a failed visit lapse: its place is free, and the person may continue later."""
    _, session_id = person.ids()
    same = Session.objects.filter(study=study, id_digest__in=Session.digests_of([session_id]))
    left = same.filter(state__in=OPEN_STATES).first()
    if left is not None:
        sessions.leave(session=left, to=SessionState.LAPSED, now=timezone.now())


def _visit(*, browser: Browser, study: Study, person: SimulatedAnnotator) -> VisitResult:
    visit = _Visit(browser, person, _arrive(browser, person.entry(study)), person.dice("answers"), person.dice("times"))
    for _ in range(MOST_PAGES):
        following = _next_page(visit)
        if following is None:
            return _read_result(visit)
        visit.page = following
    raise CannotRead(f"After {MOST_PAGES} pages {visit.page.path} still leads to another page.")


def _arrive(browser: Browser, link: str) -> Page:
    """Open the link and press Start, unless the person has a session or was turned away."""
    page = browser.open(link)
    form = page.html.select_one("main form") if page.path == urlsplit(link).path else None
    return page if form is None else browser.send(link, _hidden_fields(form))


def _next_page(visit: _Visit) -> Page | None:
    """Do what the page asks and return the next page; None at the end. Raises CannotRead."""
    if visit.page.status >= 500:
        raise CannotRead(f"The site failed with the status {visit.page.status}. Its log says why.")
    form = _form_to_send(visit.page)
    if form is not None:
        return _SENDERS[_step(form)](visit, form)
    onward = visit.page.html.select_one('main a[data-onward][href^="/s/"]')
    return visit.browser.open(str(onward["href"])) if onward else None


def _step(form: Tag) -> str:
    return str(form.get("action", "")).rstrip("/").rpartition("/")[2]


def _form_to_send(page: Page) -> Tag | None:
    """Return the visible form that continues, not the hidden one of the next question."""
    forms = (form for form in page.html.select("main form") if form.find_parent(hidden=True) is None)
    return next((form for form in forms if _step(form) in _SENDERS), None)


def _hidden_fields(form: Tag) -> dict[str, str]:
    return {str(tag["name"]): str(tag.get("value", "")) for tag in form.select('input[type="hidden"]')}


def _consent(visit: _Visit, form: Tag) -> Page:
    return visit.browser.send(str(form["action"]), _hidden_fields(form) | {"agree": "yes"})


def _begin(visit: _Visit, form: Tag) -> Page:
    return visit.browser.send(str(form["action"]), _hidden_fields(form))


def _answer_practice(visit: _Visit, form: Tag) -> Page:
    fields = _hidden_fields(form)
    asked = PracticeQuestion.objects.get(pk=fields["slot"])
    order = practice.order_for(session=_session(visit), question=asked)
    fields |= get_kind(asked.kind).simulate(asked.content, order, dice=visit.dice, label=asked.right)
    _check_offered(form, fields)
    return visit.browser.send(str(form["action"]), fields)


def _session(visit: _Visit) -> Session:
    token = visit.page.path.split("/")[2]
    return Session.objects.select_related("study").get(token=token)


def _answer(visit: _Visit, form: Tag) -> Page:
    total = visit.page.html.select_one("progress[max]")
    if visit.person.leaves and total is not None and visit.sitting.answers >= int(str(total["max"])) // 2:
        return visit.browser.send(str(form["action"]).replace("/answer/", "/give-up/"), {})
    slot = _hidden_fields(form)["slot"]
    question = Slot.objects.select_related("question__instance").get(pk=slot).question
    kind = get_kind(question.kind)
    order = responses.order_for(session=_session(visit), question=question)
    whole = _choose_scored_answer(visit, question, order)
    label = said = "" if whole is not None else _choose_label(visit, question)
    for _ in range(1 if kind.writing(question.content) is None else MOST_TRIES):
        chosen = whole
        if chosen is None:
            said = label or _choose_text(visit, question)
            chosen = kind.simulate(question.content, order, dice=visit.dice, label=said)
        fields = _hidden_fields(form) | dict(chosen)
        _check_offered(form, fields)
        fields |= _measured_times(visit)
        page = visit.browser.send(str(form["action"]), fields)
        if page.status == 200:
            visit.sitting.answers += 1
            visit.sitting.written += said != label
            return page
        form = _form_to_send(page) or form
    raise CannotRead(f"The answer to question {question.pk} got the status {page.status}: {page.text or page.title}")


_SENDERS: dict[str, Callable[[_Visit, Tag], Page]] = {
    "go-on": _begin,
    "consent": _consent,
    "begin": _begin,
    "practice": _answer_practice,
    "answer": _answer,
    "finish": _begin,
}


def _measured_times(visit: _Visit) -> dict[str, str]:
    """Return the times that a page's script would report: about 8 seconds, as people take."""
    send_ms = 1000 * min(60.0, visit.pace.lognormvariate(2.1, 0.45))
    measured = {"first_choice_ms": int(0.8 * send_ms), "send_ms": int(send_ms), "hidden_ms": 0}
    return {"unmeasured": "", **{name: str(ms) for name, ms in measured.items()}}


def _choose_label(visit: _Visit, question: Question) -> str:
    """Return the label to answer: the right one with the person's accuracy, else another at random.

    "" without a known right answer, so that the kind draws one.
    """
    kind = get_kind(question.kind)
    labels = sorted(kind.categories(question.content)) if kind.has_one_label else []
    right = question.right or kind.reference_label(question.instance.reference)
    if right not in labels:
        return ""
    visit.sitting.by_reference += 1
    if visit.dice.random() < visit.person.accuracy:
        visit.sitting.right += 1
        return right
    return visit.dice.choice([label for label in labels if label != right])


def _choose_scored_answer(visit: _Visit, question: Question, order: Sequence[str]) -> Mapping[str, str] | None:
    """Return the posted fields of a question whose kind scores answers itself.

    A right answer with the person's accuracy, else one that is not quite right. None without a known right answer, or
    if no such answer was found.
    """
    kind, right = get_kind(question.kind), question.what_is_right
    if right == "" or not has_own_score(kind):
        return None
    is_right = visit.dice.random() < visit.person.accuracy
    for posted in _possible_answers(visit, question, order, right):
        score = _score_of(kind, question, order, posted)
        if score is not None and isclose(score, 1) is is_right:
            visit.sitting.by_reference += 1
            visit.sitting.right += is_right
            visit.sitting.scores.append(score)
            return posted
    return None


def _possible_answers(
    visit: _Visit, question: Question, order: Sequence[str], right: Any
) -> Iterator[Mapping[str, str]]:
    """Yield possible answers as a page posts them: the right one, if it can be posted, then drawn ones."""
    kind = get_kind(question.kind)
    # The right answer may have another form than an answer, such as a list of several right ones.
    with suppress(NotAnAnswer, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, StopIteration):
        yield kind.form_data(question.content, order, right)
    for _ in range(MOST_DRAWN):
        yield kind.simulate(question.content, order, dice=visit.dice)


def _score_of(kind: Kind, question: Question, order: Sequence[str], posted: Mapping[str, str]) -> float | None:
    try:
        answer = kind.parse(question.content, order, posted)
    except NotAnAnswer:
        return None
    return kind.score(question.content, question.what_is_right, answer)


def _choose_text(visit: _Visit, question: Question) -> str:
    """Return a text of the source about the marked image; "" if there is none, or the kind takes no text."""
    kind = get_kind(question.kind)
    texts: Mapping[str, Sequence[str]] = question.instance.reference.get("other", {}).get(TEXTS, {})
    marked = [picture.key for picture in kind.question_content(question.content).pictures if picture.mark]
    if kind.writing(question.content) is None or not marked or marked[0] not in texts:
        return ""
    return visit.dice.choice(texts[marked[0]])


def _check_offered(form: Tag, fields: Mapping[str, str]) -> None:
    """Check that the page offers the chosen fields. Raises CannotRead."""
    for name, value in fields.items():
        offered = [radio["value"] for radio in form.select('input[type="radio"]') if radio.get("name") == name]
        if offered and value not in offered:
            raise CannotRead(f"The page does not offer the answer {value}; it offers {', '.join(map(str, offered))}.")


def _read_result(visit: _Visit) -> VisitResult:
    sitting, page = visit.sitting, visit.page
    if page.path.startswith("/s/"):
        session = _session(visit)
        sitting.state = session.state
        back = page.html.select_one('main a[href*="/submissions/complete?"]')
        if back is not None:
            sitting.completion_code = dict(parse_qsl(urlsplit(str(back["href"])).query)).get("cc", "")
        if sitting.state == SessionState.WAITING:
            # Nobody else answers at the same time, so waiting would not help.
            _release_place(study=session.study, person=visit.person)
            sitting.turned_away, sitting.nothing_left = page.text or page.title, True
        elif sitting.state in OPEN_STATES:
            raise CannotRead(f'The page "{page.title}" (status {page.status}) has no form that continues.')
    else:
        sitting.turned_away = page.text or page.title
        sitting.nothing_left = page.status == 200
    return sitting
