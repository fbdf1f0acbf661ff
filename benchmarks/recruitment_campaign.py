"""Recruit and pay people through faults, and audit every cent: python -m benchmarks.recruitment_campaign.

Four studies of one project are published on a local platform. People come over HTTP and answer; some return, run out of
time, lose the redirect or complete without a code. Meanwhile webhooks are lost, doubled and out of order, the API says
429 or is away, replies are lost, and web processes and workers are killed with -9, also while they pay. In the end the
books of the platform are compared with the ledger: nobody may be paid twice, nothing may be lost, every status must be
the same, and every place filled. Prints a table, and exits with 1 if something does not hold.

PostgreSQL, Redis, gunicorn with two processes, two Celery workers, and the platform share the machine.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import django
import httpx

from benchmarks.site import PRODUCTION, ROOT, Site, machine, percentile, serve
from simulation.prolific_double.server import WORKSPACE, Double
from simulation.prolific_double.switches import Switch
from tests.servers import postgresql_cluster, redis_process, spare_port

TOKEN = "campaign-token"
STUDIES = 4
REWARD, BONUS = Decimal("1.20"), Decimal("0.25")
# Shares of people.
RETURNS, TIMES_OUT, LOSES_REDIRECT, NO_CODE = 0.12, 0.08, 0.05, 0.03
AT_ONCE = 12
CODE = re.compile(r"/submissions/complete\?cc=([A-Z0-9]+)")
QUESTION = re.compile(r'<form class="question".*?</form>', re.DOTALL)
SLOT = re.compile(r'name="slot" value="(\d+)"')
CHOICE = re.compile(r'name="choice"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="choice"')
LONGEST_WAIT = 600


@dataclass
class Workers:
    """Celery workers, which may be killed, and the scheduler."""

    folder: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / "workers.log").open("ab") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "config", *command], cwd=ROOT, stdout=log, stderr=log
            )
        return started

    def start_worker(self) -> None:
        # In one process, so that a kill ends its task in the middle.
        self.running.append(self.start("worker", "--pool", "solo", "--without-gossip", "--without-mingle"))

    def kill_one(self, dice: random.Random) -> None:
        killed = self.running.pop(dice.randrange(len(self.running)))
        killed.kill()
        killed.wait()
        self.start_worker()


@dataclass
class Campaign:
    """What runs, and what happened. `ends`: how each visit ended; `lags`: seconds until each change was mirrored."""

    double: Double
    site: Site
    workers: Workers
    dice: random.Random
    ends: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    lags: list[float] = field(default_factory=list)

    def play(self, action: str, **body: object) -> dict[str, Any]:
        """Do what a form of the platform's pages does; {} where the platform refuses."""
        reply = httpx.post(f"{self.double.address}/play/{action}/", json=body, timeout=30)
        return dict(reply.json()) if reply.headers.get("Content-Type", "").startswith("application/json") else {}

    def switch(self, switch: Switch, left: str) -> None:
        self.play("switch", name=switch.key, left=left)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--people", type=int, default=300, help="who come at first; others fill what they leave")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        os.environ.update(_environment(stack, Path(folder)))
        port = int(os.environ["PROLIFIC_ADDRESS"].rpartition(":")[2])
        double = stack.enter_context(closing(Double(Path(folder) / "prolific", token=TOKEN, port=port)))
        threading.Thread(target=double.run, daemon=True).start()
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, check=True)
        django.setup()
        sys.exit(_run(double, options.people, random.Random(options.seed), Path(folder)))


def _environment(stack: ExitStack, folder: Path) -> dict[str, str]:
    cluster = stack.enter_context(postgresql_cluster(durable=True))
    platform = f"http://127.0.0.1:{spare_port()}"
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": cluster.url("campaign"),
        "DATA_DIR": str(folder),
        "SECRET_KEY": "campaign" * 8,
        "CELERY_BROKER_URL": stack.enter_context(redis_process()),
        "PROLIFIC_ADDRESS": platform,
        "PROLIFIC_SITE": platform,
        "SITE_URL": f"http://127.0.0.1:{spare_port()}",
        # Answers come in no time, and all from this machine.
        "CHECK_TIMES": "0",
        "ARRIVALS_PER_NETWORK": "0",
        "PLACES_PER_NETWORK": "0",
        "STATIC_WITHOUT_COLLECT": "1",
        "LOG_LEVEL": "WARNING",
    }


def _run(double: Double, people: int, dice: random.Random, folder: Path) -> int:
    from annotation.models import ProlificAccount

    print(machine())
    studies = _publish(places=people * 4 // 5 // STUDIES)
    port = int(os.environ["SITE_URL"].rpartition(":")[2])
    server = serve("config.wsgi", environment={}, workers=2, threads=4, configuration=PRODUCTION, port=port)
    with server as site, _started(Workers(folder)) as workers:
        campaign = Campaign(double, site, workers, dice)
        _wait_until(lambda: ProlificAccount.objects.exclude(webhooks_confirmed_at=None).exists(), "webhooks come")
        began = time.monotonic()
        with _weather(campaign, during_work=True), _watch(campaign):
            _send_people(campaign, studies, people)
        print(f"{sum(campaign.ends.values())} people in {time.monotonic() - began:.0f} s: {dict(campaign.ends)}")
        _wait_until(lambda: not _different(campaign), "every status is mirrored")
        _pay(campaign)
        return _audit(campaign)


def _publish(*, places: int) -> list[str]:
    """Publish four studies with so many places each, and return their ids on the platform."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from annotation.actions.recruiting import prolific_account, prolific_studies
    from annotation.actions.recruiting.prolific_draft import Draft
    from annotation.models import ProlificAccount
    from tests.factories import launch_study, make_project

    owner, now = User.objects.create_user("owner"), timezone.now()
    project = make_project("campaign")
    account = prolific_account.try_token(TOKEN)
    prolific_account.save_account(project=project, token=TOKEN, owner=account, by=owner, now=now)
    ProlificAccount.objects.update(workspace_id=WORKSPACE)
    remote_ids = []
    for number in range(STUDIES):
        study = launch_study(
            project,
            instances=2 * places,
            study=f"step-{number}",
            surveys={"size": 2},
            pay={"currency": "USD", "per_session": str(REWARD)},
            recruitment={"any_ids": False},
        )
        draft = Draft(study.title, "<p>Choose images.</p>", REWARD, "USD", places, minutes=5, at_most=17)
        row = prolific_studies.write_draft(study=study, draft=draft, by=owner, now=now)
        prolific_studies.publish(prolific_study=row, by=owner, now=now)
        row.refresh_from_db()
        remote_ids.append(row.remote_id)
    return remote_ids


@contextmanager
def _started(workers: Workers) -> Iterator[Workers]:
    beat = workers.start("beat", "--schedule", str(workers.folder / "beat"), "--pidfile", "")
    workers.start_worker()
    workers.start_worker()
    try:
        yield workers
    finally:
        for process in (beat, *workers.running):
            process.kill()
            process.wait()


# People


def _send_people(campaign: Campaign, studies: list[str], people: int) -> None:
    """Let people come; then let the time of those who left run out, and others take their places."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda _: _count(campaign, studies), range(people)))
    for _ in range(people):
        campaign.play("advance", minutes=20)
        _wait_until(lambda: not _different(campaign), "the time-outs are mirrored")
        wanted = _free_seats()
        print(f"{len(wanted)} places are free after {sum(campaign.ends.values())} people: {dict(campaign.ends)}")
        if not wanted:
            return
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda study: _count(campaign, [study], stays=True), wanted))


def _count(campaign: Campaign, studies: list[str], *, stays: bool = False) -> None:
    try:
        campaign.ends[_visit(campaign, studies, stays=stays)] += 1
    except Exception as error:  # noqa: BLE001 (counted, and looked at)
        campaign.ends[f"failed: {error!r}"] += 1


def _visit(campaign: Campaign, studies: list[str], *, stays: bool) -> str:
    dice = campaign.dice
    taken = next(filter(None, (campaign.play("take", study=one) for one in dice.sample(studies, len(studies)))), None)
    if taken is None:
        return "no place"
    submission, fate = taken["submission"], 1.0 if stays else dice.random()
    if fate < RETURNS / 2:
        campaign.play("return", submission=submission)
        return "returned before"
    link = campaign.play("open", submission=submission)["url"]
    with httpx.Client(timeout=30, follow_redirects=True) as browser:
        page = _arrive(campaign, browser, link)
        if not page:
            campaign.play("return", submission=submission)
            return "turned away"
        if fate < RETURNS + TIMES_OUT:
            _answer(campaign, browser, page, most=1)
            if fate < RETURNS:
                campaign.play("return", submission=submission)
                return "returned in the middle"
            return "left for good"
        _answer(campaign, browser, page)
        code = CODE.search(_patiently(campaign, browser, "GET", page).text)
    if code is None:
        return "no code shown"
    if not stays and fate > 1 - LOSES_REDIRECT:
        return "lost the redirect"
    forgets = not stays and fate > 1 - LOSES_REDIRECT - NO_CODE
    for _ in range(2 if dice.random() < 0.2 else 1):
        campaign.play("complete", submission=submission, code="" if forgets else code[1])
    return "completed without the code" if forgets else "completed"


def _arrive(campaign: Campaign, browser: httpx.Client, link: str) -> str:
    """Press Start, again while all places are taken; return the address of the session, "" if there is none."""
    for _ in range(30):
        page = _patiently(campaign, browser, "POST", link)
        if "/s/" in page.url.path:
            address = f"{os.environ['SITE_URL']}{page.url.path}"
            _patiently(campaign, browser, "POST", f"{address}begin/")
            return address
        time.sleep(3)
    return ""


def _answer(campaign: Campaign, browser: httpx.Client, page: str, *, most: int = 100) -> None:
    for number in range(most):
        shown = QUESTION.search(_patiently(campaign, browser, "GET", page).text)
        if shown is None:
            return
        slot = SLOT.search(shown[0])
        assert slot is not None
        values = [first or second for first, second in CHOICE.findall(shown[0])]
        fields = {"slot": slot[1], "submission": str(uuid.uuid4()), "choice": values[number % len(values)]}
        _patiently(campaign, browser, "POST", f"{page}answer/", data=fields)


def _patiently(campaign: Campaign, browser: httpx.Client, method: str, address: str, **more: Any) -> httpx.Response:
    """Send a request again, the same, until the site answers it."""
    for _ in range(200):
        try:
            reply = browser.request(method, address, **more)
            if reply.status_code < 500:
                return reply
            campaign.faults[f"answered {reply.status_code}"] += 1
        except httpx.TransportError as error:
            campaign.faults[type(error).__name__] += 1
        time.sleep(0.3)
    raise AssertionError(f"{address} was never answered.")


# Faults


@contextmanager
def _weather(campaign: Campaign, *, during_work: bool) -> Iterator[None]:
    """Cause faults until the block ends, then none any more."""
    over = threading.Event()
    thread = threading.Thread(target=_cause_faults, args=(campaign, over, during_work))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for switch in Switch:
            campaign.switch(switch, "off")


def _cause_faults(campaign: Campaign, over: threading.Event, during_work: bool) -> None:
    some_times = [Switch.RATE_LIMITED, Switch.WEBHOOKS_LOST, Switch.WEBHOOKS_DOUBLED, Switch.WEBHOOKS_FORGED]
    some_times += [Switch.WEBHOOKS_OF_STRANGERS] if during_work else [Switch.REPLY_LOST] * 4
    turned = [Switch.WEBHOOKS_UNORDERED, Switch.SMALL_PAGES]
    dice = random.Random(2)
    while not over.wait(2):
        what = dice.choice(["some times", "some times", "turned", "away", "web", "worker", "worker"])
        if what == "some times":
            campaign.switch(switch := dice.choice(some_times), str(dice.randint(1, 5)))
            what = switch.key
        elif what == "turned":
            campaign.switch(switch := dice.choice(turned), dice.choice(["on", "off"]))
            what = switch.key
        elif what == "away":
            campaign.switch(Switch.AWAY, "on")
            over.wait(8)
            campaign.switch(Switch.AWAY, "off")
        elif what == "web" and (pids := campaign.site.worker_pids()):
            os.kill(pids[0], signal.SIGKILL)
        elif what == "worker":
            campaign.workers.kill_one(dice)
            over.wait(6)
        campaign.faults[what] += 1


# Statuses


@contextmanager
def _watch(campaign: Campaign) -> Iterator[None]:
    """Measure how long the mirror differs from the platform, per change."""
    over = threading.Event()
    thread = threading.Thread(target=_measure_lags, args=(campaign, over))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _measure_lags(campaign: Campaign, over: threading.Event) -> None:
    since: dict[tuple[str, str], float] = {}
    while not over.wait(1):
        different = _different(campaign)
        now = time.monotonic()
        for change in set(since) - different:
            campaign.lags.append(now - since.pop(change))
        for change in different - set(since):
            since[change] = now


def _different(campaign: Campaign) -> set[tuple[str, str]]:
    """Return submissions, by digest, and their status on the platform where the mirror has another or none."""
    from annotation.models import Submission

    there = {(_digest(one["id"]), one["status"]) for one in campaign.double.store.list("submission")}
    return there - set(Submission.objects.values_list("id_digest", "status"))


def _digest(id_: str) -> str:
    from background.sealed_secrets import keyed_digest

    return keyed_digest(id_, purpose="submission")


def _free_seats() -> list[str]:
    """Return the study on the platform of each place that nobody has filled."""
    from annotation.models import Seat

    return list(Seat.objects.filter(filled_at=None).values_list("study__prolific_studies__remote_id", flat=True))


def _wait_until(holds: Callable[[], bool], what: str) -> None:
    latest = time.monotonic() + LONGEST_WAIT
    while not holds():
        if time.monotonic() > latest:
            raise SystemExit(f"After {LONGEST_WAIT} s it does not hold that {what}.")
        time.sleep(0.5)


# Money


def _pay(campaign: Campaign) -> None:
    """Order rewards and bonuses, each twice as two clicks do, and send them through faults."""
    from annotation.models import Payment

    unsettled = (Payment.State.PLANNED, Payment.State.SENDING, Payment.State.REQUESTED)
    began = time.monotonic()
    with _weather(campaign, during_work=False):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: _order(), range(2)))
        _wait_until(lambda: time.monotonic() > began + 90 or not _payments(*unsettled), "")
    _wait_until(lambda: not _payments(*unsettled), "what was ordered is paid, refused or held")
    _wait_until(lambda: not _different(campaign), "every approval is mirrored")
    print(f"Paid and mirrored in {time.monotonic() - began:.0f} s.")


def _payments(*states: str) -> int:
    from annotation.models import Payment

    return Payment.objects.filter(state__in=states).count()


def _order() -> None:
    from django.db import connection
    from django.utils import timezone

    from annotation.actions.paying.order_payments import Order, order_payments, order_rewards
    from annotation.models import Payment, Session, SessionState
    from studies.models import Study

    for study in Study.objects.order_by("pk"):
        finished = Session.objects.filter(study=study, state=SessionState.FINISHED)
        sessions = list(finished.filter(submission__status="AWAITING REVIEW").values_list("pk", flat=True))
        order_rewards(study=study, sessions=sessions, chosen=True, by="owner", now=timezone.now())
        bonuses = [Order(session, Payment.Reason.DECIDED, BONUS) for session in sessions]
        order_payments(study=study, orders=bonuses, by="owner", now=timezone.now())
    connection.close()


def _audit(campaign: Campaign) -> int:
    """Compare the books, print what was compared, and return 1 if something does not hold."""
    from annotation.models import Payment, Seat, Submission

    books: dict[str, list[int]] = {"reward": [], "bonus": []}
    paid_there: Counter[tuple[str, str]] = Counter()
    cents_there: Counter[tuple[str, str]] = Counter()
    for payment in campaign.double.store.list("payment"):
        key = (_digest(payment["submission"]), "bonus" if payment["why"] == "bonus" else "reward")
        paid_there[key] += 1
        cents_there[key] += payment["cents"]
        books[key[1]].append(payment["cents"])
    rows = Payment.objects.select_related("session__submission").order_by("pk")
    paid_here: Counter[tuple[str, str]] = Counter()
    held = set()
    for row in rows:
        assert row.session is not None
        key = (row.session.submission.id_digest, "reward" if row.reason == Payment.Reason.REWARD else "bonus")
        if row.state == Payment.State.PAID:
            paid_here[key] += int(row.amount * 100)
        elif row.state == Payment.State.UNCERTAIN:
            held.add(key)
    statuses = Counter(one["status"] for one in campaign.double.store.list("submission"))
    lags = campaign.lags or [0.0]
    checks = {
        "paid twice on the platform": sum(times > 1 for times in paid_there.values()),
        "paid on the platform, neither paid nor held here": len(set(paid_there) - set(paid_here) - held),
        "paid here, not on the platform": len(set(paid_here) - set(paid_there)),
        "other amounts": sum(cents_there[key] != cents for key, cents in paid_here.items()),
        "held although the platform shows them": len(held & set(paid_there)),
        "ordered and refused": rows.filter(state=Payment.State.REFUSED).count(),
        "statuses that differ": len(_different(campaign)),
        "places that nobody filled": len(_free_seats()),
        "visits that failed": sum(times for end, times in campaign.ends.items() if end.startswith("failed")),
    }
    print(f"Submissions: {dict(statuses)}; mirrored: {Submission.objects.count()}; places: {Seat.objects.count()}")
    print(f"Faults, and what people met: {dict(campaign.faults)}")
    print(
        f"Seconds until a change was mirrored, {len(lags)} changes: median {percentile(lags, 0.5):.0f}, "
        f"95 % {percentile(lags, 0.95):.0f}, longest {max(lags):.0f}"
    )
    print(f"Payments here: {dict(Counter(rows.values_list('reason', 'state')))}")
    for what, cents in books.items():
        print(f"Paid on the platform as {what}: {len(cents)}, USD {sum(cents) / 100:.2f}")
    print(f"Held, and not shown by the platform: {len(held - set(paid_there))}")
    for what, number in checks.items():
        print(f"{'ok ' if not number else 'BAD'} {what}: {number}")
    return 1 if any(checks.values()) else 0


if __name__ == "__main__":
    main()
