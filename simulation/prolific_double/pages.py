"""The pages of the local platform: its state, its switches and its clock, and the participants to play.

Forms and scripts use the same addresses. A form is led back to its page; JSON is answered by JSON.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Any

from jinja2 import Environment, PackageLoader

from simulation.prolific_double.platform import Platform
from simulation.prolific_double.routes import Result
from simulation.prolific_double.rules import STUDY_MOVES, Refusal, new_id
from simulation.prolific_double.store import Document
from simulation.prolific_double.switches import ALWAYS, BY_KEY, Switch

# Beside the cookies of a site on the same machine, which shares them whatever its port.
COOKIE = "prolific_double_submission"
DELIVERIES_SHOWN = 20
_TEMPLATES = Environment(loader=PackageLoader("simulation.prolific_double"), autoescape=True)


class Html(str):
    """A page."""


def answer(
    platform: Platform, method: str, path: str, query: Mapping[str, str], body: Document, headers: Any
) -> Result:
    """Answer a request for a page, or from one."""
    try:
        if method == "GET" and path == "/":
            return _render("platform.html", **_state(platform))
        if method == "GET" and path.startswith("/participants/"):
            return _render("participant.html", **_participant(platform, path.split("/")[2]))
        if method == "GET" and path == "/submissions/complete":
            return _complete_by_redirect(platform, query.get("cc", ""), headers)
        if method == "POST" and path in _ACTIONS:
            done = _ACTIONS[path](platform, body)
            if headers.get("Content-Type", "").startswith("application/json"):
                return Result(done)
            return _lead_on(done, headers)
    except Refusal as refusal:
        return _render("refusal.html", status=refusal.status, sentence=refusal.detail)
    return _render("refusal.html", status=404, sentence="There is no such page.")


def _render(template: str, *, status: int = 200, **values: Any) -> Result:
    return Result(Html(_TEMPLATES.get_template(template).render(values)), status)


def _lead_on(done: Document, headers: Any) -> Result:
    """Lead a form to the address that its action names, else back."""
    found = {"Location": done.get("url") or headers.get("Referer") or "/"}
    if done.get("submission"):
        found["Set-Cookie"] = f"{COOKIE}={done['submission']}; Path=/; SameSite=Lax; HttpOnly"
    return Result(None, 303, found)


def _state(platform: Platform) -> Document:
    studies = [
        {
            **study,
            "places_taken": platform.places_taken(study),
            "submissions": platform.submissions(study["id"]),
            "moves": [action for action, (from_, _) in STUDY_MOVES.items() if study["status"] in from_],
        }
        for study in platform.store.list("study")
    ]
    return {
        "studies": studies,
        "now": platform.now(),
        "currency": platform.currency(),
        "total": platform.total_balance() / 100,
        "available": platform.available_balance() / 100,
        "switches": [(switch, platform.switches.left(switch)) for switch in Switch],
        "deliveries": platform.store.list("delivery")[-DELIVERIES_SHOWN:][::-1],
        "messages": platform.store.list("message")[-DELIVERIES_SHOWN:][::-1],
    }


def _participant(platform: Platform, participant: str) -> Document:
    studies = platform.store.list("study")
    submissions = [
        {**one, "study_name": study["name"], "paid": sum(payment["cents"] for payment in payments) / 100}
        for study in studies
        for one in platform.submissions(study["id"])
        if one["participant"] == participant
        for payments in [platform.store.list("payment", owner=one["id"])]
    ]
    return {
        "participant": participant,
        "currency": platform.currency(),
        "studies": [study for study in studies if study["status"] == "ACTIVE"],
        "submissions": submissions,
    }


def _complete_by_redirect(platform: Platform, code: str, headers: Any) -> Result:
    """Complete the submission that this browser opened last, as the address that studies lead to does."""
    if platform.switches.use(Switch.REDIRECTS_LOST):
        return _render("refusal.html", status=502, sentence="The page is not available.")
    cookies = SimpleCookie(headers.get("Cookie", ""))
    if COOKIE not in cookies:
        raise Refusal("This browser has not opened a study.")
    submission = platform.complete(cookies[COOKIE].value, code)
    return Result(None, 303, {"Location": f"/participants/{submission['participant']}/"})


# Actions: what each does, and what it returns


def _take(platform: Platform, body: Document) -> Document:
    """Take a place: `study`, and `participant` or else somebody new."""
    submission = platform.take_place(body["study"], body.get("participant") or new_id())
    return {"submission": submission["id"], "participant": submission["participant"]}


def _open(platform: Platform, body: Document) -> Document:
    """Open the study of a `submission`; returns the address that the browser is led to."""
    return {"submission": body["submission"], "url": platform.open_study(body["submission"])}


def _return(platform: Platform, body: Document) -> Document:
    platform.return_submission(body["submission"])
    return {}


def _complete(platform: Platform, body: Document) -> Document:
    """Complete a `submission` with a `code`, or with none."""
    return {"status": platform.complete(body["submission"], body.get("code", ""))["status"]}


def _meet(platform: Platform, body: Document) -> Document:
    """Somebody new comes to the platform."""
    return {"url": f"/participants/{new_id()}/"}


def _change_study(platform: Platform, body: Document) -> Document:
    """Do with a `study` what its researcher does on the platform's own pages: PUBLISH, PAUSE, START or STOP."""
    return {"status": platform.change_study(body["study"], body["action"])["status"]}


def _switch(platform: Platform, body: Document) -> Document:
    """Turn the switch `name` on for good, off, or on for the next times: `left` is "on", "off" or a number."""
    set_switch(platform, body["name"], str(body["left"]))
    return {}


def set_switch(platform: Platform, name: str, left: str) -> None:
    """Set a switch by its name. Raises Refusal."""
    times = {"on": ALWAYS, "off": 0}.get(left)
    if name not in BY_KEY or (times is None and not left.isdecimal()):
        raise Refusal(f"{name} {left}: name a switch, and write on, off or a number of times.")
    if BY_KEY[name].is_state and times is None:
        raise Refusal(f"{name} is on or off, and not on for a number of times: write on or off.")
    platform.switches.set(BY_KEY[name], int(left) if times is None else times)


def _advance(platform: Platform, body: Document) -> Document:
    """Put the clock forward by `minutes`."""
    platform.advance(timedelta(minutes=float(body["minutes"])))
    platform.tick()
    return {"now": platform.now().isoformat()}


_ACTIONS: Mapping[str, Callable[[Platform, Document], Document]] = {
    "/play/take/": _take,
    "/play/open/": _open,
    "/play/return/": _return,
    "/play/complete/": _complete,
    "/play/meet/": _meet,
    "/play/study/": _change_study,
    "/play/switch/": _switch,
    "/play/advance/": _advance,
}
