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
    """The owner and the scope of a token."""

    username = serializers.CharField()
    token = serializers.CharField(help_text="Its name, given by the owner.")
    scope = serializers.ChoiceField(choices=Scope.choices)
    project = serializers.CharField(
        allow_null=True, help_text="The only project that the token can open; null for all of its owner's projects."
    )
    expires_at = serializers.DateTimeField()


class ProjectSerializer(Plain):
    slug = serializers.CharField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()
    archived_at = serializers.DateTimeField(allow_null=True, help_text="When it was archived; null if it is not.")
    dataset = serializers.CharField(
        allow_null=True,
        help_text="The study whose accepted items are the dataset; null for none or several, see `datasets`.",
    )
    datasets = serializers.ListField(
        child=serializers.CharField(),
        help_text="The studies whose accepted items are the dataset. If empty, all instances are the dataset.",
    )
    instances = serializers.IntegerField()
    studies = serializers.IntegerField()
    answers = serializers.IntegerField(help_text="Counted answers.")


class MemberSerializer(Plain):
    username = serializers.CharField(source="user.get_username")
    name = serializers.CharField(source="user.get_full_name", allow_blank=True)
    role = serializers.CharField()


class InvitationSerializer(Plain):
    id = serializers.IntegerField()
    role = serializers.CharField()
    whom = serializers.CharField(allow_blank=True, help_text="A note on whom it is for.")
    made_by = serializers.CharField(source="made_by.get_username")
    made_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class NewInvitationSerializer(InvitationSerializer):
    link = serializers.CharField(allow_null=True, help_text="Shown only once; null if the request is repeated.")
    mailed = serializers.BooleanField(help_text="Whether a mail server accepted the mail with the link.")


class PersonSerializer(Plain):
    """An annotator who has a session in the project."""

    name = serializers.CharField(help_text="The annotator's pseudonym in the project.")
    counts = serializers.BooleanField(help_text="Whether the annotator's answers count.")
    why_not = serializers.CharField(allow_blank=True, help_text="`withdrawn`, `excluded` or empty.")
    since = serializers.DateTimeField(allow_null=True)


class OwedItemSerializer(Plain):
    """One amount owed for a session."""

    session = serializers.IntegerField(help_text="The `id` of the session in the list of sessions.")
    item = serializers.ChoiceField(choices=[item.value for item in PayItem])
    times = serializers.IntegerField(help_text="Number of sessions, answers or waits paid for.")
    amount = serializers.DecimalField(max_digits=12, decimal_places=2)
    why = serializers.CharField(help_text="How the session ended, and what that means for its pay.")


class OwedSerializer(Plain):
    """The amount owed to one annotator of a study, in `currency`, excluding fees and taxes."""

    name = serializers.CharField(help_text="The annotator's pseudonym in the project.")
    sessions = serializers.IntegerField()
    answers = serializers.IntegerField(help_text="Stored answers; each is paid `pay.per_answer`.")
    counted = serializers.IntegerField(help_text="Counted answers.")
    kept_aside = serializers.IntegerField(help_text="Stored answers that do not count.")
    endings = serializers.DictField(child=serializers.IntegerField(), help_text="End state -> number of sessions.")
    currency = serializers.CharField()
    amount = serializers.DecimalField(max_digits=12, decimal_places=2, help_text="The sum of `items`.")
    to_decide = serializers.IntegerField(help_text="Further sessions whose pay a researcher has to decide.")
    simulated = serializers.BooleanField(help_text="Whether the annotator is simulated.")
    why = serializers.CharField()
    items = OwedItemSerializer(many=True, help_text="The parts of `amount`, session by session.")


class FollowedSerializer(Plain):
    """The effects of a change to whether an annotator's answers count; `sentence` sums them up."""

    sentence = serializers.CharField()
    answers = serializers.IntegerField(help_text="Answers that no longer count, or count again.")
    decisions = serializers.IntegerField(help_text="Questions whose decision changed.")
    undone = serializers.IntegerField(help_text="Questions of later studies that were undone.")
    restored = serializers.IntegerField(help_text="Questions of later studies that were restored.")
    sessions = serializers.IntegerField(help_text="Open sessions that ended.")
    without_place = serializers.IntegerField(help_text="Answers whose place another annotator has taken.")
    slots = serializers.IntegerField(help_text="Places for answers that are now open to others.")


class SettledSerializer(Plain):
    """The decision on a question after it was settled or unsettled."""

    id = serializers.IntegerField()
    state = serializers.CharField()
    winner = serializers.CharField(allow_blank=True)
    settled_choice = serializers.CharField(allow_blank=True)
    settled_note = serializers.CharField(allow_blank=True)


class UploadSerializer(Plain):
    """Files uploaded in pieces for an import: name of each file -> bytes received."""

    id = serializers.UUIDField()
    rows = serializers.DictField(child=serializers.IntegerField())
    images = serializers.DictField(child=serializers.IntegerField())


class PieceSerializer(Plain):
    have = serializers.IntegerField(help_text="Bytes of the file received so far.")


class RowProblemSerializer(Plain):
    file = serializers.CharField()
    record = serializers.IntegerField(allow_null=True)
    field = serializers.CharField(allow_blank=True)
    reason = serializers.CharField()


class ImageUseSerializer(Plain):
    role = serializers.CharField()
    position = serializers.IntegerField()
    filename = serializers.CharField()
    sha256 = serializers.CharField(source="image_id", allow_null=True, help_text="null while the image is missing.")
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
        source="tags.all", child=serializers.CharField(), help_text="Tags set by the project's members."
    )
    source_file = serializers.CharField(allow_blank=True)
    source_row = serializers.IntegerField()


class TaggedSerializer(Plain):
    changed = serializers.IntegerField(help_text="Number of instances that were tagged or untagged.")


class ImportedSerializer(Plain):
    """What an import did or, with `dry_run`, would do; `sentence` sums it up."""

    sentence = serializers.CharField()
    records = serializers.IntegerField()
    added = serializers.IntegerField()
    already_there = serializers.IntegerField()
    images = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Images of instances that are still missing.")
    corrected = serializers.IntegerField()
    dry_run = serializers.BooleanField()


class ImportSerializer(Plain):
    """A background import."""

    id = serializers.IntegerField()
    files = serializers.ListField(child=serializers.CharField())
    format = serializers.CharField()
    mapping = serializers.DictField(
        child=serializers.CharField(), help_text="Column -> what it becomes, for the format `table`."
    )
    changes = serializers.IntegerField(
        allow_null=True, help_text="The import whose mapping this changes, without adding anything."
    )
    state = serializers.ChoiceField(choices=IMPORT_STATES)
    stage = serializers.CharField(allow_blank=True)
    done = serializers.IntegerField(help_text="Rows read so far.")
    total = serializers.IntegerField(help_text="All rows; 0 while unknown.")
    dry_run = serializers.BooleanField()
    results = ImportedSerializer(many=True, help_text="The result of each file.")
    problems = serializers.IntegerField(help_text="Number of bad rows, listed at `problems_url`.")
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
        allow_null=True, help_text="When all its answers were found to be in; null until then."
    )
    answers = serializers.IntegerField(help_text="Answers wanted per question at present.")
    most_answers = serializers.IntegerField(help_text="Most answers that an undecided question gets.")


class StudyDetailSerializer(StudySerializer):
    source = serializers.CharField(  # type: ignore[assignment]
        allow_null=True, allow_blank=True, help_text="The study file; null for members who may not change drafts."
    )
    take_url = serializers.CharField(
        allow_null=True, help_text="The URL for Prolific, which adds its ids; null for members who may not share it."
    )
    invite_url = serializers.CharField(
        allow_null=True,
        help_text="The invite link; null for members who may not share it, and if the study has none.",
    )


class PlanSerializer(Plain):
    """What a launch would create."""

    questions = serializers.IntegerField()
    surveys = serializers.IntegerField()
    seats = serializers.IntegerField()
    answers = serializers.IntegerField()


class GrownSerializer(Plain):
    """The effects of extending a study, or the expected effects."""

    seats = serializers.IntegerField(help_text="Added places for people.")
    answers = serializers.IntegerField(help_text="Added places for answers.")
    questions = serializers.IntegerField(help_text="Added questions.")
    left_out = serializers.IntegerField(help_text="New instances that cannot be asked about yet.")
    decisions = serializers.IntegerField(help_text="Questions whose decision changed until more answers are in.")
    undone = serializers.IntegerField(help_text="Questions of downstream studies that left the dataset.")
    restored = serializers.IntegerField(help_text="Questions of downstream studies that returned to the dataset.")


class CheckedSerializer(Plain):
    slug = serializers.CharField()
    title = serializers.CharField()
    plan = PlanSerializer(allow_null=True, help_text="null if it could be saved but not launched; see `obstacles`.")
    obstacles = serializers.ListField(child=serializers.CharField(), help_text="What prevents a launch.")


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
    """Progress of a study. That of a large study is counted in the background: `as_of` is its time (null: now)."""

    answers = GivenSerializer(allow_null=True)
    seats = SeatsSerializer(allow_null=True)
    questions = QuestionsSerializer(allow_null=True)
    items = serializers.DictField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Outcome -> number of items: instances or, if the study asks about parts of them, the parts.",
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
    """A counted answer, with the columns of the export `responses` (docs/exports.md)."""

    task = serializers.CharField()
    worker = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    answer = serializers.CharField(
        allow_null=True, help_text="The whole answer as JSON; null if the label says it all."
    )
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
    """The decision on a question, with the columns of the export `decisions` (docs/exports.md) but its posterior."""

    id = serializers.IntegerField(help_text="The id that `settle` and `unsettle` take.")
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
    soft_labels = serializers.DictField(
        child=serializers.FloatField(), help_text="Option -> share of the counted answers."
    )


class RatingsSerializer(Plain):
    """Ratings of one question kind, image role and category of instances; mean and standard deviation in steps."""

    kind = serializers.CharField()
    role = serializers.CharField(help_text="The image role that was rated.")
    asked = serializers.CharField(
        allow_blank=True, help_text="The part of the question, if it asks several things at once."
    )
    type = serializers.CharField(allow_blank=True, help_text="`all` for all instances.")
    subtype = serializers.CharField(allow_blank=True)
    answers = serializers.IntegerField()
    people = serializers.IntegerField()
    instances = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(
        allow_null=True, help_text="Lower limit of the 95 % interval, clustered by person and instance."
    )
    high = serializers.FloatField(allow_null=True, help_text="Upper limit of the same interval.")
    reason = serializers.CharField(allow_blank=True, help_text="Why there is no interval; empty if there is one.")
    sd = serializers.FloatField(allow_null=True, help_text="Sample standard deviation.")
    steps = serializers.DictField(child=serializers.IntegerField(), help_text="Step -> number of answers.")


class AllRatingsSerializer(Plain):
    """Ratings of a study. Those of a large study are counted in the background: `as_of` is their time (null: now).

    `ratings` is null until then.
    """

    ratings = RatingsSerializer(many=True, allow_null=True)
    as_of = serializers.DateTimeField(allow_null=True)


class PredictionSerializer(Plain):
    """A model's answer, with the columns of the export `predictions` (docs/exports.md).

    It lacks `about`, which would need a comparison with all questions of the project.
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
        help_text="SHA-256 of what the model was shown; empty for a file that names no images.",
    )
    conditions = serializers.CharField(
        allow_blank=True, help_text="Digest of the conditions of the computation; empty for scores from a file."
    )
    trained_here = serializers.BooleanField(help_text="Whether the model was trained on data of this project.")


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
    rows_total = serializers.IntegerField(help_text="All rows; 0 while unknown.")
    error = serializers.CharField(allow_blank=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    file_url = serializers.CharField(allow_null=True, help_text="Where to download the file; null while there is none.")


class ReleaseSerializer(Plain):
    name = serializers.CharField()
    study = serializers.CharField()
    studies = serializers.ListField(
        child=serializers.CharField(), help_text="The studies whose accepted items it contains."
    )
    made_at = serializers.DateTimeField()
    description = serializers.CharField(allow_blank=True)
    licence = serializers.CharField(allow_blank=True)
    citation = serializers.CharField(allow_blank=True)
    sha256 = serializers.CharField(allow_blank=True, help_text="SHA-256 of its rows; empty until they are frozen.")
    instances = serializers.IntegerField(help_text="Accepted items: instances, or parts of them.")
    responses = serializers.IntegerField()
    exports = ExportSerializer(many=True)


class EventSerializer(Plain):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    who = serializers.CharField()
    what = serializers.CharField(help_text="The rest of the sentence that begins with `who`.")
    event = serializers.CharField(help_text="The type of event, such as `study launched`.")
    study = serializers.CharField(allow_blank=True)


class WebhookSerializer(Plain):
    id = serializers.IntegerField()
    url = serializers.CharField()
    topics = serializers.ListField(child=serializers.CharField())
    made_at = serializers.DateTimeField()
    answered_at = serializers.DateTimeField(allow_null=True, help_text="When it last accepted a message.")
    off_at = serializers.DateTimeField(allow_null=True, help_text="When it was switched off; null while it is on.")
    off_because = serializers.CharField(allow_blank=True)


class WebhookKeySerializer(Plain):
    key = serializers.CharField(help_text="`whsec_` and 32 bytes in base64, the format of Standard Webhooks.")


class DeliverySerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField(help_text="The value of the header `webhook-id`.")
    webhook = serializers.IntegerField(source="webhook_id")
    topic = serializers.CharField()
    body = serializers.CharField()
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    attempts = serializers.IntegerField()
    made_at = serializers.DateTimeField()
    tried_at = serializers.DateTimeField(allow_null=True)
    due_at = serializers.DateTimeField(
        allow_null=True, help_text="When the next attempt is due; null if there is none."
    )
    status = serializers.IntegerField(
        allow_null=True, help_text="HTTP status of the last response; null if there was none."
    )
    answer = serializers.CharField(allow_blank=True, help_text="The beginning of the last response.")
    problem = serializers.CharField(allow_blank=True, help_text="Why the last attempt failed.")


class HubPushSerializer(Plain):
    id = serializers.IntegerField()
    release = serializers.CharField()
    repository = serializers.CharField()
    state = serializers.ChoiceField(choices=PUSH_STATES)
    bytes_done = serializers.IntegerField()
    bytes_total = serializers.IntegerField(help_text="All bytes; 0 while unknown.")
    error = serializers.CharField(allow_blank=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    url = serializers.CharField(allow_null=True, help_text="URL of the commit; null while there is none.")


class ModelPushSerializer(Plain):
    id = serializers.IntegerField()
    training = serializers.IntegerField(help_text="The training run of the model.")
    repository = serializers.CharField()
    licence = serializers.CharField(allow_blank=True)
    with_weights = serializers.BooleanField()
    state = serializers.ChoiceField(choices=PUSH_STATES)
    error = serializers.CharField(allow_blank=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    card_url = serializers.CharField(
        allow_null=True, help_text="URL of the commit with the model card; null while there is none."
    )
    url = serializers.CharField(allow_null=True, help_text="URL of the last commit; null until the push has ended.")
