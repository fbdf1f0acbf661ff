"""A local platform that a test runs, and a client whose requests and responses are checked."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection, ProlificError, Reply
from annotation.recruitment.prolific.operations import OPERATIONS, Operation
from simulation.prolific_double.pages import set_switch
from simulation.prolific_double.server import Double
from simulation.prolific_double.switches import Switch
from tests.studies.real_data import REAL_DATA

TOKEN = "a-token-of-the-tests"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PERSON = "60bf9310e8dec401be6e9615"
DONE, AUTOMATIC, NO_CONSENT, BY_RESEARCHER = "CDONE7K2", "CAUTO4LM", "CNOCON41", "CSRVR5ZT"
CODES = (
    bodies.CompletionCode(code=DONE, code_type="COMPLETED", actions=(bodies.ManuallyReview(),)),
    bodies.CompletionCode(code=AUTOMATIC, code_type="OTHER", actions=(bodies.AutomaticallyApprove(),)),
    bodies.CompletionCode(
        code=NO_CONSENT, code_type="NO_CONSENT", actions=(bodies.RequestReturn(return_reason="Withdrew consent"),)
    ),
    bodies.CompletionCode(
        code=BY_RESEARCHER, code_type="OTHER", actor="researcher", actions=(bodies.ManuallyReview(),)
    ),
)
# The published description, on machines that have it; the rest of a test runs without.
DESCRIPTION = REAL_DATA / "prolific/openapi-used.json"


def new_study(**changes: object) -> bodies.NewStudy:
    """A study of 20 minutes for 4.00, with 3 places."""
    fields: dict[str, object] = {
        "name": "Judge captions for images",
        "description": "<p>You will judge captions.</p>",
        "external_study_url": "https://annotate.example.org/take/7Qk2/"
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        "total_available_places": 3,
        "estimated_completion_time": 20,
        "maximum_allowed_time": 60,
        "reward": 400,
        "completion_codes": CODES,
        "device_compatibility": ("desktop",),
    }
    return bodies.NewStudy.model_validate({**fields, **changes})


class Local:
    """A local platform, its time, and a client. `waits`: what the client waited between attempts, in seconds."""

    def __init__(self, folder: Path, *, seconds: float = 10, **options: Any) -> None:
        self.time, self.waits = NOON, list[float]()
        self.double = Double(folder, token=TOKEN, real_now=lambda: self.time, **options)
        self.client = Client(
            CheckedConnection(TOKEN, address=self.double.address, seconds=seconds, sleep=self.waits.append)
        )

    def later(self, **time: float) -> None:
        """Let time pass, and have the platform do what is due then."""
        self.time += timedelta(**time)
        self.double.tick()

    def switch(self, switch: Switch, left: str = "on") -> None:
        set_switch(self.double.platform, switch.key, left)
        self.double.store.commit()

    def published(self, **changes: object) -> str:
        """Return the id of a study that is published."""
        return self.client.publish_study(self.client.create_study(new_study(**changes)).id).id

    def taken(self, study: str, participant: str = PERSON) -> str:
        """Return the submission of a participant who has taken a place."""
        return str(self.play("take", study=study, participant=participant)["submission"])

    def opened(self, study: str, participant: str = PERSON) -> str:
        """Return the submission of a participant who has opened the study."""
        submission = self.taken(study, participant)
        self.play("open", submission=submission)
        return submission

    def completed(self, study: str, participant: str = PERSON, *, code: str = DONE) -> str:
        """Return the submission of a participant who took 15 minutes."""
        submission = self.opened(study, participant)
        self.later(minutes=15)
        self.play("complete", submission=submission, code=code)
        return submission

    def play(self, action: str, /, **body: object) -> dict[str, Any]:
        """Do what a form of the platform's pages does."""
        headers = {"Content-Type": "application/json", "Host": "127.0.0.1"}
        answer = self.double.answer("POST", f"/play/{action}/", headers, json.dumps(body).encode())
        assert answer is not None
        assert answer.status == 200, answer.body
        assert isinstance(answer.body, dict)
        return answer.body

    def status(self, submission: str) -> str:
        return self.client.read_submission(submission).status


@contextmanager
def local_platform(folder: Path, **options: Any) -> Iterator[Local]:
    """Run a local platform until the block ends."""
    local = Local(folder, **options)
    with closing(local.double), local.double.listening():
        yield local


class CheckedConnection(Connection):
    """A connection that checks what is sent and answered against the published description."""

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None) -> Reply:
        described = description_of(method, path)
        if described and body is not None:
            check(described["requestBody"]["content"], body)
        try:
            reply = super().request(method, path, query=query, body=body)
        except ProlificError as error:
            if described and error.status == 400:
                check(described["responses"]["400"]["content"], error.body)
            raise
        if described and reply.body is not None:
            check(described["responses"][str(reply.status)]["content"], reply.body)
        return reply


def description_of(method: str, path: str) -> dict[str, Any] | None:
    """Return the published description of an operation; None on a machine that does not have it."""
    if not DESCRIPTION.exists():
        return None
    operation = operation_at(method, path)
    described: dict[str, Any] = description()["paths"][operation.path][method.lower()]
    return described


def operation_at(method: str, path: str) -> Operation[Any]:
    def fits(operation: Operation[Any]) -> bool:
        parts = zip(operation.path.split("/"), path.split("/"), strict=False)
        is_as_long = operation.path.count("/") == path.count("/")
        return operation.method == method and is_as_long and all(a == b or a.startswith("{") for a, b in parts)

    # Of `/submissions/{id}/` and `/submissions/bulk-approve/`, the one without an id.
    return min(filter(fits, OPERATIONS), key=lambda operation: operation.path.count("{"))


@cache
def description() -> dict[str, Any]:
    """Return the published description, `oneOf` read as `anyOf`: it names alternatives that include each other.

    A whole number is an integer and a number, and each filter is also a detailed filter.
    """
    text = DESCRIPTION.read_text(encoding="utf-8").replace('"oneOf"', '"anyOf"')
    read: dict[str, Any] = json.loads(text)
    return read


def check(content: dict[str, Any], body: Any) -> None:
    """Fail unless a body is as described."""
    schema = {**content["application/json"]["schema"], "components": description()["components"]}
    Draft202012Validator(schema).validate(body)
