"""The annotators of the filled database: they open pages of version 878c08f, read its forms and send them.

What a value on a page means is asked of that version's own code, which this module is loaded together with.
"""

import importlib
import json
from collections.abc import Callable
from typing import Any

from bs4 import Tag

from tests.upgrades.filling import Clock, Page, Visitor, fields_of, model

# In place of an option: any that is not right.
WRONG = "wrong"
FIRST, AHEAD = "[data-stage] form.question", "[data-ahead] form.question"


def _code(module: str) -> Any:
    return importlib.import_module(module)


def shown(page: Page, *, selector: str = FIRST) -> dict[str, Any]:
    """Return what a browser holds of a question: where it would post which fields, and which option each value means.

    `widths` are those of the pictures beside the values, and tell the same in the order of the page.
    """
    form = page.form(selector)
    session = model("annotation", "Session").objects.select_related("study").get(token=page.path.split("/")[2])
    fields = fields_of(form)
    asked, order = _asked(session, str(form["action"]), int(fields["slot"]), fields.get("replaces", ""))
    options = _code("studies.kinds").posted_values(_code("studies.kinds").get_kind(asked.kind), asked.content, order)
    widths = {
        str(option["data-option"]): int(str(picture["width"]))
        for option in form.select("[data-option]")
        if (picture := option.select_one("img")) is not None
    }
    _check(asked.content, options, form, widths)
    held = {"page": page.path, "action": str(form["action"]), "question": asked.pk, "order": order}
    return held | {"fields": fields, "options": options, "widths": widths}


def _asked(session: Any, action: str, slot: int, replaces: str) -> tuple[Any, list[str]]:
    if action.endswith("/practice/"):
        question = model("studies", "PracticeQuestion").objects.get(pk=slot)
        return question, _code("annotation.actions.practice").order_for(session=session, question=question)
    question = model("annotation", "Slot").objects.select_related("question").get(pk=slot).question
    if replaces:
        changed = model("annotation", "Response").objects.get(session=session, question=question, version=replaces)
        return question, changed.shown_order
    return question, _code("annotation.actions.responses").order_for(session=session, question=question)


def _check(content: Any, options: dict[str, str], form: Tag, widths: dict[str, int]) -> None:
    """Make sure that the page says what the code says of it."""
    by_key = {option["key"]: option for option in content["options"]}
    for value, key in options.items():
        option = by_key.get(key, {})
        if "width" in option and widths[value] != option["width"]:
            raise AssertionError(f"{form['action']} shows another picture as {value} than {key}.")
        if "text" in option and option["text"] not in form.select_one(f'[data-option="{value}"]').get_text():  # type: ignore[union-attr]
            raise AssertionError(f"{form['action']} shows another text as {value} than {key}.")


def right_answer(question: Any) -> str:
    """Return an answer that the material speaks for, or else the first option."""
    keys = [option["key"] for option in question.content["options"]]
    known = question.right or question.instance.reference.get("right")
    return known if known in [*keys, "none"] else "original" if "original" in keys else keys[0]


class Sitting:
    """One person who came by the link `entry`, in a browser of their own. `token` is "" when they were sent away."""

    def __init__(self, clock: Clock, entry: str) -> None:
        self.clock = clock
        self.entry = entry
        self.visitor = Visitor()
        self._arrived(self.visitor.open(entry))

    def _arrived(self, page: Page) -> None:
        self.token = page.path.split("/")[2] if page.path.startswith("/s/") else ""

    def start_by_invite(self) -> None:
        """Press Start on the page of an invitation."""
        page = self.visitor.open(self.entry)
        self._arrived(self.visitor.post(self.entry, fields_of(page.form())))

    @property
    def session(self) -> Any:
        return model("annotation", "Session").objects.select_related("study").get(token=self.token)

    def page(self, name: str = "") -> Page:
        return self.visitor.open(f"/s/{self.token}/{name}")

    def question(self) -> Any:
        """Return the question that the page asks now."""
        slot = fields_of(self.page().form(FIRST))["slot"]
        return model("annotation", "Slot").objects.select_related("question__instance").get(pk=slot).question

    def consent(self, agree: str = "yes") -> None:
        self.visitor.post(f"/s/{self.token}/consent/", {"agree": agree})

    def begin(self) -> None:
        self.visitor.submit(self.page(), {}, selector='form[action$="/begin/"]')

    def practise(self, *, right: bool) -> None:
        page = self.page()
        held = shown(page)
        expected = model("studies", "PracticeQuestion").objects.get(pk=held["question"]).right
        value = next(value for value, key in held["options"].items() if (key == expected) is right)
        self._send(held, value)

    def arrive_at_work(self) -> None:
        """Go on until the first question, practising right."""
        while (state := self.session.state) != "working":
            {"consent": self.consent, "instructions": self.begin}.get(state, lambda: self.practise(right=True))()

    def answer(self, prefer: str | None = None) -> None:
        """Answer the next question; the instructions of a part are read on the way."""
        page = self.page()
        if page.html.select_one('form[action$="/begin/"]') is not None:
            self.begin()
            page = self.page()
        self.send(shown(page), prefer)

    def send(self, held: dict[str, Any], prefer: str | None = None) -> None:
        """Send an answer that the browser holds: `prefer`, where the question offers it."""
        question = model("studies", "Question").objects.select_related("instance").get(pk=held["question"])
        right = right_answer(question)
        wanted = prefer if prefer in held["options"].values() else right
        values = held["options"].items()
        self._send(held, next(value for value, key in values if (key != right if prefer == WRONG else key == wanted)))

    def _send(self, held: dict[str, Any], value: str) -> None:
        self.clock.wait(seconds=7)
        loaded = [{"value": value, "loaded_ms": 120, "natural": [40, 24], "shown": [400, 240], "failed_loads": 0}]
        measured = {
            **{"first_choice_ms": "4200", "send_ms": "6900", "hidden_ms": "0", "changes_of_mind": "1"},
            **{"window_width": "1366", "window_height": "768", "images": json.dumps(loaded)},
        }
        page = self.visitor.post(held["action"], held["fields"] | measured | {"choice": value})
        if page.status != 200:
            raise AssertionError(f"{held['action']} answered {page.status}: {page.html.get_text()}")

    def finish(self, choose: Callable[[int], str | None] = lambda number: None) -> None:
        """Answer all that is left; `choose` says what, for the number of the question."""
        number = 0
        while self.session.state == "working":
            self.answer(prefer=choose(number))
            number += 1
        self.page()

    def change(self, to: str) -> None:
        held = shown(self.page("change/"))
        wanted = to if to in held["options"].values() else next(iter(held["options"].values()))
        self._send(held, next(value for value, key in held["options"].items() if key == wanted))

    def skip(self) -> None:
        """Go on without a question, as the page offers when a picture has failed five times."""
        form = self.page().form(FIRST)
        images = json.dumps([{"value": "1", "failed_loads": 5}])
        self.visitor.post(f"/s/{self.token}/skip/", {"slot": fields_of(form)["slot"], "images": images})

    def give_up(self) -> None:
        self.visitor.submit(self.page("give-up/"), {})

    def comment(self, text: str) -> None:
        self.visitor.post(f"/s/{self.token}/comment/", {"comment": text})

    def holds(self) -> dict[str, Any]:
        """Return what the page holds: the question it asks and, where there is one, the question ahead."""
        page = self.page()
        ahead = shown(page, selector=AHEAD) if page.html.select_one(AHEAD) else None
        return shown(page) | {"ahead": ahead}
