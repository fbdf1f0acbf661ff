"""The researchers' API of the local platform: addresses, bodies and errors as Prolific publishes them.

Its bodies are written by hand and not made by our client's models, so that a mistake in these is noticed.
"""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from simulation.prolific_double.platform import Platform
from simulation.prolific_double.routes import ROUTES, Call, Result, error, page_of, route
from simulation.prolific_double.rules import Refusal, amount_of, fee_of, new_id
from simulation.prolific_double.store import Document
from simulation.prolific_double.switches import Switch

WORKSPACE_TITLE = "Workspace of the local platform"
SECOND_WORKSPACE = "5f00000000000000000000bc"
EVENT_TYPES = ("submission.status.change", "study.status.change")
FILTERS = (
    {
        "filter_id": "approval_rate",
        "title": "Approval rate",
        "description": "Percentage of approved submissions.",
        "type": "range",
        "question": "",
        "min": 0.5,
        "max": 100.5,
        "data_type": "float",
    },
    {
        "filter_id": "current-country-of-residence",
        "title": "Current country of residence",
        "description": "Where people live.",
        "type": "select",
        "question": "In what country do you currently reside?",
        "choices": {"0": "United Kingdom", "1": "United States", "2": "Ireland"},
        "data_type": "ChoiceID",
    },
    {
        "filter_id": "participant_group_blocklist",
        "title": "Exclude participant groups",
        "description": "Members of these groups cannot take part.",
        "type": "select",
        "question": "",
        "choices": {},
        "data_type": "ParticipantGroupID",
    },
    {
        "filter_id": "participant_group_allowlist",
        "title": "Participant groups",
        "description": "Only members of these groups can take part.",
        "type": "select",
        "question": "",
        "choices": {},
        "data_type": "ParticipantGroupID",
    },
)
# People on the platform; each chosen filter lets half of them in.
PEOPLE = 10_000


def answer(platform: Platform, method: str, path: str, query: Mapping[str, str], body: Document, host: str) -> Result:
    """Answer a request whose token was checked."""
    for one in ROUTES:
        if one.method == method and (match := one.path.fullmatch(path)):
            try:
                return one.answer(Call(platform, match.groups(), query, body, f"http://{host}{path}"))
            except Refusal as refusal:
                return error(refusal.status, refusal.detail, is_plain=one.has_plain_errors)
    return error(404, "Not found.")


# The account


@route("GET", "/users/me/")
def read_user(call: Call) -> Result:
    user = {"id": "5f00000000000000000000aa", "email": "researcher@example.org", "name": "A researcher"}
    return Result({**user, "currency_code": call.platform.currency()})


@route("GET", "/workspaces/")
def list_workspaces(call: Call) -> Result:
    workspaces = [{"id": call.platform.workspace, "title": WORKSPACE_TITLE}]
    if call.platform.switches.is_on(Switch.SECOND_WORKSPACE):
        workspaces.append({"id": SECOND_WORKSPACE, "title": "Second workspace of the local platform"})
    return page_of(call, workspaces)


@route("GET", "/workspaces/{}/projects/")
def list_projects(call: Call) -> Result:
    return page_of(call, _of_workspace(call, "project", call.id))


@route("POST", "/workspaces/{}/projects/")
def create_project(call: Call) -> Result:
    _check_workspace(call, call.id)
    call.need("title")
    project = {"id": new_id(), "title": call.body["title"], "type": "PRIVATE", "workspace": call.id}
    call.platform.store.write("project", project)
    return Result(project, 201)


@route("GET", "/workspaces/{}/balance/")
def read_balance(call: Call) -> Result:
    _check_workspace(call, call.id)
    if call.id == SECOND_WORKSPACE:
        return Result({"currency_code": call.platform.currency(), "total_balance": 0, "available_balance": 0})
    return Result(
        {
            "currency_code": call.platform.currency(),
            "total_balance": call.platform.total_balance(),
            "available_balance": call.platform.available_balance(),
        }
    )


def _check_workspace(call: Call, workspace: Any) -> None:
    has_second = call.platform.switches.is_on(Switch.SECOND_WORKSPACE)
    if workspace != call.platform.workspace and not (has_second and workspace == SECOND_WORKSPACE):
        raise Refusal("No Workspace matches the given query.", status=404)


def _of_workspace(call: Call, kind: str, workspace: Any) -> list[Document]:
    _check_workspace(call, workspace)
    first = call.platform.workspace
    return [one for one in call.platform.store.list(kind) if one.get("workspace", first) == workspace]


# Studies


@route("POST", "/studies/", has_plain_errors=True)
def create_study(call: Call) -> Result:
    return Result(_study(call.platform, call.platform.create_study(call.body)), 201)


@route("GET", "/studies/", has_plain_errors=True)
def list_studies(call: Call) -> Result:
    return page_of(call, [_study(call.platform, study) for study in call.platform.store.list("study")])


@route("GET", "/studies/{}/cost/", has_plain_errors=True)
def read_cost(call: Call) -> Result:
    platform, study = call.platform, call.platform.study(call.id)
    paid: Counter[str] = Counter()
    for submission in platform.submissions(study["id"]):
        for payment in platform.store.list("payment", owner=submission["id"]):
            paid["bonuses" if payment["why"] == "bonus" else "rewards"] += payment["cents"]
    if call.query.get("is_projected") == "true":
        paid["rewards"] = study["reward"] * study["total_available_places"]
    currency = platform.currency()

    def parts(cents: int) -> Document:
        amounts = {"rewards": cents, "fees": fee_of(cents), "tax": 0}
        return {name: {"amount": amount, "currency": currency} for name, amount in amounts.items()}

    return Result({"rewards": parts(paid["rewards"]), "bonuses": parts(paid["bonuses"])})


@route("POST", "/study-cost-calculator/", has_plain_errors=True)
def calculate_cost(call: Call) -> Result:
    call.need("reward", "total_available_places")
    rewards = call.body["reward"] * call.body["total_available_places"]
    return Result({"total_cost": rewards + fee_of(rewards)})


@route("GET", "/studies/{}/")
def read_study(call: Call) -> Result:
    return Result(_study(call.platform, call.platform.study(call.id)))


@route("PATCH", "/studies/{}/")
def update_study(call: Call) -> Result:
    return Result(_study(call.platform, call.platform.update_study(call.id, call.body)))


@route("POST", "/studies/{}/transition/")
def change_study(call: Call) -> Result:
    return Result(_study(call.platform, call.platform.change_study(call.id, call.body.get("action", ""))))


def _study(platform: Platform, study: Document) -> Document:
    return {
        **study,
        "is_ready_to_publish": True,
        "places_taken": platform.places_taken(study),
        "currency_code": platform.currency(),
    }


# Submissions


@route("GET", "/submissions/", has_plain_errors=True)
def list_submissions(call: Call) -> Result:
    if "study" not in call.query:
        raise Refusal({"study": ["This field is required."]})
    all_ = call.platform.submissions(call.platform.study(call.query["study"])["id"])
    submissions = Counter(one["participant"] for one in all_)
    items = [
        {
            "id": one["id"],
            "participant_id": one["participant"],
            "status": _status(call.platform, one),
            "started_at": _time(call.platform, one["started_at"]),
            "completed_at": _time(call.platform, one["completed_at"]),
            "has_siblings": submissions[one["participant"]] > 1,
            "study_code": one["code"],
            "return_requested": _time(call.platform, one["return_requested"]),
        }
        for one in all_
    ]
    return page_of(call, items)


@route("GET", "/submissions/{}/")
def read_submission(call: Call) -> Result:
    submission = call.platform.submission(call.id)
    bonuses = [float(cents) for cents in call.platform.bonuses(call.id)]
    asked = _time(call.platform, submission["return_requested"])
    detail = {"parent_study_id": None, "bonus_payments": bonuses, "return_requested": asked}
    return Result({**_submission(call.platform, submission), **detail})


@route("POST", "/submissions/{}/transition/")
def change_submission(call: Call) -> Result:
    return Result(_submission(call.platform, call.platform.change_submission(call.id, call.body)))


def _submission(platform: Platform, submission: Document) -> Document:
    return {
        "id": submission["id"],
        "study_id": submission["study"],
        "participant": submission["participant"],
        "status": _status(platform, submission),
        "started_at": _time(platform, submission["started_at"]),
        "completed_at": _time(platform, submission["completed_at"]),
        "entered_code": submission["code"],
    }


def _time(platform: Platform, time: str | None) -> str | None:
    return platform.display(datetime.fromisoformat(time)).isoformat() if time else None


def _status(platform: Platform, submission: Document) -> str:
    return "PROCESSING" if platform.switches.is_on(Switch.UNKNOWN_STATUS) else submission["status"]


@route("POST", "/submissions/{}/request-return/")
def ask_to_return(call: Call) -> Result:
    call.need("request_return_reasons")
    submission = call.platform.ask_to_return(call.id)
    asked = _time(call.platform, submission["return_requested"])
    return Result({**{name: submission[name] for name in ("id", "status", "participant")}, "return_requested": asked})


@route("POST", "/submissions/bulk-approve/", has_plain_errors=True)
def approve_in_bulk(call: Call) -> Result:
    call.need("submission_ids")
    call.platform.approve_in_bulk(call.body["submission_ids"])
    return Result("The submissions will be approved.")


# Groups


@route("GET", "/participant-groups/")
def list_groups(call: Call) -> Result:
    groups = _of_workspace(call, "group", call.query.get("workspace_id"))
    return page_of(call, [_group(call, group) for group in groups])


@route("POST", "/participant-groups/")
def create_group(call: Call) -> Result:
    call.need("name", "workspace_id")
    _check_workspace(call, call.body["workspace_id"])
    people, workspace = call.body.get("participant_ids", []), call.body["workspace_id"]
    group = call.platform.create_group(call.body["name"], people, workspace=workspace)
    return Result(_group(call, group), 201)


def _group(call: Call, group: Document) -> Document:
    return {
        "id": group["id"],
        "name": group["name"],
        "project_id": None,
        "workspace_id": group.get("workspace", call.platform.workspace),
        "organisation_id": None,
        "description": None,
        "participant_count": len(group["members"]),
        "is_deleted": False,
        "feeder_studies": [],
    }


@route("GET", "/participant-groups/{}/participants/")
def list_members(call: Call) -> Result:
    return page_of(call, call.platform.group(call.id)["members"])


@route("POST", "/participant-groups/{}/participants/")
def add_members(call: Call) -> Result:
    call.need("participant_ids")
    return Result({"results": call.platform.add_to_group(call.id, call.body["participant_ids"])["members"]})


@route("DELETE", "/participant-groups/{}/participants/")
def remove_members(call: Call) -> Result:
    call.need("participant_ids")
    return Result({"results": call.platform.remove_from_group(call.id, call.body["participant_ids"])["members"]})


# Filters


@route("GET", "/filters/")
def list_filters(call: Call) -> Result:
    return page_of(call, list(FILTERS))


@route("POST", "/eligibility-count/")
def count_eligible(call: Call) -> Result:
    call.need("filters")
    return Result({"count": PEOPLE // 2 ** len(call.body["filters"])})


# Webhooks


@route("POST", "/hooks/secrets/")
def create_secret(call: Call) -> Result:
    workspace = str(call.body.get("workspace_id"))
    _check_workspace(call, workspace)
    call.platform.store.write("secret", {"id": workspace, "value": f"{new_id()}{new_id()}"})
    secret = call.platform.store.find("secret", workspace)
    return Result({"id": new_id(), "value": secret and secret["value"], "workspace_id": workspace}, 201)


@route("GET", "/hooks/subscriptions/")
def list_subscriptions(call: Call) -> Result:
    return page_of(call, [_subscription(one) for one in call.platform.store.list("subscription")])


@route("POST", "/hooks/subscriptions/")
def subscribe(call: Call) -> Result:
    call.need("workspace_id", "event_type", "target_url")
    _check_workspace(call, call.body["workspace_id"])
    url, event_type = call.body["target_url"], call.body["event_type"]
    # This machine has no certificate, so its own addresses may do without.
    if not re.match(r"https://|http://(127\.0\.0\.1|localhost)[:/]", url):
        raise Refusal({"target_url": ["The URL must begin with https://."]})
    if event_type not in EVENT_TYPES:
        raise Refusal({"event_type": [f"{event_type} is not a type of event."]})
    subscription = {
        "id": new_id(),
        "event_type": event_type,
        "target_url": url,
        "is_enabled": False,
        "workspace_id": call.body["workspace_id"],
        "secret": new_id(),
    }
    call.platform.store.write("subscription", subscription)
    shown = _subscription(subscription)
    body = shown if call.platform.switches.use(Switch.PLAIN_SUBSCRIPTIONS) else {"results": [shown]}
    return Result(body, 201, {"X-Hook-Secret": subscription["secret"]})


@route("POST", "/hooks/subscriptions/{}/")
def confirm_subscription(call: Call) -> Result:
    subscription = call.platform.store.find("subscription", call.id)
    if subscription is None:
        raise Refusal("No Subscription matches the given query.", status=404)
    if call.body.get("secret") != subscription["secret"]:
        raise Refusal({"secret": ["The secret is not the one of the header X-Hook-Secret."]})
    subscription["is_enabled"] = True
    call.platform.store.write("subscription", subscription)
    return Result(_subscription(subscription))


def _subscription(subscription: Document) -> Document:
    return {name: value for name, value in subscription.items() if name != "secret"}


# Messages


@route("GET", "/messages/", has_plain_errors=True)
def list_messages(call: Call) -> Result:
    return page_of(call, call.platform.store.list("message"))


@route("POST", "/messages/", has_plain_errors=True)
def send_message(call: Call) -> Result:
    call.need("recipient_id", "body", "study_id")
    return _send(call, [call.body["recipient_id"]])


@route("POST", "/messages/bulk/", has_plain_errors=True)
def send_messages(call: Call) -> Result:
    call.need("ids", "body", "study_id")
    return _send(call, call.body["ids"])


def _send(call: Call, recipients: list[str]) -> Result:
    call.platform.study(call.body["study_id"])
    for recipient in recipients:
        message = {
            "id": new_id(),
            "sender_id": "5f00000000000000000000aa",
            "body": call.body["body"],
            "sent_at": call.platform.display(call.platform.now()).isoformat(),
            "channel_id": recipient,
        }
        call.platform.store.write("message", message)
    return Result(None, 204)


# Bonuses


@route("POST", "/submissions/bonus-payments/")
def set_up_bonuses(call: Call) -> Result:
    call.need("study_id", "csv_bonuses")
    batch = call.platform.set_up_bonuses(call.body["study_id"], call.body["csv_bonuses"])
    amount = amount_of(batch)
    money = {"amount": amount, "fees": fee_of(amount), "vat": 0, "total_amount": amount + fee_of(amount)}
    return Result({"id": batch["id"], "study": batch["study"], **money}, 201)


@route("POST", "/bulk-bonus-payments/{}/pay/")
def pay_bonuses(call: Call) -> Result:
    call.platform.pay_bonuses(call.id)
    return Result("The bonuses will be paid.", 202)
