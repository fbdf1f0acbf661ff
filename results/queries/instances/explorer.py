"""Explorer: find instances by properties, captions, outcomes and answers."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Exists, F, FilteredRelation, OuterRef, Q, QuerySet

from analytics.outcomes import LOST, Outcome, Progress, outcome_of_instance
from annotation.actions.deciding.decisions import explain
from annotation.models import Decision, Report, Response
from annotation.models.outcomes import instances_with, is_at, question_is
from predictions.models import Prediction
from results.models import InstanceFigures, Pseudonym
from results.queries.instances.caption_search import captions_containing
from results.queries.instances.instance_history import reason_of
from results.queries.instances.instance_list import images_of, sort_roles, tags_of
from results.queries.instances.missing_questions import MissingQuestion, missing_questions
from results.queries.instances.pages import Order, Slice, slice_of
from results.queries.studies.question_reports import reports_heard
from results.queries.studies.skips import ordinary_image_skips
from results.reports.explorer_links import ANSWERED, NO_NAME, NOT_SHOWN, OUTCOME_WORDS, SETTLED, SEVERAL, in_address
from studies.actions.projects.datasets import dataset_studies, ways_to_dataset
from studies.actions.questions import upstream_studies
from studies.models import Instance, InstanceImage, Project, Question, Study, SurveyQuestion, Tag

PER_PAGE = 24
# Maximum number of ids in a query.
FEW = 500
# More matches than this are not counted, because each would be read.
MOST_COUNTED = 10_000
NOT_ASKED, NOT_ACCEPTED = "not-asked", "lost"
# Outcomes: in addresses -> as displayed.
STATES = {in_address(outcome): OUTCOME_WORDS.get(outcome, outcome).capitalize() for outcome in Outcome}
STATES[NOT_ASKED] = "Not asked about"
STATES[NOT_ACCEPTED] = "Lost: rejected, conflicting or undone"
_OUTCOMES = {in_address(outcome): outcome for outcome in Outcome}
# State -> the outcomes that it stands for.
_STANDS_FOR = {**{name: (outcome,) for name, outcome in _OUTCOMES.items()}, NOT_ACCEPTED: tuple(sorted(LOST))}
# Progress of the answers to all questions about an instance.
PROGRESS = {progress.value: progress.capitalize() for progress in Progress}
# Progress or outcome of a question, or that it was adjudicated.
_ANSWERED: Mapping[str, Q] = {ANSWERED: Q(answers__gte=1), SEVERAL: Q(answers__gte=2)}
QUESTIONS = {
    **PROGRESS,
    ANSWERED: "Answered",
    SEVERAL: "Answered by several",
    **{name: STATES[name] for name in _OUTCOMES},
    SETTLED: "Settled by a researcher",
}
ALIKE = {"all": "All agree", "some": "Not all agree", "half": "At most half of pairs agree"}
_ALIKE: Mapping[str, Mapping[str, Any]] = {
    "all": {"agreement__gte": 1},
    "some": {"agreement__lt": 1},
    "half": {"agreement__lte": 0.5},
}
PARTED = {"people": "People right, all models wrong", "models": "All models right, people wrong"}
_PARTED: Mapping[str, Mapping[str, Any]] = {"people": {"people_right": True}, "models": {"models_right": True}}
# Reasons of annotators' reports.
ANY = "any"
REASONS = {
    ANY: "Reported, for any reason",
    **{reason.value: reason.label for reason in Report.Reason},
    NOT_SHOWN: "Its images could not be shown",
}
AWAITED, THERE = "awaited", "there"
IMAGES = {THERE: "All are there", AWAITED: "Some are missing"}
# Typed numbers: whole ones, and seconds such as 4 or 2.5.
DIGITS = 9
SECONDS = rf"[0-9]{{1,{DIGITS}}}(\.[0-9]{{1,3}})?"
_WHOLE = re.compile(rf"[0-9]{{1,{DIGITS}}}")
_SECONDS = re.compile(SECONDS)


# Reading why an instance was lost takes time.
MOST_EXPLAINED = 1_000


@dataclass(frozen=True)
class InstanceFilters:
    """The filters of the list; "" does not filter.

    `study`: a study of the project, by slug; the filters below it apply to that study, or to any one study if it is
    empty. progress: of the answers to all questions about an instance. question: state of one of its questions. longer,
    shorter: bounds on the median answer time in seconds, as typed, inclusive. person: pseudonym of somebody who gave a
    counted answer. survey: number of a survey that asks about it. model: as displayed, with a prediction for any
    question about the instance. without: a study that does not ask about it, by slug.
    """

    words: str = ""
    type: str = ""
    subtype: str = ""
    split: str = ""
    tag: str = ""
    images: str = ""
    study: str = ""
    state: str = ""
    progress: str = ""
    question: str = ""
    person: str = ""
    survey: str = ""
    alike: str = ""
    longer: str = ""
    shorter: str = ""
    reason: str = ""
    parted: str = ""
    model: str = ""
    without: str = ""

    @property
    def needs_figures(self) -> bool:
        """Whether a filter uses precomputed figures (`InstanceFigures`)."""
        return self.state in _STANDS_FOR or bool(_figures(self, ()))


ABOUT_ANSWERS = {
    *("study", "state", "progress", "question", "person", "survey"),
    *("alike", "longer", "shorter", "reason", "parted", "model"),
}
SOURCE = ""
ORDERS = {
    SOURCE: Order("As imported", ("source_file", "source_row", "pk")),
    "key": Order("Key", ("key", "pk")),
    "newest": Order("Latest first", ("pk",), is_backward=True),
    "least-alike": Order("Lowest agreement first", ("agreement", "pk")),
    "most-alike": Order("Highest agreement first", ("agreement", "pk"), is_backward=True),
    "longest": Order("Longest first", ("seconds", "pk"), is_backward=True),
    "shortest": Order("Shortest first", ("seconds", "pk")),
}
BY_FIGURES = {name for name, order in ORDERS.items() if order.columns[0] in {"agreement", "seconds"}}


@dataclass(frozen=True)
class InstanceSelection:
    """The instances that a list shows, and their order.

    `paged`: the same instances, faster to read from somewhere in the order until enough are found.
    """

    instances: QuerySet[Instance]
    paged: QuerySet[Instance]
    order: Order

    def count(self) -> int:
        """Return the number of instances, at most one more than `MOST_COUNTED`."""
        return self.paged.order_by()[: MOST_COUNTED + 1].count()


@dataclass(frozen=True)
class Standing:
    """The outcome of an instance in a study. `why`: how the answers led to it, if it is lost; else ""."""

    study: Study
    outcome: Outcome
    why: str = ""


@dataclass(frozen=True)
class LostReason:
    """How many of the lost instances have this outcome in `study` for this reason. is_only: all with this outcome."""

    study: Study
    outcome: Outcome
    why: str
    instances: int
    is_only: bool

    @property
    def state(self) -> str:
        """Return the outcome as addresses have it."""
        return in_address(self.outcome)


@dataclass(frozen=True)
class InstanceLine:
    """An instance in the list. `not_asked`: why not, if no study asks about it."""

    instance: Instance
    images: Sequence[InstanceImage]
    standings: Sequence[Standing]
    tags: Sequence[str]
    figures: InstanceFigures | None
    not_asked: Sequence[MissingQuestion] = ()

    @property
    def caption_roles(self) -> Sequence[str]:
        return sort_roles(self.instance.captions)

    @property
    def has_image_roles(self) -> bool:
        """Whether its pictures differ in their role."""
        return len({use.role for use in self.images}) > 1


class Unasked(NamedTuple):
    """The instances that some studies did not ask about when that was stored, the last one then, and how many were."""

    instances: Sequence[int]
    last: int
    known: int


def list_instances(
    project: Project,
    studies: Sequence[Study],
    wanted: InstanceFilters,
    order: str = SOURCE,
    *,
    said: Q | None = None,
    unasked: Callable[[Set[int]], Unasked | None] | None = None,
) -> InstanceSelection:
    """Return the matching instances of `project` in an order of `ORDERS`.

    studies: all of the project. said: the condition of `matching_words`, if it was made already. unasked: of studies by
    id, None where these are too many; finds the same faster.

    Sorting by answers, within the selected study, keeps only instances whose answers can be compared or were timed.
    Without a study there is no such order, and they are sorted in import order.
    """
    among = [study for study in studies if wanted.study in ("", study.slug)]
    if order in BY_FIGURES and not wanted.study:
        order = SOURCE
    by = ORDERS.get(order, ORDERS[SOURCE])
    sorted_by = by.columns[0] if order in BY_FIGURES else ""
    figures = _figures(wanted, among) | ({f"{sorted_by}__isnull": False} if sorted_by else {})
    others = [
        *_instance_conditions(project, wanted, said),
        *_study_conditions(project, among, wanted, are_asked=bool(figures)),
    ]
    without = [study for study in studies if study.slug == wanted.without]
    for some in (among if wanted.state == NOT_ASKED else None, without if wanted.without else None):
        if some is not None:
            before = unasked({study.pk for study in some}) if unasked else None
            others.append(_is_still_not_asked(project, some, before))
    found = Instance.objects.filter(*others, project=project)
    if not figures:
        return InstanceSelection(found, found, by)
    rows = InstanceFigures.objects.filter(**figures, study__in=[study.pk for study in among])
    paged: QuerySet[Any] = found
    if sorted_by:
        there = FilteredRelation("figures", condition=Q(figures__study__in=[study.pk for study in among]))
        found = found.annotate(of_study=there).filter(**{f"of_study__{name}": value for name, value in figures.items()})
        found, by = found.annotate(sorted_by=F(f"of_study__{sorted_by}")), replace(by, columns=("sorted_by", "pk"))
        paged = found
    else:
        paged, found = (found.filter(of_rows) for of_rows in _looked_up_or_listed(rows, "instance"))
    return InstanceSelection(found, paged, by)


def page_of_instances(
    shown: InstanceSelection,
    studies: Sequence[Study],
    *,
    study: str = "",
    after: str = "",
    before: str = "",
    count: int | None = None,
) -> tuple[Slice[InstanceLine], int]:
    """Return one page of the list, and the number of all matches as counted by `InstanceSelection.count`.

    count: the number of all matches, if it is known already.
    Each instance comes with its outcome in `studies`, the project's in order, and its figures in the one called
    `study`.
    """
    found = slice_of(shown.paged, shown.order, PER_PAGE, after=after, before=before)
    whole = found.earlier is None and found.later is None
    images, standings = images_of(found.rows), _standings(found.rows, studies)
    figures = InstanceFigures.objects.filter(study__in=[each.pk for each in studies if each.slug == study])
    of_each = {row.instance_id: row for row in figures.filter(instance__in=found.rows)} if study else {}
    tags = tags_of(found.rows)
    without = [each for each in found.rows if not standings[each.pk]]
    not_asked = missing_questions(studies[0].project, without, {}) if without and studies else {}
    lines = [
        InstanceLine(
            each, images[each.pk], standings[each.pk], tags[each.pk], of_each.get(each.pk), not_asked.get(each.pk, ())
        )
        for each in found.rows
    ]
    return Slice(lines, found.earlier, found.later), len(lines) if whole else shown.count() if count is None else count


def _instance_conditions(project: Project, wanted: InstanceFilters, said: Q | None) -> list[Q]:
    """Return the conditions on the instances themselves, independent of questions."""
    names = {name: getattr(wanted, name) for name in ("type", "subtype", "split")}
    asked = [Q(**{name: "" if value == NO_NAME else value}) for name, value in names.items() if value]
    if wanted.words:
        asked.append(said or matching_words(project, wanted.words))
    if wanted.tag:
        tagged = Tag.instances.through.objects.filter(tag__project=project, tag__name=wanted.tag)
        asked.append(_is_among(tagged, "instance"))
    if wanted.images in IMAGES:
        awaited = InstanceImage.objects.filter(image=None, instance__project=project)
        among = _is_among if wanted.images == AWAITED else _is_not_among
        asked.append(among(awaited, "instance"))
    if wanted.model:
        called = [model.pk for model in project.models.all() if str(model) == wanted.model]
        asked.append(_is_among(Prediction.objects.counted().filter(model__in=called), "instance", is_index=True))
    return asked


def matching_words(project: Project, words: str) -> Q:
    """Match the instances with these words in key or captions. A small number is listed by id, as in `_is_among`."""
    says = Q(key__icontains=words) | Q(captions_containing("captions", words))
    found = list(Instance.objects.filter(says, project=project).order_by().values_list("pk", flat=True)[: FEW + 1])
    return Q(pk__in=found) if len(found) <= FEW else says


def _study_conditions(
    project: Project, studies: Sequence[Study], wanted: InstanceFilters, *, are_asked: bool
) -> list[Q]:
    """Return the conditions on instances that `studies` ask about, except those on figures.

    are_asked: whether other conditions already ensure that the selected study asks about the instances.
    """
    asked = []
    if wanted.question in QUESTIONS:
        asked.append(_is_among(_question_decisions(studies, wanted.question), "question__instance", is_index=True))
    if wanted.person:
        named = Pseudonym.objects.filter(project=project, name=wanted.person).values("annotator")
        given = Response.objects.counted().filter(annotator__in=named, study__in=studies)
        asked.append(_is_among(given, "question__instance"))
    if wanted.survey:
        # What is no number is the number of no survey.
        numbers = [int(wanted.survey)] if _WHOLE.fullmatch(wanted.survey) else []
        slots = SurveyQuestion.objects.filter(survey__study__in=studies, survey__number__in=numbers)
        asked.append(_is_among(slots, "question__instance"))
    if wanted.reason in REASONS:
        asked.append(_is_reported(studies, wanted.reason))
    if wanted.state in _STANDS_FOR and not wanted.study:
        asked.append(_has_project_outcome(project, studies, _STANDS_FOR[wanted.state]))
    elif _is_of_parts(wanted, studies):
        # Several items of an instance may have different outcomes.
        for study in studies:
            of_items = [_is_among(instances_with(each, study), "pk") for each in _STANDS_FOR[wanted.state]]
            asked.append(reduce(or_, of_items))
    elif wanted.study and wanted.state != NOT_ASKED and not asked and not are_asked:
        # Filters on answers and questions match no instance that the study does not ask about.
        asked.append(_is_asked(studies))
    return asked


def _is_among(rows: QuerySet[Any], path: str, *, is_index: bool = False) -> Q:
    """Match the instances that `path` leads to from `rows`.

    A small number is looked up first and listed by id: databases underestimate how rare the rows are, and would then
    scan all instances in order for a page that never fills. is_index: an index leads from an instance to its rows, so
    that each is looked up, where SQLite would first list the instances of all rows.
    """
    looked_up, listed = _looked_up_or_listed(rows, path)
    return looked_up if is_index else listed


def _is_not_among(rows: QuerySet[Any], path: str) -> Q:
    """Match the instances that `path` does not lead to from `rows`, by an index from an instance to its rows.

    A list of all their instances that does not fit into the database's memory would be read once for each instance.
    """
    looked_up, _ = _looked_up_or_listed(rows, path)
    return ~looked_up


def _looked_up_or_listed(rows: QuerySet[Any], path: str) -> tuple[Q, Q]:
    """Return both conditions of `_is_among`: one looks each instance up, one lists all instances first."""
    instances = rows.order_by().values_list(path, flat=True)
    some = list(instances[: FEW + 1])
    if len(some) <= FEW:
        return Q(pk__in=some), Q(pk__in=some)
    return Q(Exists(rows.order_by().filter(**{path: OuterRef("pk")}))), Q(pk__in=instances)


def _is_of_parts(wanted: InstanceFilters, studies: Sequence[Study]) -> bool:
    """Whether the outcome filter is about items that are parts of their instances."""
    is_of_study = bool(wanted.study) and wanted.state in _STANDS_FOR
    return is_of_study and any(study.design.asks_about_parts for study in studies)


def _figures(wanted: InstanceFilters, studies: Sequence[Study]) -> dict[str, Any]:
    """Return the conditions on figures, all of one study: lookup -> value."""
    figures: dict[str, Any] = {**_ALIKE.get(wanted.alike, {}), **_PARTED.get(wanted.parted, {})}
    for text, lookup in ((wanted.longer, "seconds__gte"), (wanted.shorter, "seconds__lte")):
        if _SECONDS.fullmatch(text):
            figures[lookup] = float(text)
    if wanted.progress in PROGRESS:
        figures["progress"] = wanted.progress
    if wanted.study and wanted.state in _STANDS_FOR and not _is_of_parts(wanted, studies):
        figures["outcome__in"] = [outcome.value for outcome in _STANDS_FOR[wanted.state]]
    return figures


def _is_asked(studies: Iterable[Study]) -> Q:
    return _is_among(Question.objects.filter(study__in=studies), "instance")


def _is_not_asked(studies: Iterable[Study]) -> Q:
    return _is_not_among(Question.objects.filter(study__in=studies), "instance")


def _is_still_not_asked(project: Project, studies: Sequence[Study], before: Unasked | None) -> Q:
    """Match the instances that none of `studies` asks about, among those of `before` and newer ones.

    What a study asked about it still asks about: questions go only with their study. A small number is listed by id, as
    in `_is_among`.
    """
    instances = Instance.objects.filter(project=project).order_by()
    # One of two imports at the same time may have stored lower ids later.
    if before is None or instances.filter(pk__lte=before.last).count() != before.known:
        return _is_not_asked(studies)
    matching = (Q(pk__in=before.instances) | Q(pk__gt=before.last)) & _is_not_asked(studies)
    found = list(instances.filter(matching).values_list("pk", flat=True)[: FEW + 1])
    return Q(pk__in=found) if len(found) <= FEW else matching


def _question_decisions(studies: Iterable[Study], name: str) -> QuerySet[Decision]:
    """Return the decisions on the questions of `studies` in this state."""
    asked = Q(pk__in=[])
    for study in studies:
        if name == SETTLED:
            sort = ~Q(settled_choice="")
        elif name in _ANSWERED:
            sort = _ANSWERED[name]
        elif name in _OUTCOMES:
            sort = question_is(_OUTCOMES[name], accepts=study.accepts)
        else:
            sort = is_at[Progress(name)]
        asked |= Q(study=study) & sort
    return Decision.objects.filter(asked)


def _is_reported(studies: Sequence[Study], name: str) -> Q:
    if name == NOT_SHOWN:
        return _is_among(ordinary_image_skips(studies), "question__instance")
    reports = reports_heard(studies)
    return _is_among(reports if name == ANY else reports.filter(reason=name), "question__instance")


def _has_outcome(studies: Iterable[Study], outcomes: Sequence[Outcome]) -> Q:
    return _is_among(InstanceFigures.objects.filter(study__in=studies, outcome__in=outcomes), "instance")


def _has_project_outcome(project: Project, studies: Sequence[Study], outcomes: Sequence[Outcome]) -> Q:
    """Match the instances with one of these outcomes in the project.

    The outcome in a study of its dataset or, if none has asked about them yet, in the last study before it. Instances
    accepted only there have no outcome yet. Other studies count only where none of these asks about an instance.
    """
    declared = dataset_studies(project)
    if not declared:
        return _has_outcome(studies, outcomes)
    if Outcome.AGREED in outcomes:
        on_the_way = [each for study in declared for each in (study, *upstream_studies(study))]
        return _has_outcome(studies, outcomes) & _is_not_asked(on_the_way)
    return reduce(or_, (_has_pipeline_outcome(study, outcomes) for study in declared))


def _has_pipeline_outcome(study: Study, outcomes: Sequence[Outcome]) -> Q:
    way = [study, *upstream_studies(study)]
    standing = _has_outcome(way[:1], outcomes)
    # Accepted only upstream of the dataset is no outcome yet.
    earlier = set(outcomes) - {Outcome.ACCEPTED} | ({Outcome.ACCEPTED} if Outcome.NONE_YET in outcomes else set())
    for index, study in enumerate(way[1:], start=1):
        if earlier:
            standing |= _has_outcome([study], sorted(earlier)) & _is_not_asked(way[:index])
    return standing


def _standings(instances: Iterable[Instance], studies: Sequence[Study]) -> Mapping[int, Sequence[Standing]]:
    found: dict[tuple[int, int], list[Decision]] = {}
    by_id = {study.pk: study for study in studies}
    ids = [instance.pk for instance in instances]
    decisions = Decision.objects.filter(question__instance__in=ids, study__in=by_id).select_related("question")
    for decision in decisions.order_by("question_id").defer("question__content", "question__won"):
        decision.question.study = by_id[decision.study_id]
        found.setdefault((decision.question.instance_id, decision.study_id), []).append(decision)
    outcomes = {
        key: outcome_of_instance((each.question.item, each.outcome) for each in of_one) for key, of_one in found.items()
    }
    # The first question with the outcome explains it.
    lost = {
        key: next((each for each in found[key] if each.outcome is outcome and not each.settled_choice), None)
        for key, outcome in outcomes.items()
        if outcome in LOST
    }
    reasons = explain([decision.question_id for decision in lost.values() if decision]) if lost else {}
    why = {
        key: reason_of(decision.outcome, reasons[decision.question_id]) for key, decision in lost.items() if decision
    }
    return {
        instance: [
            Standing(study, outcomes[key], why.get(key, ""))
            for study in studies
            for key in [(instance, study.pk)]
            if key in outcomes
        ]
        for instance in ids
    }


def lost_reasons(project: Project, studies: Sequence[Study], lost: QuerySet[Instance]) -> list[LostReason]:
    """Return why instances were lost in the dataset's studies and those upstream of them, or in all without a dataset.

    lost: at most `MOST_EXPLAINED` instances. In the order of `studies`, the most frequent reason of each first.
    """
    on_the_way = {each.pk for way in ways_to_dataset(project) for each in way}
    found: Counter[tuple[Study, Outcome, str]] = Counter()
    for standings in _standings(lost, [each for each in studies if not on_the_way or each.pk in on_the_way]).values():
        found.update((each.study, each.outcome, each.why) for each in standings if each.outcome in LOST)
    reasons = Counter((study, outcome) for study, outcome, _ in found)
    order = {study.pk: place for place, study in enumerate(studies)}
    ordered = sorted(found.items(), key=lambda each: (order[each[0][0].pk], -each[1], each[0][2]))
    return [LostReason(study, outcome, why, n, reasons[study, outcome] == 1) for (study, outcome, why), n in ordered]
