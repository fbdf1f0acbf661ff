"""Studies, places, submissions and money of the local platform (prolific.md, sections 3, 4 and 9).

What is assumed where Prolific publishes nothing stands in docs/prolific.md.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.recruitment.prolific.statuses import EventType, StudyStatus, SubmissionAction, SubmissionStatus
from simulation.prolific_double import signed_links
from simulation.prolific_double.rules import (
    CHANGEABLE,
    CLOCK_AHEAD,
    FIRST_BALANCE,
    FREES_PLACE,
    IN_PROGRESS,
    MOVES,
    NO_CODE,
    PEOPLE_FILTERS,
    RESERVATION,
    REVIEW,
    SCREEN_OUT,
    STUDY_MOVES,
    Refusal,
    actions_of,
    amount_of,
    check_rejection,
    check_study,
    fee_of,
    new_id,
    shortest_limit,
)
from simulation.prolific_double.store import Document, Store
from simulation.prolific_double.switches import Switch, Switches

S = SubmissionStatus


class Platform:
    """The state of the platform. `real_now` is the clock of the machine; the platform's own can be put forward."""

    def __init__(
        self,
        store: Store,
        *,
        workspace: str,
        balance: int = FIRST_BALANCE,
        real_now: Callable[[], datetime] = lambda: datetime.now(UTC),
        announce: Callable[[Document], None] = lambda event: None,
        study_prefix: str = "",
    ) -> None:
        self.store, self.switches, self.workspace = store, Switches(store), workspace
        self._balance, self._real_now, self.announce = balance, real_now, announce
        self._study_prefix = study_prefix

    # Time

    def now(self) -> datetime:
        offset = self.store.find("clock", "offset")
        return self._real_now() + timedelta(seconds=offset["seconds"] if offset else 0)

    def advance(self, time: timedelta) -> None:
        """Put the clock forward."""
        seconds = (self.now() - self._real_now() + time).total_seconds()
        self.store.write("clock", {"id": "offset", "seconds": seconds})

    def display(self, time: datetime) -> datetime:
        """Return a time as responses and webhooks have it."""
        return time + (CLOCK_AHEAD if self.switches.is_on(Switch.CLOCK_AHEAD) else timedelta())

    def tick(self) -> None:
        """Do what is due: reservations and time limits that ran out, approvals in bulk, and those after 21 days."""
        for study in self.store.list("study"):
            for submission in self.submissions(study["id"]):
                self._let_time_pass(study, submission)
        if not self.switches.is_on(Switch.BULK_APPROVAL_LOST):
            for pending in self.store.list("approval"):
                self.store.delete("approval", pending["id"])
                submission = self.submission(pending["id"])
                if submission["status"] == S.AWAITING_REVIEW:
                    self._approve(submission)

    def _let_time_pass(self, study: Document, submission: Document) -> None:
        status, now = submission["status"], self.now()
        limit = study.get("maximum_allowed_time") or shortest_limit(study["estimated_completion_time"])
        ends = {
            S.RESERVED: datetime.fromisoformat(submission["reserved_at"]) + RESERVATION,
            S.ACTIVE: datetime.fromisoformat(submission["started_at"]) + timedelta(minutes=limit),
        }
        if status in ends and now >= ends[status]:
            self._move(submission, "time out", S.TIMED_OUT)
        elif status == S.AWAITING_REVIEW and now >= datetime.fromisoformat(submission["completed_at"]) + REVIEW:
            self._approve(submission)

    # Studies

    def study(self, id_: str) -> Document:
        if study := self.store.find("study", id_):
            return study
        raise Refusal("No Study matches the given query.", status=404)

    def create_study(self, body: Mapping[str, Any]) -> Document:
        study = {**body, "id": f"{self._study_prefix}{new_id()}", "status": StudyStatus.UNPUBLISHED}
        check_study(study)
        self.store.write("study", study)
        return study

    def update_study(self, id_: str, changes: Mapping[str, Any]) -> Document:
        study = self.study(id_)
        if study["status"] != StudyStatus.UNPUBLISHED:
            if frozen := {field: ["This field can no longer be changed."] for field in set(changes) - CHANGEABLE}:
                raise Refusal(frozen)
            more = changes.get("total_available_places", study["total_available_places"])
            if more < study["total_available_places"]:
                raise Refusal({"total_available_places": ["This field can only be increased."]})
            self._need(study["reward"] * (more - study["total_available_places"]))
        study.update(changes)
        check_study(study)
        self.store.write("study", study)
        if "total_available_places" in changes and study["status"] == StudyStatus.COMPLETED:
            self._set_study_status(study, StudyStatus.ACTIVE)
        self._fit_status_to_places(id_)
        return self.study(id_)

    def change_study(self, id_: str, action: str) -> Document:
        study = self.study(id_)
        from_, to = STUDY_MOVES.get(action, (frozenset(), None))
        if to is None or study["status"] not in from_:
            raise Refusal(f"The action {action} is not possible while the study is {study['status']}.")
        if action == "PUBLISH":
            if self.switches.use(Switch.STUDY_REFUSED):
                raise Refusal("The study does not meet the platform's rules, so it was not published.")
            self._need(study["reward"] * study["total_available_places"])
        self._set_study_status(study, to)
        self._fit_status_to_places(id_)
        return self.study(id_)

    def _set_study_status(self, study: Document, status: StudyStatus) -> None:
        study["status"] = status
        self.store.write("study", study)
        self.announce(
            {"resource_id": study["id"], "event_type": EventType.STUDY_STATUS, "metadata": {}, "status": status}
        )

    def _fit_status_to_places(self, id_: str) -> None:
        """A study without open places awaits review; a place that reopens makes it active again."""
        study = self.study(id_)
        fitting = StudyStatus.ACTIVE if self.open_places(study) > 0 else StudyStatus.AWAITING_REVIEW
        if study["status"] in {StudyStatus.ACTIVE, StudyStatus.AWAITING_REVIEW} - {fitting}:
            self._set_study_status(study, fitting)

    def places_taken(self, study: Document) -> int:
        return sum(submission["status"] not in FREES_PLACE for submission in self.submissions(study["id"]))

    def open_places(self, study: Document) -> int:
        return int(study["total_available_places"]) - self.places_taken(study)

    # Participants

    def submissions(self, study: str) -> list[Document]:
        return self.store.list("submission", owner=study)

    def submission(self, id_: str) -> Document:
        if submission := self.store.find("submission", id_):
            return submission
        raise Refusal("No Submission matches the given query.", status=404)

    def take_place(self, study_id: str, participant: str) -> Document:
        """Reserve a place for a participant. Raises Refusal if there is none for them."""
        study = self.study(study_id)
        if study["status"] != StudyStatus.ACTIVE or self.open_places(study) <= 0:
            raise Refusal("The study has no open places.")
        if not self._is_let_in(study, participant):
            raise Refusal("The study is not for this participant.")
        takes_part = any(one["participant"] == participant for one in self.submissions(study_id))
        if takes_part and not self.switches.is_on(Switch.PEOPLE_RETURN):
            raise Refusal("The participant has taken part already.")
        now = self.now().isoformat()
        submission = {
            "id": new_id(),
            "study": study_id,
            "participant": participant,
            "status": S.RESERVED,
            "reserved_at": now,
            "started_at": now,
            "completed_at": None,
            "code": None,
            "return_requested": None,
        }
        self._write(submission)
        self._announce_status(submission)
        self._fit_status_to_places(study_id)
        return submission

    def _is_let_in(self, study: Document, participant: str) -> bool:
        for chosen in study.get("filters") or []:
            lets_in = PEOPLE_FILTERS.get(chosen["filter_id"])
            if lets_in is None:
                continue
            named = set(chosen["selected_values"])
            for group in self.store.list("group"):
                if group["id"] in named:
                    named |= {member["participant_id"] for member in group["members"]}
            if (participant in named) != lets_in:
                return False
        return True

    def open_study(self, id_: str) -> str:
        """Note that a participant opens the study, and return its address with the three ids."""
        submission = self.submission(id_)
        if submission["status"] == S.RESERVED:
            submission["started_at"] = self.now().isoformat()
            self._move(submission, "open", S.ACTIVE)
        elif submission["status"] != S.ACTIVE:
            raise Refusal(f"The submission is {submission['status']}, so the study can no longer be opened.")
        study = self.study(submission["study"])
        link = str(study["external_study_url"])
        if self.switches.use(Switch.LINKS_WITHOUT_IDS):
            return link.split("?")[0]
        if self.switches.use(Switch.LINKS_UNFILLED):
            return link
        ids = {"PROLIFIC_PID": submission["participant"], "STUDY_ID": submission["study"], "SESSION_ID": id_}
        for name, value in ids.items():
            link = link.replace(f"{{{{%{name}%}}}}", value)
        if study.get("is_external_study_url_secure"):
            now = self.display(self.now())
            return signed_links.sign_link(link, ids, store=self.store, workspace=self.workspace, now=now)
        return link

    def return_submission(self, id_: str) -> None:
        self._move(self.submission(id_), "return", S.RETURNED)

    def complete(self, id_: str, code: str) -> Document:
        """A participant completes, with a code or with none; again, it changes nothing."""
        submission = self.submission(id_)
        if submission["completed_at"]:
            return submission
        study = self.study(submission["study"])
        if submission["status"] == S.TIMED_OUT and self.open_places(study) <= 0:
            raise Refusal("The time is over, and somebody else has taken the place.")
        actions = actions_of(study, code, actor="participant")
        self._finish(submission, code or NO_CODE, actions or [], move="complete")
        return submission

    # The researcher

    def change_submission(self, id_: str, body: Mapping[str, Any]) -> Document:
        """Do a transition; the same again changes nothing."""
        submission, action = self.submission(id_), body.get("action")
        if action == SubmissionAction.APPROVE:
            if submission["status"] != S.APPROVED:
                self._approve(submission)
        elif action == SubmissionAction.REJECT:
            check_rejection(body)
            if submission["status"] != S.REJECTED:
                self._move(submission, "reject", S.REJECTED)
        elif action == SubmissionAction.UNREJECT:
            self._move(submission, "undo rejection", S.AWAITING_REVIEW)
        elif action == SubmissionAction.COMPLETE:
            self._complete_for_participant(submission, body)
        else:
            raise Refusal({"action": [f"{action!r} is not possible."]})
        return self.submission(id_)

    def _complete_for_participant(self, submission: Document, body: Mapping[str, Any]) -> None:
        code = body.get("completion_code", "")
        actions = actions_of(self.study(submission["study"]), code, actor="researcher")
        if actions is None:
            raise Refusal({"completion_code": ["The study has no code of this kind for researchers."]})
        if submission["code"] == code:
            return
        if any(action["action"] == "DYNAMIC_PAYMENT" for action in actions):
            share = (body.get("completion_code_data") or {}).get("percentage_of_reward", 0)
            if not 8 <= share <= 99:
                raise Refusal({"completion_code_data": ["The percentage must be from 8 to 99."]})
            self._check_move(submission, "pay in part")
            submission["code"] = code
            reward = self.study(submission["study"])["reward"]
            self.pay(submission, round(reward * share / 100), why="part")
            self._move(submission, "pay in part", S.PARTIALLY_APPROVED)
        else:
            self._finish(submission, code, actions, move="complete for them")

    def approve_in_bulk(self, ids: Collection[str]) -> None:
        """Approve later, at the next tick."""
        for submission in [self.submission(id_) for id_ in ids]:
            self.store.write("approval", {"id": submission["id"]})

    def ask_to_return(self, id_: str) -> Document:
        submission = self.submission(id_)
        submission["return_requested"] = self.now().isoformat()
        self._write(submission)
        return submission

    def _finish(self, submission: Document, code: str, actions: list[Document], *, move: str) -> None:
        """Enter a code, and do what it asks for."""
        self._check_move(submission, move)
        study, now = self.study(submission["study"]), self.now()
        submission.update(code=code, completed_at=now.isoformat())
        took = now - datetime.fromisoformat(submission["started_at"])
        status = S.AWAITING_REVIEW
        for action in actions:
            name = action["action"]
            if name == "REQUEST_RETURN":
                submission["return_requested"] = self.now().isoformat()
            elif name == "ADD_TO_PARTICIPANT_GROUP" and self.store.find("group", action["participant_group"]):
                self.add_to_group(action["participant_group"], [submission["participant"]])
            elif name == SCREEN_OUT:
                status = S.SCREENED_OUT
                self.pay(submission, action["fixed_screen_out_reward"], why="screen-out")
                self._pause_after_last_slot(study, slots=action["slots"])
            # Who took less than half the time is reviewed by hand.
            elif name == "AUTOMATICALLY_APPROVE" and took >= timedelta(minutes=study["estimated_completion_time"]) / 2:
                status = S.APPROVED
                self.pay(submission, study["reward"], why="reward")
        self._move(submission, move, status)

    def _pause_after_last_slot(self, study: Document, *, slots: int) -> None:
        used = 1 + sum(one["status"] == S.SCREENED_OUT for one in self.submissions(study["id"]))
        if used >= slots and study["status"] == StudyStatus.ACTIVE:
            self._set_study_status(study, StudyStatus.PAUSED)

    def _approve(self, submission: Document) -> None:
        self._check_move(submission, "approve")
        self.pay(submission, self.study(submission["study"])["reward"], why="reward")
        self._move(submission, "approve", S.APPROVED)

    def _check_move(self, submission: Document, move: str) -> None:
        if submission["status"] not in MOVES[move]:
            raise Refusal(f"This is not possible while the submission is {submission['status']}.")

    def _move(self, submission: Document, move: str, to: SubmissionStatus) -> None:
        self._check_move(submission, move)
        submission["status"] = to
        self._write(submission)
        self._announce_status(submission)
        self._fit_status_to_places(submission["study"])

    def _write(self, submission: Document) -> None:
        self.store.write("submission", submission, owner=submission["study"])

    def _announce_status(self, submission: Document) -> None:
        self.announce(
            {
                "resource_id": submission["id"],
                "event_type": EventType.SUBMISSION_STATUS,
                "participant_id": submission["participant"],
                "status": submission["status"],
            }
        )

    # Groups

    def group(self, id_: str) -> Document:
        if group := self.store.find("group", id_):
            return group
        raise Refusal("No ParticipantGroup matches the given query.", status=404)

    def create_group(self, name: str, participants: Collection[str], *, workspace: str) -> Document:
        group: Document = {"id": new_id(), "name": name, "members": [], "workspace": workspace}
        self.store.write("group", group)
        return self.add_to_group(group["id"], participants)

    def add_to_group(self, id_: str, participants: Collection[str]) -> Document:
        group, now = self.group(id_), self.now().isoformat()
        known = {member["participant_id"] for member in group["members"]}
        new = [one for one in dict.fromkeys(participants) if one not in known]
        group["members"] += [{"participant_id": one, "datetime_created": now} for one in new]
        self.store.write("group", group)
        return group

    def remove_from_group(self, id_: str, participants: Collection[str]) -> Document:
        group = self.group(id_)
        group["members"] = [one for one in group["members"] if one["participant_id"] not in participants]
        self.store.write("group", group)
        return group

    # Money, in cents

    def pay(self, submission: Document, cents: int, *, why: str) -> None:
        payment = {"id": new_id(), "submission": submission["id"], "cents": cents, "why": why}
        self.store.write("payment", payment, owner=submission["id"])

    def bonuses(self, submission: str) -> list[int]:
        return [one["cents"] for one in self.store.list("payment", owner=submission) if one["why"] == "bonus"]

    def currency(self) -> str:
        return "GBP" if self.switches.is_on(Switch.OTHER_CURRENCY) else "USD"

    def total_balance(self) -> int:
        if self.switches.is_on(Switch.BALANCE_LOW):
            return 0
        paid: int = sum(payment["cents"] for payment in self.store.list("payment"))
        return self._balance - paid - fee_of(paid)

    def available_balance(self) -> int:
        """Return the balance without the rewards that published studies still have to pay."""
        due = 0
        for study in self.store.list("study"):
            submissions = self.submissions(study["id"])
            open_ = max(self.open_places(study), 0) if study["status"] in {"ACTIVE", "AWAITING REVIEW", "PAUSED"} else 0
            unpaid = sum(one["status"] in IN_PROGRESS | {S.AWAITING_REVIEW} for one in submissions)
            due += study["reward"] * (open_ + unpaid)
        return max(self.total_balance() - due - fee_of(due), 0)

    def _need(self, cents: int) -> None:
        if cents + fee_of(cents) > self.available_balance():
            raise Refusal("The balance of the workspace is too low for this. Top it up first.")

    def set_up_bonuses(self, study_id: str, lines: str) -> Document:
        """Set up bonuses by participant or submission, in whole units of the currency."""
        by_id: dict[str, str] = {}
        for submission in self.submissions(self.study(study_id)["id"]):
            by_id[submission["id"]] = by_id[submission["participant"]] = submission["id"]
        rows = [line.split(",") for line in lines.splitlines() if line.strip()]
        if unknown := [row[0] for row in rows if row[0] not in by_id]:
            raise Refusal({"csv_bonuses": [f"These did not take part: {', '.join(unknown)}"]})
        bonuses = [{"submission": by_id[id_], "cents": round(float(amount) * 100)} for id_, amount in rows]
        batch: Document = {"id": new_id(), "study": study_id, "bonuses": bonuses}
        self._need(amount_of(batch))
        self.store.write("bonus batch", batch)
        return batch

    def pay_bonuses(self, id_: str) -> None:
        """Pay bonuses that were set up: once more at every call, as Prolific does."""
        batch = self.store.find("bonus batch", id_)
        if batch is None:
            raise Refusal("No BulkBonusPayment matches the given query.", status=404)
        self._need(amount_of(batch))
        for bonus in batch["bonuses"]:
            self.pay(self.submission(bonus["submission"]), bonus["cents"], why="bonus")
