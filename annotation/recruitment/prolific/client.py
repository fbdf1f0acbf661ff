"""Client of Prolific's API: one method for each thing that recruitment asks of it (prolific.md, section 4)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import ValidationError

from annotation.recruitment.prolific import bodies, operations
from annotation.recruitment.prolific.connection import Connection, ProlificError, Reply
from annotation.recruitment.prolific.operations import Operation
from annotation.recruitment.prolific.statuses import RejectionCategory, StudyAction, SubmissionAction

Answer = TypeVar("Answer")
PAGE_SIZE = 100
HOOK_SECRET = "X-Hook-Secret"  # noqa: S105
_ID = re.compile(r"[\w-]+", re.ASCII)
_CENTS = Decimal("0.01")


class Client:
    """Prolific with one researcher's token. Every method raises ProlificError."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Give all requests of a block so many seconds together."""
        return self._connection.within(seconds)

    @property
    def clock_ahead(self) -> float | None:
        """Seconds that Prolific's clock was ahead of this one at the last response; None if no response said."""
        return self._connection.clock_ahead

    # The account

    def read_user(self) -> bodies.User:
        return self._ask(operations.READ_USER)

    def list_workspaces(self) -> list[bodies.Workspace]:
        return list(self._list(operations.LIST_WORKSPACES))

    def read_balance(self, workspace: str) -> bodies.Balance:
        return self._ask(operations.READ_BALANCE, workspace)

    def list_projects(self, workspace: str) -> list[bodies.Project]:
        return list(self._list(operations.LIST_PROJECTS, workspace))

    def create_project(self, workspace: str, *, title: str) -> bodies.Project:
        return self._ask(operations.CREATE_PROJECT, workspace, sends=bodies.NewProject(title=title))

    # Studies

    def create_study(self, study: bodies.NewStudy) -> bodies.Study:
        """Create a draft."""
        return self._ask(operations.CREATE_STUDY, sends=study)

    def read_study(self, study: str) -> bodies.Study:
        return self._ask(operations.READ_STUDY, study)

    def update_study(self, study: str, changes: bodies.StudyChanges) -> bodies.Study:
        return self._ask(operations.UPDATE_STUDY, study, sends=changes)

    def set_places(self, study: str, places: int) -> bodies.Study:
        """Set how many places a study has; a published study can only get more. Twice equals once."""
        return self.update_study(study, bodies.StudyChanges(total_available_places=places))

    def publish_study(self, study: str) -> bodies.Study:
        return self._change_study(study, StudyAction.PUBLISH)

    def pause_study(self, study: str) -> bodies.Study:
        return self._change_study(study, StudyAction.PAUSE)

    def resume_study(self, study: str) -> bodies.Study:
        return self._change_study(study, StudyAction.START)

    def stop_study(self, study: str) -> bodies.Study:
        return self._change_study(study, StudyAction.STOP)

    def _change_study(self, study: str, action: StudyAction) -> bodies.Study:
        return self._ask(operations.CHANGE_STUDY_STATUS, study, sends=bodies.StudyTransition(action=action))

    def list_studies(self) -> list[bodies.ListedStudy]:
        """Return all studies that the token may see, also drafts."""
        return list(self._list(operations.LIST_STUDIES))

    def read_cost(self, study: str, *, is_projected: bool = False) -> bodies.StudyCost:
        """Return what a study has cost so far, or with `is_projected` what it will cost when all places are paid."""
        query = {"is_projected": "true"} if is_projected else None
        return _read(operations.READ_STUDY_COST, self._send(operations.READ_STUDY_COST, study, query=query))

    def calculate_cost(self, *, reward: int, places: int) -> int:
        """Return what a study would cost with fee and taxes, in cents."""
        question = bodies.CostQuestion(reward=reward, total_available_places=places)
        return self._ask(operations.CALCULATE_COST, sends=question).total_cost

    # Submissions

    def list_submissions(self, study: str) -> Iterator[bodies.ListedSubmission]:
        """Yield all submissions of a study, oldest first."""
        query = {"study": study, "page_size": PAGE_SIZE, "ordering": "started_at"}
        return self._list(operations.LIST_SUBMISSIONS, query=query)

    def read_submission(self, submission: str) -> bodies.Submission:
        return self._ask(operations.READ_SUBMISSION, submission)

    def approve_submission(self, submission: str) -> bodies.ChangedSubmission:
        return self._change_submission(submission, SubmissionAction.APPROVE)

    def reject_submission(
        self, submission: str, *, category: RejectionCategory, message: str
    ) -> bodies.ChangedSubmission:
        """Reject; the participant reads `message`, of at least 100 characters."""
        return self._change_submission(
            submission, SubmissionAction.REJECT, rejection_category=category, message=message
        )

    def undo_rejection(self, submission: str) -> bodies.ChangedSubmission:
        return self._change_submission(submission, SubmissionAction.UNREJECT)

    def complete_submission(self, submission: str, *, code: str) -> bodies.ChangedSubmission:
        """Complete with a code of the researcher's, where the participant's redirect was lost."""
        return self._change_submission(submission, SubmissionAction.COMPLETE, completion_code=code)

    def pay_in_part(self, submission: str, *, code: str, percent: int, message: str) -> bodies.ChangedSubmission:
        """Pay 8 to 99 % of the reward, with a code of the researcher's that allows it."""
        part = bodies.PartOfReward(percentage_of_reward=percent, message_to_participant=message)
        return self._change_submission(
            submission, SubmissionAction.COMPLETE, completion_code=code, completion_code_data=part
        )

    def _change_submission(self, submission: str, action: SubmissionAction, **fields: Any) -> bodies.ChangedSubmission:
        transition = bodies.SubmissionTransition(action=action, **fields)
        return self._ask(operations.CHANGE_SUBMISSION_STATUS, submission, sends=transition)

    def ask_to_return(self, submission: str, *, reason: str) -> None:
        self._ask(operations.ASK_TO_RETURN, submission, sends=bodies.ReturnReasons(request_return_reasons=(reason,)))

    def approve_submissions(self, submissions: Sequence[str]) -> None:
        """Have many submissions approved. Prolific does it later: read their statuses to see it."""
        self._ask(operations.APPROVE_SUBMISSIONS, sends=bodies.SubmissionIds(submission_ids=tuple(submissions)))

    # Participant groups

    def list_groups(self, workspace: str) -> list[bodies.Group]:
        return list(self._list(operations.LIST_GROUPS, query={"workspace_id": workspace}))

    def create_group(self, workspace: str, *, name: str, participants: Sequence[str]) -> bodies.Group:
        group = bodies.NewGroup(workspace_id=workspace, name=name, participant_ids=tuple(participants))
        return self._ask(operations.CREATE_GROUP, sends=group)

    def list_group_members(self, group: str) -> list[str]:
        return [member.participant_id for member in self._list(operations.LIST_GROUP_MEMBERS, group)]

    def add_to_group(self, group: str, participants: Sequence[str]) -> None:
        people = bodies.ParticipantIds(participant_ids=tuple(participants))
        self._ask(operations.ADD_TO_GROUP, group, sends=people)

    def remove_from_group(self, group: str, participants: Sequence[str]) -> None:
        people = bodies.ParticipantIds(participant_ids=tuple(participants))
        self._ask(operations.REMOVE_FROM_GROUP, group, sends=people)

    # Filters

    def list_filters(self, workspace: str) -> list[bodies.Filter]:
        return list(self._list(operations.LIST_FILTERS, query={"workspace_id": workspace}))

    def count_eligible(self, workspace: str, filters: Sequence[bodies.ChosenFilter]) -> int:
        """Return how many participants fit the filters."""
        question = bodies.EligibilityQuestion(filters=tuple(filters), workspace_id=workspace)
        return self._ask(operations.COUNT_ELIGIBLE, sends=question).count

    # Webhooks

    def create_secret(self, workspace: str) -> bodies.Secret:
        """Create the key that signs a workspace's webhooks. The previous key stops working."""
        return self._ask(operations.CREATE_SECRET, sends=bodies.WorkspaceId(workspace_id=workspace))

    def list_subscriptions(self, workspace: str) -> list[bodies.Subscription]:
        return list(self._list(operations.LIST_SUBSCRIPTIONS, query={"workspace_id": workspace}))

    def subscribe(self, workspace: str, *, event_type: str, target_url: str) -> tuple[bodies.Subscription, str]:
        """Subscribe to a type of event. Returns the subscription and the secret that confirms it."""
        sends = bodies.NewSubscription(workspace_id=workspace, event_type=event_type, target_url=target_url)
        reply = self._send(operations.SUBSCRIBE, sends=sends)
        made = _read(operations.SUBSCRIBE, reply)
        subscription = made.results[0] if isinstance(made, bodies.Page) else made
        return subscription, reply.headers.get(HOOK_SECRET, "")

    def confirm_subscription(self, subscription: str, *, secret: str) -> bodies.Subscription:
        """Confirm a subscription: without it nothing is delivered."""
        return self._ask(operations.CONFIRM_SUBSCRIPTION, subscription, sends=bodies.Confirmation(secret=secret))

    # Messages

    def list_messages(self, *, since: datetime) -> list[bodies.Message]:
        """Return messages of at most the last 30 days."""
        return list(self._list(operations.LIST_MESSAGES, query={"created_after": since.isoformat()}))

    def send_message(self, participant: str, *, study: str, text: str) -> None:
        self._ask(operations.SEND_MESSAGE, sends=bodies.NewMessage(recipient_id=participant, body=text, study_id=study))

    def send_messages(self, participants: Sequence[str], *, study: str, text: str) -> None:
        self._ask(
            operations.SEND_MESSAGES, sends=bodies.NewMessages(ids=tuple(participants), body=text, study_id=study)
        )

    # Bonuses

    def set_up_bonuses(self, study: str, amounts: Mapping[str, Decimal]) -> bodies.Bonuses:
        """Set up bonuses by submission, in whole units of the currency. Nothing is paid yet."""
        for submission, amount in amounts.items():
            if amount <= 0 or amount != amount.quantize(_CENTS):
                raise ProlificError(
                    f"A bonus is at least 0.01 and has two decimals. That of {submission} is {amount}.",
                    status=None,
                    body=None,
                )
        lines = (f"{submission},{amount.quantize(_CENTS)}" for submission, amount in amounts.items())
        return self._ask(
            operations.SET_UP_BONUSES, sends=bodies.NewBonuses(study_id=study, csv_bonuses="\n".join(lines))
        )

    def pay_bonuses(self, bonuses: str) -> None:
        """Pay bonuses that were set up. Prolific pays AGAIN at every call: never repeat an uncertain one."""
        self._ask(operations.PAY_BONUSES, bonuses)

    # Signed links

    def read_keys(self) -> list[dict[str, Any]]:
        """Return the public keys with which Prolific signs links, as JSON Web Keys."""
        return list(self._ask(operations.READ_KEYS).keys)

    def _ask(self, operation: Operation[Answer], *ids: str, sends: bodies.RequestBody | None = None) -> Answer:
        return _read(operation, self._send(operation, *ids, sends=sends))

    def _send(
        self,
        operation: Operation[Any],
        *ids: str,
        sends: bodies.RequestBody | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Reply:
        body = None if sends is None else sends.model_dump(mode="json", exclude_none=True)
        return self._connection.request(operation.method, _path(operation, ids), query=query, body=body)

    def _list(
        self,
        operation: Operation[bodies.Page[bodies.Item]],
        *ids: str,
        query: Mapping[str, Any] | None = None,
    ) -> Iterator[bodies.Item]:
        """Yield the items of all pages. A page past the last one would be a 404, so only links are followed."""
        seen = set()
        while True:
            reply = self._send(operation, *ids, query=query)
            page = _read(operation, reply)
            yield from page.results
            href = page.links.next.href
            if not href:
                return
            if href in seen:
                raise ProlificError("Prolific's list does not end. Try again later.", status=reply.status, body=None)
            seen.add(href)
            # Only the query: the token goes to no other address than ours.
            query = dict(parse_qsl(urlsplit(href).query))


def _path(operation: Operation[Any], ids: Sequence[str]) -> str:
    for value in ids:
        if not _ID.fullmatch(value):
            raise ProlificError(f"{value!r} is not an id of Prolific's.", status=None, body=None)
    values = iter(ids)
    return re.sub(r"\{\w+\}", lambda _: next(values), operation.path)


def _read(operation: Operation[Answer], reply: Reply) -> Answer:
    if operation.reads is None:
        return None  # type: ignore[return-value]
    try:
        return operation.read(reply.body)
    except ValidationError:
        raise ProlificError(
            "Prolific answered in a form that this version does not know. Update Lineup, or report this.",
            status=reply.status,
            body=reply.body,
            is_uncertain=operation.method != "GET",
        ) from None
