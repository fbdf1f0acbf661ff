"""Project events in plain sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet

from annotation.models import Payment, Session, Submission
from annotation.recruitment.prolific.statuses import RejectionCategory
from annotation.rejection_rules import CATEGORIES
from results.exporting.rows import NotedEvent
from results.models import Pseudonym
from studies.actions.events import What
from studies.kinds import KINDS, get_kind
from studies.models import Event, Project, Study
from studies.wording import format_count

EVENTS_PER_PAGE = 50
EVENTS_ABOUT_PEOPLE = 20
CHUNK = 1000
ABOUT_PEOPLE = (
    What.ANNOTATOR_WITHDRAWN,
    What.ANNOTATOR_EXCLUDED,
    What.ANNOTATOR_LET_BACK,
    What.SLOTS_REOPENED,
    What.ANNOTATOR_FORGOTTEN,
)
# Events about the data, which are exported. Events that concern only the project are not: members, webhooks, downloads,
# working notes, requests in progress, policies (the pause is exported, what it cost is not), and single sessions, whose
# time and number of answers would identify people.
DONE_TO_DATA = (
    *(What.INSTANCES_IMPORTED, What.MAPPING_CHANGED, What.PIPELINE_FINISHED, What.PIPELINE_DELETED),
    *(What.PREDICTIONS_IMPORTED, What.PREDICTIONS_COMPUTED),
    *(What.MODEL_TRAINED, What.MODEL_RENAMED),
    *(What.MODEL_DELETED, What.DATASET_SET, What.STUDY_CREATED, What.STUDY_DUPLICATED, What.STUDY_CHANGED),
    *(
        What.LAUNCH_REQUESTED,
        What.STUDY_LAUNCHED,
        What.STUDY_PAUSED,
        What.STUDY_RESUMED,
        What.STUDY_CLOSED,
        What.STUDY_COMPLETED,
    ),
    *(What.MORE_ANSWERS_WANTED, What.MOST_ANSWERS_RAISED, What.INSTANCES_TAKEN_UP, What.QUESTION_SETTLED),
    *(What.QUESTION_UNSETTLED, What.QUESTION_TAKEN_OUT, What.QUESTION_PUT_BACK, *ABOUT_PEOPLE),
    *(What.ANSWERS_SIMULATED, What.STUDY_REPLAYED),
)
# Recorded for each question, also where a whole instance is taken out or put back.
ABOUT_QUESTIONS = frozenset({What.QUESTION_TAKEN_OUT, What.QUESTION_PUT_BACK})
EFFECTS = ("answers", "decisions", "undone", "restored")
# Subjects of events whose first word says too little on a page, in words.
SUBJECTS = {
    "completion": "end of a study",
    "consent": "consent text",
    "delivery": "webhook message",
    "more": "more answers",
    "most": "limit of answers",
    "networks": "shared networks",
    "personal": "personal data",
    "provider": "IDs of people",
    "push": "push to the Hub",
    "seat": "released place",
    "session": "expired place",
    "slots": "place opened again",
    "submission": "submission on Prolific",
    "times": "accepted times",
}
# Exported instead of an annotator, and of a researcher's text, which may be about one.
AN_ANNOTATOR, KEPT_REASON = "an annotator", "the reason stays in the project"
Details = Mapping[str, Any]


@dataclass(frozen=True)
class EventLine:
    """An event: who, what they did as the rest of a sentence, and when."""

    who: str
    what: str
    at: datetime


def event_lines(project: Project, page: Any, *, by: str = "", study: str = "", about: str = "") -> Page[Event]:
    """Return one page of the events of `project`, newest first, as EventLines.

    by, study: only of somebody or a study with this name. about: only with this subject, such as "instances".
    """
    events = Event.objects.filter(project=project).select_related("study")
    if by:
        events = events.filter(by_name=by)
    if study:
        events = events.filter(study_name=study)
    if about:
        events = events.filter(what__startswith=f"{about} ")
    found: Page[Any] = Paginator(events, EVENTS_PER_PAGE).get_page(page)
    found.object_list = lines_of(project, list(found.object_list))
    return found


def event_facets(project: Project) -> dict[str, list[str]]:
    """Return each argument of `event_lines` that selects events of `project` -> its values, sorted."""
    rows = Event.objects.filter(project=project).order_by().values_list("by_name", "study_name", "what").distinct()
    found: dict[str, set[str]] = {"by": set(), "study": set(), "about": set()}
    for by, study, what in rows:
        found["by"].add(by)
        found["study"].add(study)
        found["about"].add(what.partition(" ")[0])
    return {name: sorted(values - {""}) for name, values in found.items()}


def latest_events(project: Project, most: int) -> list[EventLine]:
    """Return the latest events of `project`, newest first."""
    return lines_of(project, list(Event.objects.filter(project=project).select_related("study")[:most]))


def events_about_people(project: Project, *, study: Study | None = None) -> list[EventLine]:
    """Return the latest events of `project` about whose answers count, newest first.

    study: only about people with a session of it.
    """
    events = Event.objects.filter(project=project, what__in=ABOUT_PEOPLE).select_related("study")
    if study is None:
        return lines_of(project, list(events[:EVENTS_ABOUT_PEOPLE]))
    people = Session.objects.filter(study=study, annotator__in={event.details.get("annotator") for event in events})
    here = set(people.values_list("annotator", flat=True))
    about = [event for event in events if event.details.get("annotator") in here]
    return lines_of(project, about[:EVENTS_ABOUT_PEOPLE])


def lines_of(project: Project, events: Sequence[Event]) -> list[EventLine]:
    """Return `events` of `project`, read with their studies, as sentences; annotators by pseudonym."""
    people = {event.details["annotator"] for event in events if "annotator" in event.details}
    named = Pseudonym.objects.filter(project=project, annotator__in=people) if people else Pseudonym.objects.none()
    names = dict(named.values_list("annotator_id", "name"))
    for event in events:
        if "annotator" in event.details:
            # Stored under a number that leads nowhere once they are erased.
            event.details["annotator"] = names.get(event.details["annotator"], "an erased annotator")
    return [_line(event) for event in _one_per_instance(events)]


def _one_per_instance(events: Sequence[Event]) -> list[Event]:
    """Return `events` with those about the questions of an instance that were taken out, or put back, at once as one.

    It stands where the first of them did, with their studies and the sums of their effects.
    """
    together: dict[object, list[Event]] = {}
    for event in events:
        is_known = event.what in ABOUT_QUESTIONS and "instance" in event.details
        about = (event.what, event.at, event.by_id, event.by_name, event.details["instance"]) if is_known else event.pk
        together.setdefault(about, []).append(event)
    for first, *others in together.values():
        if others:
            alike = [first, *others]
            first.details = {
                **first.details,
                **{name: sum(event.details.get(name, 0) for event in alike) for name in EFFECTS},
                "questions": len(alike),
                "studies": ", ".join(sorted({_study_of(event) for event in alike})),
            }
    return [first for first, *_ in together.values()]


def events_about_data(project: Project, studies: Sequence[Study]) -> QuerySet[Event]:
    """Return the events about the data of `studies` and of all of `project`, oldest first."""
    about = Q(study__in=[study.pk for study in studies]) | Q(study=None, study_name="")
    found = Event.objects.filter(about, project=project, what__in=DONE_TO_DATA)
    return found.select_related("study").order_by("at", "pk")


def noted_events(project: Project, studies: Sequence[Study]) -> Iterator[NotedEvent]:
    """Yield the events as exported, without names.

    All annotators share one name, researchers are numbered in order of appearance, and free text is left out.
    """
    researchers: dict[int, str] = {}
    for event in events_about_data(project, studies).iterator(chunk_size=CHUNK):
        kept = {"annotator": AN_ANNOTATOR, "reason": KEPT_REASON}
        event.details |= {name: word for name, word in kept.items() if name in event.details}
        line = _line(event)
        who = line.who
        if event.by_id is not None:
            who = researchers.setdefault(event.by_id, f"researcher {len(researchers) + 1}")
        yield NotedEvent(line.at, who, line.what, _study_of(event), event.what)


def _study_of(event: Event) -> str:
    # Earlier versions left the name out.
    return event.study_name or (event.study.slug if event.study else "")


def _line(event: Event) -> EventLine:
    who = event.by_name if event.by_id else f"The {event.by_name}"
    study = _study_of(event)
    try:
        return EventLine(who, SENTENCES[What(event.what)](study, event.details), event.at)
    except (KeyError, ValueError):
        # From another version of Lineup: what is known is shown.
        return EventLine(who, f"did this: {event.what}{f', {study}' if study else ''}", event.at)


def _say_import(study: str, told: Details) -> str:
    files = [
        f"notes on {format_count(file['noted'], 'description')} from {file['file']}"
        if file.get("noted")
        else f"{format_count(file['added'], 'instance')} from {file['file']}"
        for file in told["files"]
    ]
    return f"imported {', '.join(files)}"


def _say_import_request(verb: str) -> Callable[[str, Details], str]:
    """Return a sentence about the import or the check of files."""
    return lambda study, told: f"{verb} {'a check' if told.get('is_check') else 'the import'} of {told['files']}"


def _say_duplicate(study: str, told: Details) -> str:
    again = f", about {format_count(told['instances'], 'instance')}" if "instances" in told else ""
    return f"created {study}, a copy of {told['original']}{again}"


def _dataset(study: str, told: Details) -> str:
    studies = told.get("studies") or study
    return f"made the accepted items of {studies} the dataset" if studies else "made all instances the dataset"


def _say_extension(study: str, told: Details) -> str:
    followed = f"; {format_count(told['decisions'], 'decision')} changed for now" if told["decisions"] else ""
    return f"requested {format_count(told['more'], 'more answer')} to each question of {study}{followed}"


def _completion(study: str, told: Details) -> str:
    then = [word for word, is_so in (("closes", told["closes"]), ("mails", told["mails"])) if is_so]
    return f"chose what happens when all answers to {study} are in: {'it ' + ' and '.join(then) if then else 'nothing'}"


def _say_model_run(template: str) -> Callable[[str, Details], str]:
    """Return a sentence about a model run: on the questions of a study, or of a kind about all instances."""

    def sentence(study: str, told: Details) -> str:
        kind = told["kind"]
        asked = f"all instances: {get_kind(kind).title}" if kind in KINDS else f"all {kind}"
        return template.format(model=told["model"], about=study or asked)

    return sentence


def _say_computation(study: str, told: Details) -> str:
    wrong = f"; {format_count(told['wrong'], 'question')} could not be scored" if told["wrong"] else ""
    return f"computed {format_count(told['predictions'], 'prediction')} of {told['model']}{wrong}"


def _say_export_request(study: str, told: Details) -> str:
    chosen = f", of {format_count(told['instances'], 'chosen instance')}" if "instances" in told else ""
    return f"requested the {told['format']} export of {study}{chosen}"


def _say_export(study: str, told: Details) -> str:
    return f"exported {study or 'the whole project'} as {told['format']}, {format_count(told['rows'], 'row')}"


def _say_effects(template: str, groups: str = "") -> Callable[[str, Details], str]:
    """Return a sentence about a person or a question, with the effects; `groups`: how it changed their groups."""

    def sentence(study: str, told: Details) -> str:
        followed = [
            format_count(told["answers"], "answer"),
            f"{format_count(told['decisions'], 'decision')} changed",
        ]
        if told["undone"]:
            followed.append(f"{format_count(told['undone'], 'question')} of later studies undone")
        if told["restored"]:
            followed.append(f"{format_count(told['restored'], 'question')} of later studies restored")
        # Events of older versions do not have it.
        if named := told.get("groups"):
            followed.append(f"{groups} the group{'' if len(named) == 1 else 's'} {', '.join(named)}")
        return f"{template.format_map({'study': study, **told})}: {', '.join(followed)}"

    return sentence


def _say_questions(template: str) -> Callable[[str, Details], str]:
    """Return a sentence about a question, or about several of one instance (`_one_per_instance`), with the effects."""
    say = _say_effects(template)

    def sentence(study: str, told: Details) -> str:
        questions = format_count(told["questions"], "question") if "questions" in told else "a question"
        return say(study, {"studies": study, **told, "questions": questions})

    return sentence


def _say_erasure(study: str, told: Details) -> str:
    releases = "".join(f"; the rows of {each['name']} are now {each['sha256'][:12]}" for each in told["releases"])
    return f"deleted all data of an annotator, {format_count(told['responses'], 'answer')}{releases}"


class _Number(int):
    """A number that a template can count things with: "{answers:answer}" is "1 answer" or "2 answers"."""

    def __format__(self, noun: str) -> str:
        return super().__format__(noun) if noun in ("", ",") else format_count(self, noun)


def _say_numbers(template: str) -> Callable[[str, Details], str]:
    """Return a sentence that contains only names and numbers."""

    def sentence(study: str, told: Details) -> str:
        numbers = {name: _Number(value) for name, value in told.items() if type(value) is int}
        return template.format_map({"study": study, **told, **numbers})

    return sentence


def _say_flag(template: str) -> Callable[[str, Details], str]:
    """Return a sentence that names what does not fit, in words."""
    return lambda study, told: template.format(study=study, flag=Submission.Flag(told["flag"]).label)


def _say_reasons(template: str) -> Callable[[str, Details], str]:
    """Return a sentence that names the reasons of payments, in words."""

    def sentence(study: str, told: Details) -> str:
        reasons = (Payment.Reason(reason).label.lower() for reason in told["reasons"].split(", "))
        return _say_numbers(template)(study, {**told, "reasons": ", ".join(reasons)})

    return sentence


def _say_rejection(template: str) -> Callable[[str, Details], str]:
    """Return a sentence that names the category of a rejection, in words."""

    def sentence(study: str, told: Details) -> str:
        category = CATEGORIES[RejectionCategory(told["category"])]
        return _say_numbers(template)(study, {**told, "category": category})

    return sentence


def _say_invitation(template: str) -> Callable[[str, Details], str]:
    return lambda study, told: template.format(whom=told["whom"] or "somebody", role=told["role"])


def _say_launch(study: str, told: Details) -> str:
    if not told["questions"]:
        return f"launched {study}, which gets its questions while it is open"
    return _say_numbers("launched {study} with {questions:question}")(study, told)


def _say_amendment(study: str, told: Details) -> str:
    asked = f"; {format_count(told['sessions'], 'session')} asked again" if told["sessions"] else ""
    return f"changed the consent text of {study} to version {told['version']}{asked}, because: {told['reason']}"


def _deletion(study: str, told: Details) -> str:
    settled = f", and confirmed that everybody was paid: {told['pay_settled']}" if told["pay_settled"] else ""
    return f"requested the deletion of the project on {told['due_on']}{settled}"


SENTENCES: dict[What, Callable[[str, Details], str]] = {
    What.PROJECT_MADE: _say_numbers("created the project"),
    What.PROJECT_CHANGED: _say_numbers("changed the project"),
    What.PROJECT_RENAMED: _say_numbers("renamed the project from {before} to {name}"),
    What.PROJECT_ARCHIVED: _say_numbers("archived the project"),
    What.PROJECT_REOPENED: _say_numbers("restored the project from the archive"),
    What.PROJECT_DELETION_REQUESTED: _deletion,
    What.PROJECT_DELETION_CANCELLED: _say_numbers("cancelled the deletion of the project"),
    What.MEMBER_INVITED: _say_invitation("invited {whom} to become a member, as {role}"),
    What.INVITATION_CANCELLED: _say_invitation("cancelled the invitation of {whom} as {role}"),
    What.MEMBER_ADDED: _say_numbers("added {member} to the project, as {role}"),
    What.MEMBER_CHANGED: _say_numbers("changed the role of {member} to {role}"),
    What.MEMBER_REMOVED: _say_numbers("ended the membership of {member}"),
    What.IMPORT_REQUESTED: _say_import_request("requested"),
    What.IMPORT_CANCELLED: _say_import_request("cancelled"),
    What.MAPPING_CHANGE_REQUESTED: _say_numbers("requested a change of the mapping of {files}"),
    What.MAPPING_CHANGE_CANCELLED: _say_numbers("cancelled the change of the mapping of {files}"),
    What.MAPPING_CHANGED: _say_numbers("changed the mapping of {files}: {columns}"),
    What.INSTANCES_IMPORTED: _say_import,
    What.INSTANCES_TAGGED: _say_numbers("added the tag {tag} to {instances:instance}"),
    What.INSTANCES_UNTAGGED: _say_numbers("removed the tag {tag} from {instances:instance}"),
    What.PIPELINE_REQUESTED: _say_numbers("started the pipeline {pipeline}"),
    What.PIPELINE_CANCELLED: _say_numbers("cancelled the pipeline {pipeline}"),
    What.PIPELINE_FINISHED: _say_numbers("finished the pipeline {pipeline}, which made {instances:instance}"),
    What.PIPELINE_DELETED: _say_numbers("deleted the pipeline {pipeline} with {instances:instance}"),
    What.PREDICTIONS_IMPORTED: _say_numbers("imported {predictions:prediction} of {model}"),
    What.PREDICTIONS_REQUESTED: _say_model_run("requested a run of {model} on {about}"),
    What.PREDICTIONS_CANCELLED: _say_model_run("cancelled the run of {model} on {about}"),
    What.PREDICTIONS_RESUMED: _say_model_run("resumed the run of {model} on {about}"),
    What.PREDICTIONS_COMPUTED: _say_computation,
    What.TRAINING_REQUESTED: _say_numbers("started to train {model} from {base} on {data} with {recipe}"),
    What.TRAINING_CANCELLED: _say_numbers("cancelled the training of {model}"),
    What.TRAINING_RESUMED: _say_numbers("resumed the training of {model}"),
    What.TRAINING_DELETED: _say_numbers("deleted the training of {model} and its weights"),
    What.MODEL_TRAINED: _say_numbers("trained {model} with {recipe} on {examples:example}"),
    What.MODEL_RENAMED: _say_numbers("renamed the model {model} to {name}"),
    What.MODEL_DELETED: _say_numbers("deleted the model {model} and its {predictions:prediction}"),
    What.DATASET_SET: _dataset,
    What.GROUP_SET: _say_numbers("set the group {group} to {people:,} people"),
    What.STUDY_CREATED: _say_numbers("created {study}"),
    What.STUDY_DUPLICATED: _say_duplicate,
    What.STUDY_CHANGED: _say_numbers("changed the draft {study}"),
    What.STUDY_DELETED: _say_numbers("deleted the draft {study}"),
    What.LAUNCH_REQUESTED: _say_numbers("requested the launch of {study}"),
    What.LAUNCH_CANCELLED: _say_numbers("cancelled the launch of {study}"),
    What.EXTENSION_REQUESTED: _say_numbers("requested more answers or questions for {study}"),
    What.EXTENSION_CANCELLED: _say_numbers("cancelled the extension of {study}"),
    What.STUDY_LAUNCHED: _say_launch,
    What.STUDY_PAUSED: _say_numbers("paused {study}"),
    What.STUDY_RESUMED: _say_numbers("resumed {study}"),
    What.STUDY_CLOSED: _say_numbers("closed {study}"),
    What.CONSENT_AMENDED: _say_amendment,
    What.STUDY_UNDERPAID: _say_numbers("found that {study} pays {currency} {median} an hour, under {least}"),
    What.POLICY_PAUSED: _say_numbers("paused {study} by the policy {policy}: {finding}"),
    What.POLICY_REPLACED: _say_numbers(
        "asked others for {answers:answer} of {study} by the policy {policy}: {finding}"
    ),
    What.MORE_ANSWERS_WANTED: _say_extension,
    What.MOST_ANSWERS_RAISED: _say_numbers("let undecided questions of {study} get up to {to} answers"),
    What.INSTANCES_TAKEN_UP: _say_numbers("added {questions:question} about new instances to {study}"),
    What.COMPLETION_SET: _completion,
    What.STUDY_COMPLETED: _say_numbers("found that all answers to {study} are in"),
    What.QUESTION_SETTLED: _say_numbers("settled the question of {study} about {about} as {choice}"),
    What.QUESTION_UNSETTLED: _say_numbers("undid the settlement of the question of {study} about {about}"),
    What.QUESTION_TAKEN_OUT: _say_questions("took {questions} about {instance} out of {studies}, because: {reason}"),
    What.QUESTION_PUT_BACK: _say_questions("put {questions} about {instance} back into {studies}"),
    What.SEAT_FREED: _say_numbers("released the place of a session of {study}; its {answers:answer} stayed"),
    What.SESSION_LAPSED: _say_numbers(
        "released the place of a session of {study} whose time was up; {answers:answer} stayed"
    ),
    What.NETWORKS_OPENED: _say_numbers("let {networks:network} hold any number of places of {study}"),
    What.TIMES_ACCEPTED: _say_numbers("accepted the times of a session of {study}"),
    What.FLAGS_CHANGED: _say_numbers("found {found:new flag} in the sessions of {study}, and cleared {cleared:flag}"),
    What.ANNOTATOR_WITHDRAWN: _say_effects("noted the withdrawal of {annotator}"),
    What.ANNOTATOR_EXCLUDED: _say_effects("excluded {annotator} ({reason})", groups="out of"),
    What.ANNOTATOR_LET_BACK: _say_effects("included {annotator} again", groups="in"),
    What.SLOTS_REOPENED: _say_numbers("gave {slots:place} of {annotator} to other people"),
    What.ANNOTATOR_FORGOTTEN: _say_erasure,
    What.ANNOTATOR_BLOCKED: _say_numbers("blocked {annotator} ({reason})"),
    What.ANNOTATOR_ALLOWED: _say_numbers("allowed {annotator} again"),
    What.NOTE_ADDED: _say_numbers("wrote a note on {annotator}"),
    What.NOTE_DELETED: _say_numbers("deleted a note on {annotator}"),
    What.FLAGS_UPHELD: _say_numbers("upheld {flags:flag} of {annotator} in {study}: {rules}"),
    What.FLAGS_DISMISSED: _say_numbers("dismissed {flags:flag} of {annotator} in {study}: {rules}"),
    What.FLAG_REVIEW_UNDONE: _say_numbers("undid the review of {flags:flag} of {annotator} in {study}: {rules}"),
    What.MESSAGE_REQUESTED: _say_numbers("wrote a message to {annotator}"),
    What.EXPORT_REQUESTED: _say_export_request,
    What.EXPORT_CANCELLED: _say_numbers("cancelled the {format} export of {study}"),
    What.EXPORT_WRITTEN: _say_export,
    What.RELEASE_MADE: _say_numbers("created the release {release} of {study}"),
    What.RELEASE_FROZEN: _say_numbers(
        "froze the release {release} of {study}: {instances:instance}, {responses:answer}, SHA-256 {sha256:.12}"
    ),
    What.RELEASE_REQUESTED: _say_numbers("requested the release {release} of {study} as {format}"),
    What.RELEASE_WRITTEN: _say_numbers("wrote the release {release} of {study} as {format}"),
    What.DATASET_DOWNLOAD_REQUESTED: _say_numbers("requested the download of the dataset {repository} from the Hub"),
    What.HUB_PUSH_REQUESTED: _say_numbers("requested the push of the release {release} to {repository} on the Hub"),
    What.HUB_PUSH_CANCELLED: _say_numbers("cancelled the push of the release {release} to {repository} on the Hub"),
    What.MODEL_PUSH_REQUESTED: _say_numbers("requested the push of the model {model} to {repository} on the Hub"),
    What.MODEL_PUSH_CANCELLED: _say_numbers("cancelled the push of the model {model} to {repository} on the Hub"),
    What.MODEL_PUSHED: _say_numbers("pushed the model {model} to {repository} on the Hub"),
    What.RELEASE_PUSHED: _say_numbers("pushed the release {release} of {study} to {repository} on the Hub"),
    What.PROVIDER_IDS_TAKEN: _say_numbers("downloaded the key to the pseudonyms in the release {release} of {study}"),
    What.PERSONAL_DATA_TAKEN: _say_numbers("downloaded the personal data of {annotator}"),
    What.PROVIDER_IDS_DELETED: _say_numbers("deleted the IDs of {people:annotator}: this site keeps IDs no longer"),
    What.WEBHOOK_MADE: _say_numbers("created the webhook to {host}: {topics}"),
    What.WEBHOOK_DELETED: _say_numbers("deleted the webhook to {host}"),
    What.WEBHOOK_KEY_CHANGED: _say_numbers("changed the key of the webhook to {host}"),
    What.WEBHOOK_SWITCHED_OFF: _say_numbers("switched the webhook to {host} off"),
    What.WEBHOOK_SWITCHED_ON: _say_numbers("switched the webhook to {host} on again"),
    What.WEBHOOK_TRIED: _say_numbers("sent a test message to {host}"),
    What.DELIVERY_REPEATED: _say_numbers("sent a message about {topic} to {host} again"),
    What.PANEL_MEMBERS_ADDED: _say_numbers("added members to the panel: {people:,}"),
    What.PANEL_MEMBER_REMOVED: _say_numbers("removed a member from the panel"),
    What.PROLIFIC_ACCOUNT_CONNECTED: _say_numbers("saved a token of an account at Prolific"),
    What.PROLIFIC_ACCOUNT_REMOVED: _say_numbers("deleted the token of the account at Prolific"),
    What.PROLIFIC_WORKSPACE_CHOSEN: _say_numbers("chose the Prolific workspace that pays: {workspace}"),
    What.PROLIFIC_STUDY_DRAFTED: _say_numbers("drafted {study} on Prolific"),
    What.PROLIFIC_STUDY_CHANGED: _say_numbers("changed the draft of {study} on Prolific"),
    What.PROLIFIC_STUDY_PUBLISHED: _say_numbers("published {study} on Prolific: {places:place}"),
    What.PROLIFIC_STUDY_STARTED: _say_numbers("saw that {study} has started on Prolific: {places:place}"),
    What.PROLIFIC_STUDY_PAUSED: _say_numbers("paused {study} on Prolific"),
    What.PROLIFIC_STUDY_RESUMED: _say_numbers("resumed {study} on Prolific"),
    What.PROLIFIC_PLACES_ADDED: _say_numbers("added places to {study} on Prolific: {places:place} now"),
    What.PROLIFIC_STUDY_STOPPED: _say_numbers("stopped {study} on Prolific"),
    What.PROLIFIC_WEBHOOKS_CONFIRMED: _say_numbers("connected Prolific’s webhooks"),
    What.SUBMISSION_FLAGGED: _say_flag("flagged a submission of {study}: {flag}"),
    What.SUBMISSION_FITS: _say_flag("removed the flag of a submission of {study}: {flag}"),
    What.SUBMISSION_COMPLETED: _say_numbers(
        "completed a submission of {study} on Prolific, because its redirect was lost"
    ),
    What.IDENTITY_REFUTED: _say_numbers("ended a session of {study}: its submission on Prolific is somebody else's"),
    What.PAYMENTS_ORDERED: _say_reasons("ordered {payments:payment} for {study}, {currency} {amount}: {reasons}"),
    What.PAYMENT_CANCELLED: _say_reasons("cancelled a payment for {study}, {currency} {amount}: {reasons}"),
    What.PAYMENTS_REFUSED: _say_numbers("could not send {payments:payment} for {study}, {currency} {amount}: {why}"),
    What.PAYMENTS_HELD: _say_numbers("held {payments:payment} for {study}, {currency} {amount}: {why}"),
    What.PAYMENTS_SENT_AGAIN: _say_numbers("ordered {payments:payment} for {study} again: {currency} {amount}"),
    What.PAYMENT_FOUND_PAID: _say_numbers("noted {payments:payment} for {study} as paid: {currency} {amount}"),
    What.PAYMENT_FOUND_UNPAID: _say_numbers(
        "noted {payments:payment} for {study} as not paid, to be sent again: {currency} {amount}"
    ),
    What.LEDGER_COMPARED: _say_numbers("compared the ledger with Prolific"),
    What.REWARDS_NOTED: _say_numbers("added {payments:reward} already paid on Prolific to the ledger of {study}"),
    What.SUBMISSION_REJECTED: _say_rejection("rejected the submission of {annotator} in {study}: {category}"),
    What.REJECTION_UNDONE: _say_numbers("took back the rejection of {annotator} in {study}"),
    What.RETURN_REQUESTED: _say_numbers("asked {annotator} to return their submission of {study}"),
    What.ANSWERS_SIMULATED: _say_numbers("simulated {annotators:annotator} in {study}, seed {seed}"),
    What.STUDY_REPLAYED: _say_numbers("replayed the answers of {study}, seed {seed}"),
}
