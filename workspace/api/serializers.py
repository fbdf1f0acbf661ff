"""Response formats: each response of the API holds these fields and no others."""

from typing import Any

from rest_framework import serializers

from annotation.session_pay import PayItem
from studies.models import StudyState
from workspace.models import DeliveryState, Scope

Plain = serializers.Serializer[Any]

PUSH_STATES = ("waiting", "running", "pushed", "failed")
IMPORT_STATES = ("waiting", "running", "done", "failed", "cancelled")
EXPORT_STATES = ("waiting", "running", "ready", "failed", "withdrawn")


class MeSerializer(Plain):
    """Whose token this is, and what it opens."""

    username = serializers.CharField()
    token = serializers.CharField(help_text="What its owner called it.")
    scope = serializers.ChoiceField(choices=Scope.choices)
    project = serializers.CharField(allow_null=True, help_text="The only project that it opens; null: all.")
    expires_at = serializers.DateTimeField()


class ProjectSerializer(Plain):
    slug = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(allow_null=True, help_text="Since when it is put away; null: it is not.")
    dataset = serializers.CharField(
        allow_null=True, help_text="The study that keeps the dataset; null where none does, or several: see `datasets`."
    )
    datasets = serializers.ListField(
        child=serializers.CharField(),
        help_text="The studies whose accepted items are the dataset; none: all instances are.",
    )
    instances = serializers.IntegerField()
    studies = serializers.IntegerField()
    answers = serializers.IntegerField(help_text="Answers that count.")


class MemberSerializer(Plain):
    username = serializers.CharField(source="user.get_username")
    name = serializers.CharField(source="user.get_full_name", allow_blank=True)
    role = serializers.CharField()


class InvitationSerializer(Plain):
    id = serializers.IntegerField()
    role = serializers.CharField()
    whom = serializers.CharField(allow_blank=True, help_text="For whom it is, in its maker's words.")
    made_by = serializers.CharField(source="made_by.get_username")
    made_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class NewInvitationSerializer(InvitationSerializer):
    link = serializers.CharField(allow_null=True, help_text="Shown this once: null where the request is asked again.")
    mailed = serializers.BooleanField(help_text="Whether a mail server accepted it.")


class PersonSerializer(Plain):
    """Somebody who has come to a study of the project."""

    name = serializers.CharField(help_text="Their pseudonym in the project.")
    counts = serializers.BooleanField(help_text="Whether their answers count.")
    why_not = serializers.CharField(allow_blank=True, help_text="`withdrawn`, `excluded`, or nothing.")
    since = serializers.DateTimeField(allow_null=True)


class OwedItemSerializer(Plain):
    """One amount that is owed for a session."""

    session = serializers.IntegerField(help_text="The `id` of the session in the list of sessions.")
    item = serializers.ChoiceField(choices=[item.value for item in PayItem])
    times = serializers.IntegerField(help_text="How many sessions, answers or waits it is for.")
    amount = serializers.DecimalField(max_digits=12, decimal_places=2)
    why = serializers.CharField(help_text="How the session ended, and what follows for its pay.")


class OwedSerializer(Plain):
    """What is owed to one person for a study. Amounts are in `currency`, without fees and taxes."""

    name = serializers.CharField(help_text="Their pseudonym in the project.")
    sessions = serializers.IntegerField()
    answers = serializers.IntegerField(help_text="Answers that were stored; each is paid `pay.per_answer`.")
    counted = serializers.IntegerField(help_text="Answers that count.")
    kept_aside = serializers.IntegerField(help_text="Stored answers that do not count.")
    endings = serializers.DictField(child=serializers.IntegerField(), help_text="How sessions ended -> how many.")
    currency = serializers.CharField()
    amount = serializers.DecimalField(max_digits=12, decimal_places=2, help_text="The sum of `items`.")
    to_decide = serializers.IntegerField(help_text="Sessions about whose pay a researcher decides besides.")
    simulated = serializers.BooleanField(help_text="A program played this annotator.")
    why = serializers.CharField()
    items = OwedItemSerializer(many=True, help_text="What `amount` is made of, session by session.")


class FollowedSerializer(Plain):
    """What followed from a change of whose answers count; `sentence` says it."""

    sentence = serializers.CharField()
    answers = serializers.IntegerField(help_text="Answers that count no more, or count again.")
    decisions = serializers.IntegerField(help_text="Questions whose decision is another one now.")
    undone = serializers.IntegerField(help_text="Questions that left the dataset.")
    restored = serializers.IntegerField(help_text="Questions that came back to it.")
    sessions = serializers.IntegerField(help_text="Open sessions that were ended.")
    without_place = serializers.IntegerField(help_text="Answers whose place somebody else has.")
    slots = serializers.IntegerField(help_text="Places that are open to others.")


class SettledSerializer(Plain):
    """What has become of a question that was settled, or of which that was taken back."""

    id = serializers.IntegerField()
    state = serializers.CharField()
    winner = serializers.CharField(allow_blank=True)
    settled_choice = serializers.CharField(allow_blank=True)
    settled_note = serializers.CharField(allow_blank=True)


class UploadSerializer(Plain):
    """Files that are sent in pieces, to be imported: how many bytes of each are there, by name."""

    id = serializers.UUIDField()
    rows = serializers.DictField(child=serializers.IntegerField())
    images = serializers.DictField(child=serializers.IntegerField())


class PieceSerializer(Plain):
    have = serializers.IntegerField(help_text="How many bytes of the file are there now.")


class RowProblemSerializer(Plain):
    file = serializers.CharField()
    record = serializers.IntegerField(allow_null=True)
    field = serializers.CharField(allow_blank=True)
    reason = serializers.CharField()


class ImageUseSerializer(Plain):
    role = serializers.CharField()
    position = serializers.IntegerField()
    filename = serializers.CharField()
    sha256 = serializers.CharField(source="image_id", allow_null=True, help_text="null while its file is awaited.")
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    licence = serializers.CharField(allow_blank=True)
    generator = serializers.CharField(allow_blank=True)


class InstanceSerializer(Plain):
    id = serializers.IntegerField()
    key = serializers.CharField()
    type = serializers.CharField(allow_blank=True)
    subtype = serializers.CharField(allow_blank=True)
    split = serializers.CharField(allow_blank=True)
    captions = serializers.DictField(child=serializers.CharField(allow_blank=True))
    original_captions = serializers.DictField(child=serializers.CharField(allow_blank=True))
    caption_rule = serializers.CharField()
    images = ImageUseSerializer(many=True)
    tags = serializers.ListField(
        source="tags.all", child=serializers.CharField(), help_text="What the project's researchers put on it."
    )
    source_file = serializers.CharField(allow_blank=True)
    source_row = serializers.IntegerField()


class TaggedSerializer(Plain):
    changed = serializers.IntegerField(help_text="How many did not have the tag before, or had it.")


class ImportedSerializer(Plain):
    """What an import did or, with `dry_run`, would do; `sentence` says it."""

    sentence = serializers.CharField()
    records = serializers.IntegerField()
    added = serializers.IntegerField()
    already_there = serializers.IntegerField()
    images = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Places whose image has not been uploaded.")
    corrected = serializers.IntegerField()
    dry_run = serializers.BooleanField()


class ImportSerializer(Plain):
    """An import that is done in the background."""

    id = serializers.IntegerField()
    files = serializers.ListField(child=serializers.CharField())
    format = serializers.CharField()
    mapping = serializers.DictField(
        child=serializers.CharField(), help_text="What each column is, for the format `table`."
    )
    state = serializers.ChoiceField(choices=IMPORT_STATES)
    stage = serializers.CharField(allow_blank=True)
    done = serializers.IntegerField(help_text="Rows so far.")
    total = serializers.IntegerField(help_text="0 while nobody knows.")
    dry_run = serializers.BooleanField()
    results = ImportedSerializer(many=True, help_text="What was done with each file.")
    problems = serializers.IntegerField(help_text="How many bad rows there are; see `problems_url`.")
    problems_url = serializers.CharField(allow_null=True)
    error = serializers.CharField(allow_blank=True)
    requested_by = serializers.CharField()
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class UploadedSerializer(Plain):
    sha256 = serializers.CharField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    format = serializers.CharField()
    byte_size = serializers.IntegerField()


class MissingSerializer(Plain):
    missing = serializers.ListField(child=serializers.CharField())


class StudySerializer(Plain):
    slug = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=StudyState.choices)
    kind = serializers.CharField()
    rule = serializers.CharField()
    purpose = serializers.CharField()
    created_at = serializers.DateTimeField()
    launched_at = serializers.DateTimeField(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)
    completed_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was noticed that all its answers are in; null while some are awaited."
    )
    answers = serializers.IntegerField(help_text="How many answers each question gets by now.")
    most_answers = serializers.IntegerField(help_text="Up to how many an undecided one gets.")


class StudyDetailSerializer(StudySerializer):
    source = serializers.CharField(  # type: ignore[assignment]
        allow_null=True, allow_blank=True, help_text="The study file; null for who may not change drafts."
    )
    take_url = serializers.CharField(
        allow_null=True, help_text="The address for Prolific, which adds its ids; null for who may not hand it out."
    )
    invite_url = serializers.CharField(
        allow_null=True, help_text="The link for invited people; null where the study lets none in."
    )


class PlanSerializer(Plain):
    """What launching would make."""

    questions = serializers.IntegerField()
    surveys = serializers.IntegerField()
    seats = serializers.IntegerField()
    answers = serializers.IntegerField()


class GrownSerializer(Plain):
    """What asking more of a study brought, or would bring."""

    seats = serializers.IntegerField(help_text="More places for people.")
    answers = serializers.IntegerField(help_text="More places for answers.")
    questions = serializers.IntegerField(help_text="New questions.")
    left_out = serializers.IntegerField(help_text="New instances that cannot be asked about yet.")
    decisions = serializers.IntegerField(help_text="Questions that are decided otherwise until more answers are in.")
    undone = serializers.IntegerField(help_text="Questions of later studies that left the dataset.")
    restored = serializers.IntegerField(help_text="Questions of later studies that are back in the dataset.")


class CheckedSerializer(Plain):
    slug = serializers.CharField()
    title = serializers.CharField()
    plan = PlanSerializer(allow_null=True, help_text="null: it could be a draft, but not be launched; see `obstacles`.")
    obstacles = serializers.ListField(child=serializers.CharField(), help_text="What stands in the way of a launch.")


class SeatsSerializer(Plain):
    free = serializers.IntegerField()
    taken = serializers.IntegerField()
    filled = serializers.IntegerField()


class GivenSerializer(Plain):
    given = serializers.IntegerField()
    wanted = serializers.IntegerField()


class QuestionsSerializer(Plain):
    asked = serializers.IntegerField()
    progress = serializers.DictField(child=serializers.IntegerField())
    outcomes = serializers.DictField(child=serializers.IntegerField())
    settled = serializers.IntegerField()


class ProgressSerializer(Plain):
    """How far a study is. Of a large one it is counted in the background: `as_of` says when, null: now."""

    answers = GivenSerializer(allow_null=True)
    seats = SeatsSerializer(allow_null=True)
    questions = QuestionsSerializer(allow_null=True)
    items = serializers.DictField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Items by their outcome: instances or, where the study asks about parts of these, the parts.",
    )
    as_of = serializers.DateTimeField(allow_null=True)


class SessionSerializer(Plain):
    id = serializers.IntegerField()
    worker = serializers.CharField(help_text="The annotator's pseudonym in the project.", allow_blank=True)
    state = serializers.CharField()
    answered = serializers.IntegerField()
    total = serializers.IntegerField()
    arrived_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    comment = serializers.CharField(allow_blank=True)


class ResponseSerializer(Plain):
    """A counted answer, under the columns of the export `responses` (docs/exports.md)."""

    task = serializers.CharField()
    worker = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    answer = serializers.CharField(allow_null=True, help_text="JSON, where it says more than the label.")
    version = serializers.IntegerField()
    is_current = serializers.BooleanField()
    counted = serializers.BooleanField()
    left_out = serializers.CharField(allow_blank=True)
    simulated = serializers.BooleanField(allow_null=True)
    shown_order = serializers.ListField(child=serializers.CharField())
    received_at = serializers.CharField(help_text="ISO 8601, UTC.")
    first_choice_ms = serializers.IntegerField(allow_null=True)
    send_ms = serializers.IntegerField(allow_null=True)
    hidden_ms = serializers.IntegerField(allow_null=True)
    changes_of_mind = serializers.IntegerField(allow_null=True)
    window_width = serializers.IntegerField(allow_null=True)
    window_height = serializers.IntegerField(allow_null=True)
    unmeasured = serializers.CharField(allow_blank=True)
    survey = serializers.IntegerField(allow_null=True)
    seat = serializers.IntegerField(allow_null=True)
    session = serializers.CharField()
    study = serializers.CharField()
    kind = serializers.CharField()
    right = serializers.CharField(allow_blank=True)
    key = serializers.CharField()
    response = serializers.CharField()


class DecisionSerializer(Plain):
    """What has become of a question, under the columns of the export `decisions` (docs/exports.md)."""

    id = serializers.IntegerField(help_text="By which it is settled.")
    task = serializers.CharField()
    study = serializers.CharField()
    kind = serializers.CharField()
    outcome = serializers.CharField()
    progress = serializers.CharField()
    rule = serializers.CharField()
    winner = serializers.CharField(allow_blank=True)
    right = serializers.CharField(allow_blank=True)
    answers = serializers.IntegerField()
    wanted = serializers.IntegerField()
    votes = serializers.DictField(child=serializers.IntegerField())
    settled = serializers.BooleanField()
    decided_at = serializers.CharField(allow_null=True)
    simulated = serializers.BooleanField()
    key = serializers.CharField()


class RatingsSerializer(Plain):
    """The ratings of one kind of question, image role and category of instances; mean and spread in steps."""

    kind = serializers.CharField()
    role = serializers.CharField(help_text="The image role that was rated.")
    asked = serializers.CharField(allow_blank=True, help_text="Which of several things asked at once.")
    type = serializers.CharField(allow_blank=True, help_text="`all` for all instances.")
    subtype = serializers.CharField(allow_blank=True)
    answers = serializers.IntegerField()
    people = serializers.IntegerField()
    instances = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True, help_text="95 % interval, by person and instance.")
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True, help_text="Why there is no interval; empty where there is one.")
    sd = serializers.FloatField(allow_null=True, help_text="Sample standard deviation.")
    steps = serializers.DictField(child=serializers.IntegerField(), help_text="Step -> how often it was chosen.")


class AllRatingsSerializer(Plain):
    """The ratings of a study. Those of a large one are counted in the background: `as_of` says when, null: now.

    `ratings` is null until then.
    """

    ratings = RatingsSerializer(many=True, allow_null=True)
    as_of = serializers.DateTimeField(allow_null=True)


class PredictionSerializer(Plain):
    """What a model said, under the columns of the export `predictions` (docs/exports.md).

    Without `about`: whether people were asked the same takes a look at all of the project.
    """

    task = serializers.CharField()
    model = serializers.CharField()
    version = serializers.CharField(allow_blank=True)
    weights = serializers.CharField(allow_blank=True)
    kind = serializers.CharField()
    variant = serializers.CharField(allow_blank=True)
    caption_rule = serializers.CharField()
    is_right = serializers.BooleanField(allow_null=True)
    scores = serializers.DictField(child=serializers.FloatField(), allow_null=True)
    key = serializers.CharField()
    content_hash = serializers.CharField(
        allow_blank=True,
        help_text="Of what the model was shown; empty where a file names no pictures.",
    )
    conditions = serializers.CharField(
        allow_blank=True, help_text="The digest of what it was computed under; empty where it comes from a file."
    )


class PredictionsImportedSerializer(Plain):
    sentence = serializers.CharField()
    model = serializers.CharField()
    rows = serializers.IntegerField()
    added = serializers.IntegerField()
    already_there = serializers.IntegerField()
    left_out = serializers.ListField(child=serializers.CharField())
    dry_run = serializers.BooleanField()


class ExportSerializer(Plain):
    id = serializers.IntegerField()
    study = serializers.CharField()
    release = serializers.CharField(allow_null=True)
    format = serializers.CharField()
    state = serializers.ChoiceField(choices=EXPORT_STATES)
    rows_done = serializers.IntegerField()
    rows_total = serializers.IntegerField(help_text="0 while nobody knows.")
    error = serializers.CharField(allow_blank=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    file_url = serializers.CharField(allow_null=True, help_text="Where its file is fetched; null while there is none.")


class ReleaseSerializer(Plain):
    name = serializers.CharField()
    study = serializers.CharField()
    studies = serializers.ListField(
        child=serializers.CharField(), help_text="The studies whose accepted items it holds: several of one dataset."
    )
    made_at = serializers.DateTimeField()
    description = serializers.CharField(allow_blank=True)
    licence = serializers.CharField(allow_blank=True)
    citation = serializers.CharField(allow_blank=True)
    sha256 = serializers.CharField(allow_blank=True, help_text="Of its rows; empty until they are frozen.")
    instances = serializers.IntegerField(help_text="Accepted items: instances, or parts of them.")
    responses = serializers.IntegerField()
    exports = ExportSerializer(many=True)


class EventSerializer(Plain):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    who = serializers.CharField()
    what = serializers.CharField(help_text="The rest of a sentence about them.")
    event = serializers.CharField(help_text="The sort of event, such as `study launched`.")
    study = serializers.CharField(allow_blank=True)


class WebhookSerializer(Plain):
    id = serializers.IntegerField()
    url = serializers.CharField()
    topics = serializers.ListField(child=serializers.CharField())
    made_at = serializers.DateTimeField()
    answered_at = serializers.DateTimeField(allow_null=True, help_text="When it last took a message.")
    off_at = serializers.DateTimeField(allow_null=True, help_text="Since when it is told nothing; null: it is told.")
    off_because = serializers.CharField(allow_blank=True)


class WebhookKeySerializer(Plain):
    key = serializers.CharField(help_text="`whsec_` and 32 bytes in base64, as libraries of Standard Webhooks take it.")


class DeliverySerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField(help_text="What stands in the header `webhook-id`.")
    webhook = serializers.IntegerField(source="webhook_id")
    topic = serializers.CharField()
    body = serializers.CharField()
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    attempts = serializers.IntegerField()
    made_at = serializers.DateTimeField()
    tried_at = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(allow_null=True, help_text="When it is tried next; null: it is over.")
    status = serializers.IntegerField(allow_null=True, help_text="Of the last answer; null: none came.")
    answer = serializers.CharField(allow_blank=True, help_text="The beginning of the last answer.")
    problem = serializers.CharField(allow_blank=True, help_text="Why the last attempt failed.")


class HubPushSerializer(Plain):
    id = serializers.IntegerField()
    release = serializers.CharField()
    repository = serializers.CharField()
    state = serializers.ChoiceField(choices=PUSH_STATES)
    bytes_done = serializers.IntegerField()
    bytes_total = serializers.IntegerField(help_text="0 while nobody knows.")
    error = serializers.CharField(allow_blank=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    url = serializers.CharField(allow_null=True, help_text="Of the commit; null while there is none.")
