"""Bodies of the requests and responses of Prolific's API: the fields that we use (prolific.md, section 4).

Amounts are in cents of the account's currency. A response may have fields and statuses that are not listed here.
"""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, WithJsonSchema

from annotation.recruitment.prolific.statuses import (
    RejectionCategory,
    StudyAction,
    StudyStatus,
    SubmissionAction,
    SubmissionStatus,
)

# The published description calls every number a number; ours are whole.
Whole = Annotated[int, WithJsonSchema({"type": "number"})]
# A status that is not listed is read all the same.
AnyStudyStatus = Annotated[str, WithJsonSchema({"type": "string", "enum": list(StudyStatus)})]
AnySubmissionStatus = Annotated[str, WithJsonSchema({"type": "string", "enum": list(SubmissionStatus)})]


def undocumented(default: Any) -> Any:
    """Declare a field that responses have and the published description does not."""
    return Field(default, json_schema_extra={"undocumented": True})


class RequestBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ResponseBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class User(ResponseBody):
    id: str
    name: str = undocumented("")
    currency_code: str = undocumented("")


class Workspace(ResponseBody):
    id: str
    title: str


class Balance(ResponseBody):
    currency_code: str
    total_balance: int
    available_balance: int


class Project(ResponseBody):
    """A folder of studies in a workspace, whose balance pays them."""

    id: str
    title: str


class NewProject(RequestBody):
    title: str


class AutomaticallyApprove(RequestBody):
    action: Literal["AUTOMATICALLY_APPROVE"] = "AUTOMATICALLY_APPROVE"


class ManuallyReview(RequestBody):
    action: Literal["MANUALLY_REVIEW"] = "MANUALLY_REVIEW"


class RequestReturn(RequestBody):
    return_reason: str
    action: Literal["REQUEST_RETURN"] = "REQUEST_RETURN"


class AddToGroup(RequestBody):
    participant_group: str
    action: Literal["ADD_TO_PARTICIPANT_GROUP"] = "ADD_TO_PARTICIPANT_GROUP"


class PayScreenedOut(RequestBody):
    """Pay a fixed amount to the first `slots` people whom the study screens out; only some workspaces may."""

    fixed_screen_out_reward: int
    slots: int
    action: Literal["FIXED_SCREEN_OUT_PAYMENT"] = "FIXED_SCREEN_OUT_PAYMENT"


class PayInPart(RequestBody):
    """Let the researcher pay a share of the reward; only some workspaces may."""

    action: Literal["DYNAMIC_PAYMENT"] = "DYNAMIC_PAYMENT"


CodeAction = AutomaticallyApprove | ManuallyReview | RequestReturn | AddToGroup | PayScreenedOut | PayInPart
CodeType = Literal[
    "COMPLETED", "FAILED_ATTENTION_CHECK", "FIXED_SCREENOUT", "INCOMPATIBLE_DEVICE", "NO_CONSENT", "OTHER"
]


class CompletionCode(RequestBody):
    """A code, and what happens to a submission with it. A code with actor "researcher" is entered through the API."""

    code: str
    code_type: CodeType
    actions: tuple[CodeAction, ...]
    actor: Literal["participant", "researcher"] = "participant"


class SelectFilter(RequestBody):
    filter_id: str
    selected_values: tuple[str, ...]


class Range(RequestBody):
    """Bounds of a filter; dates are texts."""

    lower: int | float | str | None = None
    upper: int | float | str | None = None


class RangeFilter(RequestBody):
    filter_id: str
    selected_range: Range


ChosenFilter = SelectFilter | RangeFilter
Device = Literal["desktop", "tablet", "mobile"]


class NewStudy(RequestBody):
    """A draft. Times are in minutes."""

    name: str
    description: str
    external_study_url: str
    total_available_places: int
    estimated_completion_time: int
    reward: int
    completion_codes: tuple[CompletionCode, ...]
    maximum_allowed_time: int | None = None
    internal_name: str | None = None
    device_compatibility: tuple[Device, ...] = ()
    filters: tuple[ChosenFilter, ...] = ()
    project: str | None = None
    is_external_study_url_secure: bool | None = None
    prolific_id_option: Literal["url_parameters"] = "url_parameters"
    study_labels: tuple[Literal["annotation"], ...] = ("annotation",)


class StudyChanges(RequestBody):
    """Changes to a study: of a draft anything, of a published study only `internal_name` and more places."""

    name: str | None = None
    internal_name: str | None = None
    description: str | None = None
    external_study_url: str | None = None
    total_available_places: int | None = None
    estimated_completion_time: int | None = None
    maximum_allowed_time: int | None = None
    reward: int | None = None
    completion_codes: tuple[CompletionCode, ...] | None = None
    device_compatibility: tuple[Device, ...] | None = None
    filters: tuple[ChosenFilter, ...] | None = None
    project: str | None = None
    is_external_study_url_secure: bool | None = None


class Study(ResponseBody):
    id: str
    name: str
    status: AnyStudyStatus
    total_available_places: Whole
    reward: Whole
    places_taken: Whole | None = undocumented(None)
    currency_code: str = undocumented("")


class ListedStudy(ResponseBody):
    """A study as lists have it."""

    id: str
    name: str
    internal_name: str | None = None
    status: AnyStudyStatus = ""


class StudyTransition(RequestBody):
    action: StudyAction


class CostQuestion(RequestBody):
    reward: int
    total_available_places: int


class CostAnswer(ResponseBody):
    """Rewards with fee and taxes, in cents."""

    total_cost: Whole


class Amount(ResponseBody):
    amount: Whole = 0
    currency: str = ""


class CostParts(ResponseBody):
    rewards: Amount = Amount()
    fees: Amount = Amount()
    tax: Amount = Amount()


class StudyCost(ResponseBody):
    """What a study costs: in cents, rewards and bonuses apart."""

    rewards: CostParts = CostParts()
    bonuses: CostParts = CostParts()


class _AnySubmission(ResponseBody):
    id: str
    status: AnySubmissionStatus
    started_at: datetime
    completed_at: datetime | None = None
    return_requested: datetime | None = None


class ListedSubmission(_AnySubmission):
    """A submission as lists have it. `study_code`: the code that was entered."""

    participant_id: str
    study_code: str | None = None


class Submission(_AnySubmission):
    """A submission as its own address has it. `bonus_payments`: in cents."""

    study_id: str
    participant: str
    entered_code: str | None = None
    bonus_payments: tuple[Whole, ...] = ()


class ChangedSubmission(ResponseBody):
    """A submission as a transition returns it."""

    id: str
    status: AnySubmissionStatus


class PartOfReward(RequestBody):
    """`percentage_of_reward`: from 8 to 99."""

    percentage_of_reward: int
    message_to_participant: str


class SubmissionTransition(RequestBody):
    action: SubmissionAction
    rejection_category: RejectionCategory | None = None
    message: str | None = None
    completion_code: str | None = None
    completion_code_data: PartOfReward | None = None


class ReturnReasons(RequestBody):
    request_return_reasons: tuple[str, ...]


class SubmissionIds(RequestBody):
    submission_ids: tuple[str, ...]


class NewGroup(RequestBody):
    workspace_id: str
    name: str
    participant_ids: tuple[str, ...]


class Group(ResponseBody):
    id: str
    name: str
    participant_count: int
    is_deleted: bool = False


class ParticipantIds(RequestBody):
    participant_ids: tuple[str, ...]


class GroupMember(ResponseBody):
    participant_id: str


class Filter(ResponseBody):
    """A filter that the platform offers: `choices` (id to label) of one of type "select", else `min` and `max`."""

    filter_id: str
    title: str
    type: Literal["select", "range"]
    question: str = ""
    choices: dict[str, Any] = Field(default_factory=dict)
    min: int | float | str | None = None
    max: int | float | str | None = None


class EligibilityQuestion(RequestBody):
    filters: tuple[ChosenFilter, ...]
    workspace_id: str


class EligibleCount(ResponseBody):
    count: Whole


class WorkspaceId(RequestBody):
    workspace_id: str


class Secret(ResponseBody):
    """The key that signs the webhooks of a workspace."""

    id: str
    value: str = Field(repr=False)
    workspace_id: str


class NewSubscription(RequestBody):
    workspace_id: str
    event_type: str
    target_url: str


class Subscription(ResponseBody):
    id: str
    event_type: str
    target_url: str
    is_enabled: bool
    workspace_id: str


class Confirmation(RequestBody):
    secret: str = Field(repr=False)


class NewMessage(RequestBody):
    recipient_id: str
    body: str
    study_id: str


class NewMessages(RequestBody):
    ids: tuple[str, ...]
    body: str
    study_id: str


class Message(ResponseBody):
    """A message. Two names of the sender and of the time are in use (prolific.md, section 4.7)."""

    id: str
    sender_id: str = Field(validation_alias=AliasChoices("sender_id", "sender"))
    body: str
    sent_at: datetime = Field(validation_alias=AliasChoices("sent_at", "datetime_created"))


class NewBonuses(RequestBody):
    """Bonuses: lines of a submission's id and an amount in whole units of the currency, such as 1.50."""

    study_id: str
    csv_bonuses: str


class Bonuses(ResponseBody):
    """Bonuses that are set up and not yet paid, with the fee, in cents."""

    id: str
    amount: float
    fees: float
    total_amount: float


class Link(ResponseBody):
    href: str | None = None


class Links(ResponseBody):
    next: Link = Link()


Item = TypeVar("Item", bound=ResponseBody)


class Page(ResponseBody, Generic[Item]):
    """A page of a list."""

    results: tuple[Item, ...]
    links: Links = Field(Links(), alias="_links", json_schema_extra={"undocumented": True})


class KeySet(ResponseBody):
    """The public keys with which Prolific signs links, as JSON Web Keys."""

    keys: tuple[dict[str, Any], ...]
