"""The form of a study on Prolific: what it shows, and how it is read. Whatever is typed is shown again."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

from django.http import QueryDict

from analytics.work.pay import implied_hourly_pay
from annotation.actions.recruiting.prolific_choices import Choices
from annotation.actions.recruiting.prolific_draft import (
    LEAST_SCREEN_OUT_PAY,
    Draft,
    ScreenOut,
    screen_out_of,
    stored_body,
)
from annotation.actions.recruiting.prolific_people import ALLOWLIST, BLOCKLIST
from annotation.actions.recruiting.prolific_studies import part_pay_code
from annotation.minimum_pay import PROLIFIC_HOURLY
from annotation.models import ProlificStudy
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.descriptions import BadDescription, clean_description
from results.views.form_values import read_field
from studies.design.model import shortest_limit
from studies.models import Study

DEVICES: tuple[bodies.Device, ...] = get_args(bodies.Device)
LONGEST_NAME, LONGEST_DESCRIPTION = 200, 10_000
MOST_PLACES, MOST_MINUTES, LONGEST_MINUTES = 100_000, 720, 1440
GROUP_LISTS = {"allow": ALLOWLIST, "block": BLOCKLIST}
FIELDS = (
    *("name", "description", "reward", "places", "minutes", "at_most", "filter"),
    # Only some workspaces may.
    *("part", "screen_out_reward", "screen_out_places", "signed"),
)
_AMOUNT = re.compile(r"\d{1,6}(\.\d{1,2})?", re.ASCII)
_WHOLE = re.compile(r"\d{1,7}", re.ASCII)


@dataclass(frozen=True)
class FilterField:
    """A chosen filter. options: (value, label, is it ticked); a filter that Prolific no longer names has none."""

    id: str
    title: str
    question: str
    is_range: bool
    options: tuple[tuple[str, str, bool], ...] = ()
    values: tuple[str, ...] = ()
    lower: str = ""
    upper: str = ""
    least: str = ""
    most: str = ""
    problem: str = ""


@dataclass
class ProlificForm:
    """Values as they were typed, by field. Lists have their own: groups are group id -> "allow" or "block"."""

    values: dict[str, str]
    devices: tuple[str, ...]
    groups: dict[str, str]
    filters: dict[str, dict[str, Any]]
    choices: Choices | None
    currency: str
    problems: dict[str, str] = field(default_factory=dict)
    draft: Draft | None = None

    @property
    def shortest(self) -> int | None:
        """The shortest maximum time that Prolific allows, in minutes."""
        minutes = _whole(self.values["minutes"], MOST_MINUTES)
        return shortest_limit(minutes) if minutes else None

    @property
    def reward(self) -> Decimal | None:
        return _amount(self.values["reward"])

    @property
    def hourly(self) -> Decimal | None:
        minutes = _whole(self.values["minutes"], MOST_MINUTES)
        if self.reward is None or not minutes:
            return None
        return implied_hourly_pay(self.reward, Decimal(0), answers=0, minutes=minutes)

    @property
    def wage_limits(self) -> tuple[Decimal, Decimal] | None:
        """What Prolific requires and recommends for an hour, in the account's currency; None if unknown."""
        return PROLIFIC_HOURLY.get(self.currency)

    @property
    def is_under_minimum(self) -> bool:
        return bool(self.hourly is not None and self.wage_limits and self.hourly < self.wage_limits[0])

    @property
    def is_under_advice(self) -> bool:
        limits = self.wage_limits
        return bool(self.hourly is not None and limits and limits[0] <= self.hourly < limits[1])

    @property
    def places(self) -> int | None:
        return _whole(self.values["places"], MOST_PLACES)

    @property
    def device_choices(self) -> list[tuple[str, bool]]:
        return [(device, device in self.devices) for device in DEVICES]

    @property
    def group_choices(self) -> list[tuple[bodies.Group, str]]:
        offered = self.choices.groups if self.choices else ()
        return [(group, self.groups.get(group.id, "")) for group in offered]

    @property
    def hidden_groups(self) -> list[tuple[str, str]]:
        """Chosen groups that are not offered at the moment: the form keeps them."""
        offered = {group.id for group in self.choices.groups} if self.choices else set()
        return [(id_, way) for id_, way in self.groups.items() if id_ not in offered and way]

    @property
    def filter_fields(self) -> list[FilterField]:
        known = {one.filter_id: one for one in self.choices.filters} if self.choices else {}
        fields = (_filter_field(id_, chosen, known.get(id_)) for id_, chosen in self.filters.items())
        return [replace(one, problem=self.problems.get(f"filter-{one.id}", "")) for one in fields]

    @property
    def other_filters(self) -> list[bodies.Filter]:
        """Filters that could be added."""
        return [one for one in self.choices.filters if one.filter_id not in self.filters] if self.choices else []

    def add_filter(self, title: str) -> None:
        """Add the filter with this title or id; a problem if there is none, or several."""
        words = title.casefold().strip()
        offered = self.other_filters
        exact = [one for one in offered if words in (one.title.casefold(), one.filter_id.casefold())]
        found = exact or [one for one in offered if words and words in one.title.casefold()]
        if len(found) == 1:
            self.filters[found[0].filter_id] = {"values": (), "lower": "", "upper": ""}
            self.values["filter"] = ""
        elif found:
            names = ", ".join(one.title for one in found[:5])
            self.problems["filter"] = f"{len(found)} filters contain “{title}”: {names}. Write more of the name."
        else:
            self.problems["filter"] = f"No filter is called “{title}”. Choose one from the list."


def first_form(study: Study, row: ProlificStudy | None, choices: Choices | None, *, open_places: int) -> ProlificForm:
    """Return the form as it is shown first: what was chosen before, else what the study file says."""
    if row is None:
        return _new_form(study, choices, open_places=open_places)
    body = stored_body(row)
    screen_out = screen_out_of(body)
    values = {
        "name": body.name,
        "description": body.description,
        "reward": f"{row.reward:.2f}",
        "places": str(row.places),
        "minutes": str(body.estimated_completion_time),
        "at_most": str(body.maximum_allowed_time or ""),
        "part": "on" if part_pay_code(row) else "",
        "screen_out_reward": f"{screen_out.reward:.2f}" if screen_out else "",
        "screen_out_places": str(screen_out.places) if screen_out else "",
        "signed": "on" if body.is_external_study_url_secure else "",
        "filter": "",
    }
    groups, filters = _split(body.filters)
    currency = choices.currency if choices else row.currency
    return ProlificForm(values, body.device_compatibility, groups, filters, choices, currency)


def _new_form(study: Study, choices: Choices | None, *, open_places: int) -> ProlificForm:
    design = study.design
    minutes = design.time.estimated_minutes
    currency = choices.currency if choices else design.pay.currency
    same = currency == design.pay.currency
    values = {
        "name": study.title[:LONGEST_NAME],
        "description": f"{study.title}\n\nThis takes about {minutes} minutes. You can stop at any time.",
        # An amount in another currency would be another wage.
        "reward": f"{design.pay.per_session:.2f}" if same and design.pay.per_session else "",
        "places": str(open_places or ""),
        "minutes": str(minutes),
        "at_most": str(max(shortest_limit(minutes), design.time.limit_minutes)),
        "part": "",
        "screen_out_reward": "",
        "screen_out_places": "",
        "signed": "",
        "filter": "",
    }
    return ProlificForm(values, DEVICES, {}, {}, choices, currency)


def _split(chosen: tuple[bodies.ChosenFilter, ...]) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Return the chosen groups, and the other filters, as the form has them."""
    ways = {filter_id: way for way, filter_id in GROUP_LISTS.items()}
    groups: dict[str, str] = {}
    filters: dict[str, dict[str, Any]] = {}
    for one in chosen:
        if isinstance(one, bodies.RangeFilter):
            bounds = one.selected_range
            lower, upper = (_shown(bound) for bound in (bounds.lower, bounds.upper))
            filters[one.filter_id] = {"values": (), "lower": lower, "upper": upper}
        elif one.filter_id in ways:
            groups |= dict.fromkeys(one.selected_values, ways[one.filter_id])
        else:
            filters[one.filter_id] = {"values": one.selected_values, "lower": "", "upper": ""}
    return groups, filters


def sent_form(data: QueryDict, choices: Choices | None, *, currency: str) -> ProlificForm:
    """Read what was sent, with a problem for each field that is wrong; without any it has a draft."""
    values = {name: read_field(data, name) for name in FIELDS}
    groups = {key.removeprefix("group-"): read_field(data, key) for key in data if key.startswith("group-")}
    filters = {
        id_: {
            "values": tuple(data.getlist(f"values-{id_}")),
            "lower": read_field(data, f"lower-{id_}"),
            "upper": read_field(data, f"upper-{id_}"),
        }
        for id_ in dict.fromkeys(data.getlist("filters"))
        if id_ != data.get("remove")
    }
    devices = tuple(device for device in DEVICES if device in data.getlist("devices"))
    groups = {id_: way for id_, way in groups.items() if way in GROUP_LISTS}
    form = ProlificForm(values, devices, groups, filters, choices, choices.currency if choices else currency)
    form.draft = _read_draft(form)
    return form


def _read_draft(form: ProlificForm) -> Draft | None:
    values, problems = form.values, form.problems
    if not 0 < len(values["name"]) <= LONGEST_NAME:
        problems["name"] = f"Write a title of 1 to {LONGEST_NAME} characters."
    description = _read_description(form)
    reward, places = _amount(values["reward"]), form.places
    if not reward:
        problems["reward"] = "Write an amount over 0 in whole units with up to two decimals, such as 4.00."
    if not places:
        problems["places"] = f"Write a number of places from 1 to {MOST_PLACES:,}."
    minutes, at_most = _whole(values["minutes"], MOST_MINUTES), _whole(values["at_most"], LONGEST_MINUTES)
    if not minutes:
        problems["minutes"] = f"Write a number of minutes from 1 to {MOST_MINUTES}."
    elif not at_most or at_most < shortest_limit(minutes):
        shortest = shortest_limit(minutes)
        problems["at_most"] = (
            f"Write at least {shortest} and at most {LONGEST_MINUTES} minutes: Prolific requires {shortest} for a "
            f"study of {minutes} minutes."
        )
    if not form.devices:
        problems["devices"] = "Choose at least one device."
    screen_out = _read_screen_out(form)
    filters = tuple(_read_filters(form))
    if problems or not (reward and places and minutes and at_most):
        return None
    return Draft(
        name=values["name"],
        description=description,
        reward=reward,
        currency=form.currency,
        places=places,
        minutes=minutes,
        at_most=at_most,
        devices=tuple(device for device in DEVICES if device in form.devices),
        filters=filters,
        pays_in_part=bool(values["part"]),
        screen_out=screen_out,
        is_signed=bool(values["signed"]),
    )


def _read_description(form: ProlificForm) -> str:
    text = form.values["description"]
    if not 0 < len(text) <= LONGEST_DESCRIPTION:
        form.problems["description"] = f"Write a description of 1 to {LONGEST_DESCRIPTION:,} characters."
        return ""
    try:
        return clean_description(text)
    except BadDescription as error:
        form.problems["description"] = str(error)
        return ""


def _read_screen_out(form: ProlificForm) -> ScreenOut | None:
    """Return the pay for people who fail the practice; None without one, or with a problem."""
    typed, typed_places = form.values["screen_out_reward"], form.values["screen_out_places"]
    if not typed and not typed_places:
        return None
    least = LEAST_SCREEN_OUT_PAY.get(form.currency, Decimal("0.01"))
    reward, places = _amount(typed), _whole(typed_places, MOST_PLACES)
    if reward is None or reward < least or (form.reward and reward >= form.reward):
        form.problems["screen_out_reward"] = f"Write an amount from {least} to less than the reward, such as 0.50."
    if not places:
        form.problems["screen_out_places"] = f"Write a number of people from 1 to {MOST_PLACES:,}."
    return ScreenOut(reward, places) if reward and places and not form.problems else None


def _read_filters(form: ProlificForm) -> Iterator[bodies.ChosenFilter]:
    for one in form.filter_fields:
        if one.is_range:
            lower, upper = _bound(one.lower), _bound(one.upper)
            if lower is None and upper is None:
                form.problems[f"filter-{one.id}"] = f"Write a lower or an upper bound for “{one.title}”, or remove it."
            elif isinstance(lower, int | float) and isinstance(upper, int | float) and lower > upper:
                form.problems[f"filter-{one.id}"] = f"The lower bound of “{one.title}” is above the upper one."
            else:
                yield bodies.RangeFilter(filter_id=one.id, selected_range=bodies.Range(lower=lower, upper=upper))
        elif one.values:
            yield bodies.SelectFilter(filter_id=one.id, selected_values=one.values)
        else:
            form.problems[f"filter-{one.id}"] = f"Choose at least one value of “{one.title}”, or remove it."
    for way, filter_id in GROUP_LISTS.items():
        if chosen := tuple(id_ for id_, its in form.groups.items() if its == way):
            yield bodies.SelectFilter(filter_id=filter_id, selected_values=chosen)


def _filter_field(id_: str, chosen: Mapping[str, Any], known: bodies.Filter | None) -> FilterField:
    is_range = known.type == "range" if known else bool(chosen["lower"] or chosen["upper"])
    if known is None:
        return FilterField(id_, id_, "", is_range, (), chosen["values"], chosen["lower"], chosen["upper"])
    options = tuple((value, _label(label), value in chosen["values"]) for value, label in known.choices.items())
    return FilterField(
        id=id_,
        title=known.title,
        question=known.question,
        is_range=is_range,
        options=options,
        values=tuple(value for value in chosen["values"] if value in known.choices),
        lower=chosen["lower"],
        upper=chosen["upper"],
        least=_shown(known.min),
        most=_shown(known.max),
    )


def _label(label: Any) -> str:
    return str(label.get("label", label)) if isinstance(label, dict) else str(label)


def _shown(bound: Any) -> str:
    """Return a bound as people write it: 98 for 98.0, and nothing for none."""
    if bound is None:
        return ""
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _bound(text: str) -> int | float | str | None:
    """Return a bound as Prolific takes it: a number, or a date as text."""
    if not text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    if not number.is_finite():
        return text
    return int(number) if number == number.to_integral_value() else float(number)


def _amount(text: str) -> Decimal | None:
    return Decimal(text) if _AMOUNT.fullmatch(text) else None


def _whole(text: str, most: int) -> int | None:
    number = int(text) if _WHOLE.fullmatch(text) else 0
    return number if 0 < number <= most else None
