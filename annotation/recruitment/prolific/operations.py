"""Operations of Prolific's API that the client uses, with the bodies that each sends and reads."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from annotation.recruitment.prolific import bodies

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Operation(Generic[Answer]):
    """`path`: as the published description has it. `reads`: None where the response says nothing that we use."""

    method: str
    path: str
    reads: Any
    sends: type[bodies.RequestBody] | None = None
    query: tuple[str, ...] = ()

    def read(self, body: Any) -> Answer:
        """Return the parsed body of a response. Raises pydantic.ValidationError."""
        answer: Answer = TypeAdapter(self.reads).validate_python(body)
        return answer


READ_USER = Operation[bodies.User]("GET", "/api/v1/users/me/", bodies.User)
LIST_WORKSPACES = Operation[bodies.Page[bodies.Workspace]]("GET", "/api/v1/workspaces/", bodies.Page[bodies.Workspace])
READ_BALANCE = Operation[bodies.Balance]("GET", "/api/v1/workspaces/{workspace_id}/balance/", bodies.Balance)
LIST_PROJECTS = Operation[bodies.Page[bodies.Project]](
    "GET", "/api/v1/workspaces/{workspace_id}/projects/", bodies.Page[bodies.Project]
)
CREATE_PROJECT = Operation[bodies.Project](
    "POST", "/api/v1/workspaces/{workspace_id}/projects/", bodies.Project, sends=bodies.NewProject
)

CREATE_STUDY = Operation[bodies.Study]("POST", "/api/v1/studies/", bodies.Study, sends=bodies.NewStudy)
READ_STUDY = Operation[bodies.Study]("GET", "/api/v1/studies/{id}/", bodies.Study)
UPDATE_STUDY = Operation[bodies.Study]("PATCH", "/api/v1/studies/{id}/", bodies.Study, sends=bodies.StudyChanges)
CHANGE_STUDY_STATUS = Operation[bodies.Study](
    "POST", "/api/v1/studies/{id}/transition/", bodies.Study, sends=bodies.StudyTransition
)
LIST_STUDIES = Operation[bodies.Page[bodies.ListedStudy]]("GET", "/api/v1/studies/", bodies.Page[bodies.ListedStudy])
READ_STUDY_COST = Operation[bodies.StudyCost](
    "GET", "/api/v1/studies/{id}/cost/", bodies.StudyCost, query=("is_projected",)
)
CALCULATE_COST = Operation[bodies.CostAnswer](
    "POST", "/api/v1/study-cost-calculator/", bodies.CostAnswer, sends=bodies.CostQuestion
)

LIST_SUBMISSIONS = Operation[bodies.Page[bodies.ListedSubmission]](
    "GET",
    "/api/v1/submissions/",
    bodies.Page[bodies.ListedSubmission],
    query=("study", "page", "page_size", "ordering"),
)
READ_SUBMISSION = Operation[bodies.Submission]("GET", "/api/v1/submissions/{id}/", bodies.Submission)
CHANGE_SUBMISSION_STATUS = Operation[bodies.ChangedSubmission](
    "POST",
    "/api/v1/submissions/{id}/transition/",
    bodies.ChangedSubmission,
    sends=bodies.SubmissionTransition,
)
ASK_TO_RETURN = Operation[None]("POST", "/api/v1/submissions/{id}/request-return/", None, sends=bodies.ReturnReasons)
APPROVE_SUBMISSIONS = Operation[None]("POST", "/api/v1/submissions/bulk-approve/", None, sends=bodies.SubmissionIds)

LIST_GROUPS = Operation[bodies.Page[bodies.Group]](
    "GET", "/api/v1/participant-groups/", bodies.Page[bodies.Group], query=("workspace_id",)
)
CREATE_GROUP = Operation[bodies.Group]("POST", "/api/v1/participant-groups/", bodies.Group, sends=bodies.NewGroup)
LIST_GROUP_MEMBERS = Operation[bodies.Page[bodies.GroupMember]](
    "GET", "/api/v1/participant-groups/{id}/participants/", bodies.Page[bodies.GroupMember]
)
ADD_TO_GROUP = Operation[None](
    "POST", "/api/v1/participant-groups/{id}/participants/", None, sends=bodies.ParticipantIds
)
REMOVE_FROM_GROUP = Operation[None](
    "DELETE", "/api/v1/participant-groups/{id}/participants/", None, sends=bodies.ParticipantIds
)

LIST_FILTERS = Operation[bodies.Page[bodies.Filter]](
    "GET", "/api/v1/filters/", bodies.Page[bodies.Filter], query=("workspace_id",)
)
COUNT_ELIGIBLE = Operation[bodies.EligibleCount](
    "POST", "/api/v1/eligibility-count/", bodies.EligibleCount, sends=bodies.EligibilityQuestion
)

CREATE_SECRET = Operation[bodies.Secret]("POST", "/api/v1/hooks/secrets/", bodies.Secret, sends=bodies.WorkspaceId)
LIST_SUBSCRIPTIONS = Operation[bodies.Page[bodies.Subscription]](
    "GET", "/api/v1/hooks/subscriptions/", bodies.Page[bodies.Subscription], query=("workspace_id",)
)
# The description has a list here, and Prolific's own client reads one subscription: both are read.
SUBSCRIBE = Operation[bodies.Page[bodies.Subscription] | bodies.Subscription](
    "POST",
    "/api/v1/hooks/subscriptions/",
    bodies.Page[bodies.Subscription] | bodies.Subscription,
    sends=bodies.NewSubscription,
)
CONFIRM_SUBSCRIPTION = Operation[bodies.Subscription](
    "POST", "/api/v1/hooks/subscriptions/{subscription_id}/", bodies.Subscription, sends=bodies.Confirmation
)

LIST_MESSAGES = Operation[bodies.Page[bodies.Message]](
    "GET", "/api/v1/messages/", bodies.Page[bodies.Message], query=("created_after",)
)
SEND_MESSAGE = Operation[None]("POST", "/api/v1/messages/", None, sends=bodies.NewMessage)
SEND_MESSAGES = Operation[None]("POST", "/api/v1/messages/bulk/", None, sends=bodies.NewMessages)

SET_UP_BONUSES = Operation[bodies.Bonuses](
    "POST", "/api/v1/submissions/bonus-payments/", bodies.Bonuses, sends=bodies.NewBonuses
)
PAY_BONUSES = Operation[None]("POST", "/api/v1/bulk-bonus-payments/{id}/pay/", None)

READ_KEYS = Operation[bodies.KeySet]("GET", "/.well-known/study/jwks.json", bodies.KeySet)

OPERATIONS = tuple(value for value in list(globals().values()) if isinstance(value, Operation))
