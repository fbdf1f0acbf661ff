"""Studies: create from a study file, check, launch, pause, close, and their progress."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

import yaml
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from annotation.actions.launching import extend_study, launch
from annotation.actions.launching.study_jobs import (
    StudyJob,
    cancel_study_job,
    is_large,
    job_of_study,
    refuse_second_job,
    request_extension,
    request_launch,
)
from background.models import Job, JobState
from background.tasks import send
from results.actions.participants import foresee
from results.models import KeptNumbers
from results.queries.studies.overview import answers_sent
from results.queries.studies.policies import policy_lines
from results.queries.studies.progress import StudyProgress, progress_of, study_progress
from results.views.cached_statistics import numbers_for
from studies.actions.conditions import untested_warning
from studies.actions.drafts import delete_draft, update_draft
from studies.actions.projects.members import may
from studies.actions.studies import change_state, create_study
from studies.design.model import MOST_ANSWERS
from studies.design.parser import LARGEST_FILE
from studies.errors import StudyError
from studies.models import Study, StudyState
from studies.permissions import Verb
from workspace.api.framework.endpoints import ProjectEndpoint, StudyEndpoint, verbs_by_method
from workspace.api.framework.idempotency import idempotent
from workspace.api.framework.pagination import PageQuery, page_serializer, paginate
from workspace.api.framework.problems import Problem, Refused
from workspace.api.serializers import (
    CheckedSerializer,
    GrownSerializer,
    Plain,
    ProgressSerializer,
    StudyDetailSerializer,
    StudySerializer,
)

_WIDEST = 1_000_000
STUDY_FILE = {"application/yaml": OpenApiTypes.STR, "application/json": OpenApiTypes.OBJECT}


class StudyFileParser(BaseParser):
    """Read the body as the text of a study file, YAML or JSON, for `studies.design`."""

    media_type = "application/yaml"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        text = stream.read(4 * LARGEST_FILE + 1)
        try:
            return str(text.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ParseError("A study file is text in UTF-8.") from error


class JsonStudyFileParser(StudyFileParser):
    """Convert JSON to YAML, because YAML reads some JSON escapes differently."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        try:
            values = json.loads(super().parse(stream, media_type, parser_context))
            return str(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=_WIDEST))
        except (ValueError, RecursionError, yaml.YAMLError) as error:
            raise ParseError("This cannot be read as JSON.") from error


class StudyQuery(PageQuery):
    state = serializers.ChoiceField(choices=StudyState.choices, required=False)


class Studies(ProjectEndpoint):
    about = "Studies"
    verbs = verbs_by_method(GET=Verb.VIEW, POST=Verb.DESIGN)
    parser_classes = (StudyFileParser, JsonStudyFileParser)

    @extend_schema(operation_id="list_studies", parameters=[StudyQuery], responses=page_serializer(StudySerializer))
    def get(self, request: Request, project: str) -> Response:
        """List the studies of a project in order of creation."""
        query = self.read(StudyQuery, request.query_params)
        studies = Study.objects.filter(project=self.project).defer("source", "design")
        if state := query.get("state"):
            studies = studies.filter(state=state)
        return paginate(request, studies, lambda rows: StudySerializer(rows, many=True).data)

    @extend_schema(operation_id="create_study", request=STUDY_FILE, responses={201: StudyDetailSerializer})
    @idempotent
    def post(self, request: Request, project: str) -> Response:
        """Create a draft from a study file."""
        study = create_study(project=self.project, source=_source(request), by=self.user, now=timezone.now())
        address = reverse("api_study", args=[self.project.slug, study.slug], request=request)
        return Response(_study_json(study, self.user), status=201, headers={"Location": address})


def _source(request: Request) -> str:
    source = request.data
    if not isinstance(source, str) or "\0" in source:
        raise Refused(Problem("not-understood", 400, "Send the study file as the body, in YAML or in JSON."))
    return source.replace("\r\n", "\n")


def _study_json(study: Study, user: User) -> dict[str, Any]:
    told = StudySerializer(study).data | {"source": None, "take_url": None, "invite_url": None}
    if may(user, Verb.DESIGN, study.project):
        told["source"] = study.source
    if may(user, Verb.RUN, study.project):
        # The links let people into the study.
        take = f"{settings.SITE_URL}{reverse('take', args=[study.entry_name])}"
        told["take_url"] = take
        told["invite_url"] = f"{take}?invite={study.invite_token}" if study.design.recruitment.invite else None
    return told


class Check(ProjectEndpoint):
    about = "Studies"
    verbs = verbs_by_method(POST=Verb.DESIGN)
    parser_classes = (StudyFileParser, JsonStudyFileParser)

    @extend_schema(operation_id="check_study", request=STUDY_FILE, responses={200: CheckedSerializer})
    def post(self, request: Request, project: str) -> Response:
        """Check a study file and return what its launch would create, without saving anything."""
        return Response(CheckedSerializer(foresee(lambda: self._check_study(_source(request)))).data)

    def _check_study(self, source: str) -> dict[str, Any]:
        now = timezone.now()
        study = create_study(project=self.project, source=source, by=self.user, now=now)
        told: dict[str, Any] = {"slug": study.slug, "title": study.title, "plan": None, "obstacles": []}
        try:
            told["plan"] = asdict(launch.plan(study, now=now))
        except StudyError as error:
            told["obstacles"] = list(error.problems)
        return told


class OneStudy(StudyEndpoint):
    about = "Studies"
    verbs = verbs_by_method(GET=Verb.VIEW, PUT=Verb.DESIGN, DELETE=Verb.DESIGN)
    parser_classes = (StudyFileParser, JsonStudyFileParser)

    @extend_schema(operation_id="read_study", responses=StudyDetailSerializer)
    def get(self, request: Request, project: str, study: str) -> Response:
        """Return one study, with its file and its links if the token's owner may see them."""
        return Response(_study_json(self.study, self.user))

    @extend_schema(operation_id="change_study", request=STUDY_FILE, responses=StudyDetailSerializer)
    def put(self, request: Request, project: str, study: str) -> Response:
        """Replace the study file of a draft."""
        update_draft(study=self.study, source=_source(request), by=self.user, now=timezone.now())
        return Response(_study_json(self.study, self.user))

    @extend_schema(operation_id="delete_study", responses={204: None})
    def delete(self, request: Request, project: str, study: str) -> Response:
        """Delete a draft. A launched study cannot be deleted."""
        delete_draft(study=self.study, by=self.user, now=timezone.now())
        return Response(status=204)


def _transition(state: StudyState) -> Callable[[Study, User, datetime], None]:
    return lambda study, by, now: change_state(study=study, to=state, by=by, now=now)


CHANGES: Mapping[str, Callable[[Study, User, datetime], None]] = {
    "launch": lambda study, by, now: launch.launch(study=study, by=by, now=now),
    "pause": _transition(StudyState.PAUSED),
    "resume": _transition(StudyState.OPEN),
    "close": _transition(StudyState.CLOSED),
}


# Keeps the name that the schema had before this serializer was split.
@extend_schema_serializer(component_name="Grown")
class AskedMoreSerializer(GrownSerializer):
    """The effects of extending a study, and the launch condition that its new questions skip."""

    untried = serializers.CharField(
        help_text="The launch condition that new questions skip, as a sentence; empty if there is none."
    )


class StudyJobSerializer(Plain):
    """The launch or the extension of a large study, by a job."""

    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=("launch", "extension"))
    state = serializers.ChoiceField(choices=JobState.choices)
    stage = serializers.CharField(allow_blank=True, help_text="What it does now; each stage counts from 0.")
    done = serializers.IntegerField()
    total = serializers.IntegerField(help_text="0 while unknown.")
    result = AskedMoreSerializer(allow_null=True)
    error = serializers.CharField(allow_blank=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


def _effects(study: Study, grown: Mapping[str, int]) -> dict[str, Any]:
    return {**grown, "untried": untested_warning(study) if grown["questions"] else ""}


def _job_json(found: StudyJob, study: Study) -> dict[str, Any]:
    job = found.job
    grown = job.step.get("result") if job.state == JobState.DONE else None
    return StudyJobSerializer(
        {
            "id": job.pk,
            "kind": "launch" if found.is_launch else "extension",
            "state": job.state,
            "stage": found.stage,
            "done": job.done,
            "total": job.total,
            "result": _effects(study, grown) if grown else None,
            "error": job.error,
            "requested_at": job.asked_at,
            "finished_at": job.finished_at,
        }
    ).data


def _accepted_job(request: Request, study: Study, job: Job, *, is_new: bool) -> Response:
    if is_new:
        send(job)
    address = reverse("api_study_job", args=[study.project.slug, study.slug, job.pk], request=request)
    return Response(_job_json(StudyJob(job), study), status=202, headers={"Location": address})


class Change(StudyEndpoint):
    about = "Studies"
    verbs = verbs_by_method(POST=Verb.RUN)
    parser_classes = ()

    @extend_schema(request=None, responses={200: StudyDetailSerializer, 202: StudyJobSerializer})
    @idempotent
    def post(self, request: Request, project: str, study: str, change: str) -> Response:
        """Launch, pause, resume or close a study. A large study is launched by a job: follow it at the `Location`."""
        now = timezone.now()
        if change == "launch" and self.study.state == StudyState.DRAFT and is_large(launch.plan(self.study, now=now)):
            job, is_new = request_launch(study=self.study, by=self.user, now=now)
            return _accepted_job(request, self.study, job, is_new=is_new)
        CHANGES[change](self.study, self.user, now)
        self.study.refresh_from_db()
        return Response(_study_json(self.study, self.user))


class MoreSerializer(serializers.Serializer[Any]):
    """How to extend an open or paused study."""

    what = serializers.ChoiceField(
        choices=[way.value for way in extend_study.ExtensionKind],
        help_text="`answers`: `number` more answers to every question. `undecided`: up to `number` more answers to "
        "questions that stay undecided. `instances`: questions about instances imported since the launch.",
    )
    number = serializers.IntegerField(min_value=1, max_value=MOST_ANSWERS, default=1)
    dry_run = serializers.BooleanField(default=False, help_text="Return the effects, but change nothing.")


class AskMore(StudyEndpoint):
    about = "Studies"
    verbs = verbs_by_method(POST=Verb.RUN)

    @extend_schema(
        operation_id="ask_more",
        request=MoreSerializer,
        responses={200: AskedMoreSerializer, 202: StudyJobSerializer},
    )
    @idempotent
    def post(self, request: Request, project: str, study: str) -> Response:
        """Extend a launched study by answers or questions. Its design does not change.

        A large study is extended by a job: follow it at the `Location`. Its `dry_run` counts no decisions that change,
        and counts instances that cannot be asked about yet.
        """
        wish, now = self.read(MoreSerializer), timezone.now()
        way, number = extend_study.ExtensionKind(wish["what"]), wish["number"]
        planned = extend_study.plan(self.study, way, number)

        def grow() -> extend_study.ExtensionResult:
            return extend_study.extend(study=self.study, way=way, number=number, by=self.user, now=now)

        if is_large(planned) and not wish["dry_run"]:
            refuse_second_job(self.study, {way.value: number})
            job, is_new = request_extension(study=self.study, way=way, number=number, by=self.user, now=now)
            return _accepted_job(request, self.study, job, is_new=is_new)
        if not wish["dry_run"]:
            refuse_second_job(self.study)
        grown = planned.added if is_large(planned) else foresee(grow) if wish["dry_run"] else grow()
        return Response(AskedMoreSerializer(_effects(self.study, asdict(grown))).data)


class _JobEndpoint(StudyEndpoint):
    about = "Studies"

    def one(self, pk: int) -> StudyJob:
        """Return the launch or extension of the study with this id. Raises Http404."""
        if (found := job_of_study(self.study, pk)) is None:
            raise Http404
        return found


class OneStudyJob(_JobEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_study_job", responses=StudyJobSerializer)
    def get(self, request: Request, project: str, study: str, pk: int) -> Response:
        """Return the progress of a launch or an extension by a job. It is kept for 30 days."""
        return Response(_job_json(self.one(pk), self.study))


class CancelStudyJob(_JobEndpoint):
    verbs = verbs_by_method(POST=Verb.RUN)
    parser_classes = ()

    @extend_schema(operation_id="cancel_study_job", request=None, responses=StudyJobSerializer)
    def post(self, request: Request, project: str, study: str, pk: int) -> Response:
        """Cancel an unfinished launch or extension. Nothing of it is kept, except new instances added so far."""
        if not self.one(pk).job.is_unfinished:
            raise Refused(Problem("not-now", 409, "It has already ended, so there was nothing to cancel."))
        cancel_study_job(study=self.study, by=self.user, now=timezone.now())
        return Response(_job_json(self.one(pk), self.study))


class Progress(StudyEndpoint):
    about = "Answers"
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_progress", responses=ProgressSerializer)
    def get(self, request: Request, project: str, study: str) -> Response:
        """Return the progress of a study, as on its page."""
        kept = numbers_for(KeptNumbers.Page.STUDY_PROGRESS, self.project, self.study, answers=answers_sent(self.study))
        if kept is None:
            return self._answer(study_progress(self.study), None)
        return self._answer(progress_of(kept.numbers) if kept.numbers else None, kept.as_of)

    def _answer(self, progress: StudyProgress | None, as_of: datetime | None) -> Response:
        if progress is None:
            told: dict[str, Any] = dict.fromkeys(("answers", "seats", "questions", "items"))
        else:
            told = asdict(progress) | {"items": progress.items.outcomes}
        return Response(ProgressSerializer(told | {"as_of": as_of}).data)


class PolicySerializer(serializers.Serializer[Any]):
    """Where a study stands under a policy of its study file."""

    policy = serializers.CharField(help_text="Its name in the study file.")
    value = serializers.CharField(allow_blank=True, help_text="In words, with its unit; empty without evidence.")
    counted = serializers.CharField(allow_blank=True, help_text="How many sessions, people or answers the value is of.")
    bound = serializers.CharField(help_text="In words.")
    since = serializers.DateTimeField(allow_null=True, help_text="The resume since which it counts, or null.")
    crossed = serializers.BooleanField(help_text="Whether the value crosses the bound now.")
    waiting = serializers.BooleanField(help_text="Whether it has paused the study, and nobody has resumed it since.")
    acted_at = serializers.DateTimeField(allow_null=True, help_text="When it last paused the study.")


class PoliciesSerializer(serializers.Serializer[Any]):
    policies = PolicySerializer(many=True, help_text="In the order of the study file; none of a draft.")


class Policies(StudyEndpoint):
    verbs = verbs_by_method(GET=Verb.VIEW)

    @extend_schema(operation_id="read_policies", responses=PoliciesSerializer)
    def get(self, request: Request, project: str, study: str) -> Response:
        """Return where a study stands under each of its policies, as on its page."""
        lines = [] if self.study.state == StudyState.DRAFT else policy_lines(self.study)
        told = [
            {
                "policy": line.name,
                "value": line.standing.value,
                "counted": line.standing.n,
                "bound": line.standing.bound,
                "since": line.since,
                "crossed": line.standing.crossed,
                "waiting": line.is_waiting,
                "acted_at": line.last.acted_at if line.last else None,
            }
            for line in lines
        ]
        return Response(PoliciesSerializer({"policies": told}).data)
