"""Rows for reports: a fixed number of queries per study at any size."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, QuerySet

from analytics.outcomes import outcome_of_question
from annotation.minimum_pay import minimum_hourly_pay
from annotation.models import Decision, Removal, Response, Session
from annotation.simulation_ids import is_simulated
from predictions.models import Prediction
from predictions.queries.contents import mismatched_instances, stale_predictions
from results.models import Pseudonym
from results.queries.instances.human_model_disagreement import human_model_disagreements, model_correctness
from results.queries.people.payments_due import owed_sums
from results.queries.reports.added_answers import PlannedSurveys, planned_surveys
from results.queries.reports.answer_scores import answer_scores, measured_questions
from results.queries.reports.described_texts import described_sets, question_descriptions, written_for_study
from results.queries.reports.label_spaces import label_spaces, preference_options, with_all_labels
from results.queries.studies.pipeline import studies_in_order
from results.queries.studies.progress import paid_sessions
from results.queries.studies.simulated_answers import answering_sessions, simulated_studies
from results.queries.studies.skips import ordinary_image_skips
from results.reports.facts import (
    AnswerFacts,
    MismatchedPredictions,
    ModelFacts,
    PartFacts,
    ProjectFacts,
    QuestionFacts,
    SourceFacts,
    StudyFacts,
)
from results.reports.sections.people import asks_the_four
from studies.actions.projects.datasets import dataset_studies
from studies.actions.questions import upstream_studies
from studies.kinds import get_kind, has_own_score
from studies.models import Instance, Project, Purpose, Question, Study, StudyState, Survey, SurveyQuestion

# Rows per fetch: each fetch is a round trip.
CHUNK = 10_000
# Maximum number of problems: invented options can be of any number.
MISMATCHES_SHOWN = 100


def project_facts(project: Project) -> ProjectFacts:
    """Return the facts of `project`: all its launched studies, in pipeline order."""
    rows = Instance.objects.filter(project=project).order_by("id").values_list("pk", "type", "subtype")
    names = pseudonyms_in(project)
    return replace(
        _project(project, [replace(study_facts(study), names=names) for study in in_pipeline_order(project)]),
        categories={pk: (type, subtype) for pk, type, subtype in rows.iterator(chunk_size=CHUNK)},
        models=list(model_facts(project)),
        predicted_by=instances_predicted(project),
        disagreements=human_model_disagreements(project),
        described=described_sets(project),
        mismatched=mismatched_predictions(project),
    )


def pseudonyms_in(project: Project) -> dict[int, str]:
    """Return annotator -> pseudonym in `project`, of everybody who has one (`results.actions.pseudonyms`)."""
    return dict(Pseudonym.objects.filter(project=project).values_list("annotator_id", "name"))


def _removed_count(project: Project, why: str) -> int:
    """Return the number of people whose answers do not count in `project` for that reason."""
    removed = Removal.objects.filter(project=project, why=why, ended_at=None).order_by()
    return removed.values("annotator").distinct().count()


def release_facts(studies: Sequence[Study], names: Mapping[int, str] | None = None) -> ProjectFacts:
    """Return the facts of the data that `studies` accepted: how it was made, and who answered about it.

    names: annotator -> name in a release, whose card must not contain the pseudonyms of the project; these by default.
    """
    project = studies[0].project
    facts = project_facts(project)
    slugs = {each.slug for each in release_studies(studies)}
    files = Instance.objects.filter(project=project).order_by("source_file", "caption_rule")
    return replace(
        facts,
        dataset=[study.slug for study in studies],
        studies=[
            replace(each, names=each.names if names is None else names) for each in facts.studies if each.slug in slugs
        ],
        disagreements=[each for each in facts.disagreements if each.study in slugs],
        sources=[SourceFacts(*row) for row in files.values_list("source_file", "caption_rule").annotate(n=Count("pk"))],
    )


def release_studies(studies: Sequence[Study]) -> list[Study]:
    """Return the studies behind what `studies`, of one project, accepted, and the baselines about it.

    A later filter makes other data; a baseline is about this data.
    """
    launched = in_pipeline_order(studies[0].project)
    by_id = {each.pk: each for each in launched}
    family = {study.pk for study in studies}
    for study in studies:
        step = by_id[study.pk]
        while step.fed_by_id in by_id:
            step = by_id[step.fed_by_id]
            family.add(step.pk)
    below = {study.pk for study in studies}
    for each in launched:
        if each.fed_by_id in below and each.purpose == Purpose.BASELINE:
            below.add(each.pk)
    return [each for each in launched if each.pk in family | below]


def in_pipeline_order(project: Project) -> list[Study]:
    """Return the launched studies of `project`, each followed by its downstream studies."""
    return [study for study in studies_in_order(project) if study.state != StudyState.DRAFT]


def study_facts(study: Study) -> StudyFacts:
    """Return the facts of `study`, with every question and counted answer."""
    questions, categories = _questions(study)
    outline = study_outline(study)
    labels = with_all_labels(study, outline.label_spaces)
    parts = [replace(part, label_space=labels[part.kind]) for part in outline.parts]
    whole = replace(outline, questions=questions)
    # Where it asks the four questions, models are compared instance by instance.
    is_by_question = whole.knows_answers and not asks_the_four(whole)
    return replace(
        outline,
        predicted=model_correctness(study) if is_by_question else {},
        predicted_otherwise=mismatched_instances(study) if asks_the_four(whole) else {},
        parts=parts,
        questions=questions,
        categories=categories,
        answers=_answers(study),
        surveys=_surveys(study),
        beside=preference_options(study),
        described=question_descriptions(study),
        written=written_for_study(study),
        scored=answer_scores(study),
        measured=measured_questions(study),
    )


def project_outline(project: Project) -> ProjectFacts:
    """Return the facts of `project` and its studies without questions, answers or predictions."""
    return _project(project, [study_outline(study) for study in in_pipeline_order(project)])


def _project(project: Project, studies: Sequence[StudyFacts]) -> ProjectFacts:
    return ProjectFacts(
        slug=project.slug,
        name=project.name,
        categories={},
        studies=studies,
        dataset=[study.slug for study in dataset_studies(project)],
        withdrawn=_removed_count(project, Removal.Why.WITHDRAWN),
        excluded=_removed_count(project, Removal.Why.EXCLUDED),
    )


def study_outline(study: Study) -> StudyFacts:
    """Return the facts of `study` without questions and answers, which stay empty."""
    # Withdrawn people were paid, so all sessions count.
    sessions = Session.objects.filter(study=study).order_by()
    agreed = sessions.exclude(consent=None).order_by("consent__number")
    design, owed = study.design, owed_sums(study)
    who = (
        answering_sessions()
        .filter(study=study)
        .aggregate(
            annotators=Count("annotator", distinct=True),
            simulated=Count("annotator", distinct=True, filter=is_simulated()),
            first=Min("arrived_at"),
            last=Max("arrived_at"),
        )
    )
    return StudyFacts(
        slug=study.slug,
        title=study.title,
        parts=_parts(study),
        rule=study.rule,
        purpose=study.purpose,
        accepts=study.accepts,
        fed_by=study.fed_by.slug if study.fed_by else "",
        answers_wanted=study.answers,
        max_answers=study.most_answers,
        currency=design.pay.currency,
        per_session=design.pay.per_session,
        owed_for_sessions=owed.for_sessions,
        paid_each=owed.paid_each,
        per_answer=design.pay.per_answer,
        answers_paid=owed.answers_paid,
        estimated_minutes=design.time.estimated_minutes,
        sessions=dict(sessions.values_list("state").annotate(n=Count("pk"))),
        annotators=who["annotators"],
        simulated=who["simulated"],
        first_day=_day(who["first"]),
        last_day=_day(who["last"]),
        paid=paid_sessions(study),
        questions=(),
        answers=(),
        above=simulated_studies(upstream_studies(study)),
        ethics=design.ethics,
        consents=dict(agreed.values_list("consent__number").annotate(n=Count("pk"))),
        minimum_hourly_pay=minimum_hourly_pay(design.pay.currency),
        **_count_instances(Decision.objects.filter(study=study).exclude(settled_choice=""), "settled"),
        **_count_instances(ordinary_image_skips([study]), "skipped"),
        **_double_surveys(study),
    )


def _double_surveys(study: Study) -> dict[str, Any]:
    """Return the number of surveys that twice as many people answer, for agreement, and of the questions in them."""
    design = study.design
    if not design.surveys.double_seats:
        return {}
    doubles = Survey.objects.filter(study=study, round=1, seats_planned=2 * design.answers)
    asked = Question.objects.filter(places__survey__in=doubles, taken_out_at=None, undone_at=None)
    return {"double_surveys": doubles.count(), "asked_twice": asked.distinct().count()}


def _count_instances(rows: QuerySet[Any], name: str) -> dict[str, Any]:
    """Return the number of these rows, which lead to a question, and of their instances."""
    about = Count("question__instance", distinct=True)
    counted: dict[str, Any] = rows.order_by().aggregate(**{name: Count("pk"), f"{name}_about": about})
    return counted


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""


def _parts(study: Study) -> list[PartFacts]:
    label_space = label_spaces(study)
    return [
        PartFacts(
            kind=part.kind,
            title=get_kind(part.kind).title,
            variants=len(get_kind(part.kind).variants(part.ask)),
            instructions=part.instructions,
            label_space=label_space[part.kind],
        )
        for part in study.design.parts
    ]


def _questions(study: Study) -> tuple[list[QuestionFacts], dict[int, tuple[str, str]]]:
    """Return the questions of `study`, and the category of each of their instances."""
    indices = {
        (part.kind, variant): index
        for part in study.design.parts
        for index, variant in enumerate(get_kind(part.kind).variants(part.ask))
    }
    images = {part.kind: get_kind(part.kind).roles(part.ask).images for part in study.design.parts}
    decisions = Decision.objects.filter(study=study).order_by("question_id")
    about = ("question_id", "question__instance_id", "question__kind", "question__variant")
    right_ones = ("question__right", "question__right_answer", "question__item")
    own = {part.kind for part in study.design.parts if has_own_score(get_kind(part.kind))}
    followed = ("state", "winner", "answers", "question__answers_wanted", "settled_choice", "question__undone_at")
    category = ("question__instance__type", "question__instance__subtype")
    rows = decisions.values_list(*about, *right_ones, *followed, *category)
    questions, categories, once = [], {}, _make_interner()
    for pk, instance, kind, variant, *rest in rows.iterator(chunk_size=CHUNK):
        right, right_answer, item, state, winner, answers, wanted, settled, undone_at, *of = rest
        is_scored = kind in own and bool(right or right_answer is not None)
        kind, right, winner, item = map(once, (kind, right, winner, item))
        undone = undone_at is not None
        outcome = outcome_of_question(state, answers=answers, wanted=wanted, accepts=study.accepts, undone=undone)
        # A kind may make questions whose names only their instances know.
        index = indices.get((kind, variant), 0)
        role = once(variant if variant in images[kind] else ", ".join(images[kind]))
        followed_by = (outcome, winner, answers, wanted, bool(settled))
        questions.append(QuestionFacts(pk, instance, kind, index, right, *followed_by, is_scored, item, role))
        categories[instance] = once(tuple(of))
    return questions, categories


def _surveys(study: Study) -> dict[int, set[int]]:
    """Return the instances of each survey of `study`, by survey number."""
    found: dict[int, set[int]] = {}
    asked = SurveyQuestion.objects.filter(survey__study=study).order_by()
    for survey, instance in asked.values_list("survey__number", "question__instance").iterator(chunk_size=CHUNK):
        found.setdefault(survey, set()).add(instance)
    return found


def _make_interner() -> Callable[[Any], Any]:
    """Share equal values: a database returns a new string per row, and a million rows have a dozen."""
    known: dict[Any, Any] = {}
    return lambda value: known.setdefault(value, value)


def _answers(study: Study) -> list[AnswerFacts]:
    """Return the counted answers in order of arrival.

    A changed answer keeps its slot, whenever it was changed.
    """
    counted = Response.objects.counted_in(study)
    seat_columns = ("slot__seat__survey__number", "slot__seat__number")
    rows = counted.order_by("pk").values_list("question_id", "annotator_id", *seat_columns, "choice")
    planned = planned_surveys(study)
    once = _make_interner()
    labelled = [
        AnswerFacts(question, once(annotator), survey, once(choice), seat, planned.is_added(question, survey))
        for question, annotator, survey, seat, choice in rows.exclude(choice="").iterator(chunk_size=CHUNK)
    ]
    return labelled + _answers_of_several_labels(study, planned)


def _answers_of_several_labels(study: Study, planned: PlannedSurveys) -> list[AnswerFacts]:
    """Return the labels of the counted answers without a single label, as their kinds separate them."""
    if all(get_kind(part.kind).has_one_label for part in study.design.parts):
        return []
    counted = Response.objects.counted_in(study).filter(choice="").order_by("pk")
    seat_columns = ("slot__seat__survey__number", "slot__seat__number")
    rows = counted.values_list(
        "question__kind", "question__content", "question_id", "annotator_id", *seat_columns, "answer"
    )
    return [
        AnswerFacts(question, annotator, survey, label, seat, planned.is_added(question, survey), unit)
        for kind, content, question, annotator, survey, seat, answer in rows.iterator(chunk_size=CHUNK)
        for unit, label in get_kind(kind).labels(content, "", answer).items()
    ]


def model_facts(project: Project) -> Iterable[ModelFacts]:
    """Yield the outcomes of each model, separately for instances about which it was not asked all four questions.

    A model that read captions made by a rule other than the instances' own was asked something else, and is named so.
    """
    rules = Instance.objects.filter(project=project).order_by().values_list("caption_rule", flat=True)
    own_rules = set(rules.distinct())
    # Models and people are compared only over the same pictures.
    predictions = Prediction.objects.about(project).counted().exclude(pk__in=stale_predictions(project))
    for model, rule, _, verified in predictions.evaluations():
        outcomes: dict[int, tuple[bool, bool, bool, bool]] = {}
        captions: dict[int, bool] = {}
        for row in predictions.outcomes(model=model, caption_rule=rule):
            if row.ipos2t is not None and row.ineg2t is not None and row.tpos2i is not None and row.tneg2i is not None:
                outcomes[row.instance] = (row.ipos2t, row.ineg2t, row.tpos2i, row.tneg2i)
            elif row.ipos2t is not None:
                captions[row.instance] = row.ipos2t
        if outcomes or captions:
            name = str(model) if rule in own_rules else f"{model}, captions by {rule}"
            yield ModelFacts(name, outcomes, captions, is_declared=not verified, listed_as=str(model))


def mismatched_predictions(project: Project) -> list[MismatchedPredictions]:
    """Return the number of uncounted predictions by model and problem, most frequent first, at most one page."""
    names = {model.pk: str(model) for model in project.models.all()}
    rows = Prediction.objects.mismatched().filter(model__in=names).order_by().values_list("model", "problem")
    counted = rows.annotate(count=Count("pk")).order_by("-count", "model", "problem")[:MISMATCHES_SHOWN]
    return [MismatchedPredictions(names[model], problem, count) for model, problem, count in counted]


def instances_predicted(project: Project, study: Study | None = None) -> dict[str, set[int]]:
    """Return model -> ids of instances with any prediction; with a study, only its instances."""
    names = {model.pk: str(model) for model in project.models.all()}
    found: dict[str, set[int]] = {}
    predictions = Prediction.objects.counted().filter(model__in=names)
    if study is not None:
        predictions = predictions.filter(instance__in=study.questions.order_by().values("instance"))
    pairs = predictions.order_by().values_list("model", "instance").distinct()
    for model, instance in pairs.iterator(chunk_size=CHUNK):
        found.setdefault(names[model], set()).add(instance)
    return found
