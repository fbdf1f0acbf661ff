"""Questions on which people and all models disagree, with the answers of each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, When
from django.db.models.expressions import Combinable

from annotation.models import Response
from predictions.models import Model, Prediction
from predictions.options import Options, answered_options, options_of
from results.models import InstanceFigures
from results.queries.instances.instance_history import names_of_options
from results.queries.reports.answer_scores import KNOWS_RIGHT, AskedQuestion, asked_questions, kinds_with_own_scores
from results.reports.explorer_links import NO_NAME
from results.reports.facts import Disagreement, Way
from results.reports.sections.human_model_disagreement import all_models_disagree, way_of_people
from studies.kinds import Picture, QuestionContent, content_hash, get_kind
from studies.models import Instance, Project, Purpose, Question, Study

PER_PAGE = 10
CHUNK = 2_000
# Pilots and qualifications: no number of the project uses them.
NOT_COUNTED = (Purpose.PILOT, Purpose.QUALIFICATION)
_COLUMNS = ("pk", "instance", "kind", "variant")
# Instance, kind and variant: the name of a question, whatever its content.
_Name = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Whether a model was right. `options`: those that a declared prediction answers."""

    right: bool
    options: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _AskedContent:
    """The hash of a question's content, "" if no model is known to have been shown anything, and its options."""

    content: str
    options: Options

    def matches(self, prediction: Prediction) -> bool:
        """Whether `prediction` is about this question; a declared one is matched by its options."""
        if prediction.content_hash:
            return prediction.content_hash == self.content
        return self.options.fit(answered_options(prediction.kind, prediction.scores))


# Content hash, "" if a file declares the prediction -> model -> its outcome.
_Contents = dict[str, dict[int, _Outcome]]


@dataclass(frozen=True)
class ComparisonFilters:
    """The filters of the list; "" does not filter. `asked`: kind and variant, as from `kind_and_variant`."""

    way: str = Way.PEOPLE
    study: str = ""
    asked: str = ""
    type: str = ""
    subtype: str = ""

    def takes(self, one: Disagreement) -> bool:
        asked, category = kind_and_variant(one.kind, one.variant), (one.type or NO_NAME, one.subtype or NO_NAME)
        wanted = (self.study, self.asked, self.type, self.subtype)
        pairs = zip(wanted, (one.study, asked, *category), strict=True)
        return self.way == one.way and all(name in ("", found) for name, found in pairs)


def kind_and_variant(kind: str, variant: str) -> str:
    """Return the kind and variant of a question as addresses name them. Example: "image_to_text: negative_image"."""
    return f"{kind}: {variant}" if variant else kind


def describe_kind(kind: str, variant: str) -> str:
    """Return the title of a kind, with the variant. Example: "Pick the caption that describes an image · swap"."""
    title = get_kind(kind).title
    return f"{title} · {variant}" if variant else title


def human_model_disagreements(
    project: Project, study: Study | None = None, *, by_figures: bool = False
) -> list[Disagreement]:
    """Return the questions on which people and all models disagree, by instance, in `project` or one study.

    by_figures: only of instances with such a question by `InstanceFigures`, without reading the others.

    One query without predictions. Otherwise two more find candidates, and one per way and per few thousand candidates
    confirms them: content hashes are not in the database, so they are computed only for candidates.
    """
    if not Prediction.objects.about(project).counted().exists():
        return []
    studies = Study.objects.filter(project=project) if study is None else Study.objects.filter(pk=study.pk)
    counted = studies.exclude(purpose__in=NOT_COUNTED) if study is None else studies
    people = [one for way in Way for one in _people(counted, way, by_figures=by_figures)]
    models = _models(project, set(map(_name, people)))
    asked = _asked_contents({one.question: _name(one) for one in people}, models)
    found = []
    for one in sorted(people, key=lambda one: (one.instance, one.question)):
        rights = _about(models[_name(one)], asked[one.question])
        if all_models_disagree(one.way, rights.values()):
            found.append(replace(one, models=len(rights)))
    return found


def _people(studies: QuerySet[Study], way: Way, *, by_figures: bool) -> Iterator[Disagreement]:
    """Yield questions on which people are decided, and all models shown some one content decided otherwise.

    Only questions with a known right answer of one label.
    """
    questions = Question.objects.filter(_models_agree(way), study__in=studies).exclude(right="")
    if by_figures:
        named = InstanceFigures.objects.disagreements().filter(study__in=studies).order_by()
        instances = list(named.values_list("instance", flat=True).distinct())
        # No statement takes more than 65,535 values.
        for first in range(0, len(instances), CHUNK):
            some = questions.filter(instance__in=instances[first : first + CHUNK])
            yield from _people_about(some, way)
    else:
        yield from _people_about(questions, way)


def _people_about(questions: QuerySet[Question], way: Way) -> Iterator[Disagreement]:
    about = ("question", "question__instance", "study__slug", "question__kind", "question__variant")
    category = ("question__instance__type", "question__instance__subtype")
    answered = Response.objects.counted().filter(question__in=questions).exclude(choice="")
    rows = answered.order_by().values_list(*about, *category)
    counted = rows.annotate(answers=Count("pk"), rights=Count("pk", filter=Q(choice=F("question__right"))))
    for question, instance, of, kind, variant, type, subtype, answers, right in counted.iterator(chunk_size=CHUNK):
        if way_of_people(right, answers) is way:
            yield Disagreement(question, instance, of, kind, variant, type, subtype, way, answers, right)


def _models_agree(way: Way) -> Exists:
    """Match the questions for whose name all predictions about some one content are right, or wrong.

    Whatever a question shows, its models can only agree if those that were shown the same, or that declare theirs, do.
    Declared ones may be about other options, so one that agrees is enough.
    """
    is_right = way is Way.MODELS
    named = Prediction.objects.counted().filter(
        _comparable(OuterRef("instance__caption_rule")),
        instance=OuterRef("instance"),
        kind=OuterRef("kind"),
        variant=OuterRef("variant"),
    )
    others = Count("pk", filter=Q(is_right=not is_right) & ~Q(content_hash=""))
    agreeing = Count("pk", filter=Q(is_right=is_right))
    of_one_mind = named.order_by().values("content_hash").annotate(others=others, agreeing=agreeing)
    return Exists(of_one_mind.filter(others=0, agreeing__gt=0))


def _comparable(rule: Combinable, known: str = "is_right") -> Q:
    """Match the predictions with the column `known` that can be compared with people's answers.

    Those that say what they are about, and those of files that at least read captions by `rule`, as people did.
    """
    return (~Q(content_hash="") | Q(caption_rule=rule)) & Q(**{f"{known}__isnull": False})


def _models(project: Project, names: set[_Name]) -> dict[_Name, _Contents]:
    """Return whether models were right, by question name and the content shown; only names with predictions."""
    found: dict[_Name, _Contents] = {}
    kinds = {kind for _, kind, _ in names}
    instances = sorted({instance for instance, _, _ in names})
    counted = Prediction.objects.about(project).counted()
    comparable = counted.filter(_comparable(F("instance__caption_rule")), kind__in=kinds)
    # Options of a computed prediction follow from its content.
    declared = Case(When(content_hash="", then=F("scores")), default=None)
    columns = comparable.order_by().values_list(
        "instance_id", "kind", "variant", "content_hash", "model_id", "is_right", declared
    )
    for start in range(0, len(instances), CHUNK):
        some = columns.filter(instance__in=instances[start : start + CHUNK])
        for instance, kind, variant, content, model, is_right, scores in some.iterator(chunk_size=CHUNK):
            name = (instance, kind, variant)
            if is_right is not None and name in names:
                options = frozenset() if content else answered_options(kind, scores)
                found.setdefault(name, {}).setdefault(content, {})[model] = _Outcome(is_right, options)
    return found


def _about(contents: _Contents, asked: _AskedContent) -> dict[int, bool]:
    """Return whether each model was right about a question; computed predictions replace declared ones."""
    declared = contents.get("", {}).items()
    rights = {model: each.right for model, each in declared if asked.options.fit(each.options)}
    if asked.content:
        rights |= {model: each.right for model, each in contents.get(asked.content, {}).items()}
    return rights


def _name(one: Disagreement) -> _Name:
    return one.instance, one.kind, one.variant


def _asked_contents(questions: Mapping[int, _Name], models: Mapping[_Name, _Contents]) -> dict[int, _AskedContent]:
    """Return the content hash and options of each question, by id."""
    found: dict[int, _AskedContent] = {}
    ids = list(questions)
    for start in range(0, len(ids), CHUNK):
        read = Question.objects.filter(pk__in=ids[start : start + CHUNK])
        for pk, name, content in read.values_list("pk", "kind", "content"):
            kind, is_computed = get_kind(name), models[questions[pk]].keys() - {""}
            found[pk] = _AskedContent(content_hash(kind, content) if is_computed else "", options_of(kind, content))
    return found


def model_correctness(study: Study) -> dict[str, dict[int, float]]:
    """Return how right models were, from 0 to 1: model by name -> id of the question.

    Covers the questions of `study` with a known right answer, and only predictions about exactly the content shown.
    """
    found = _right_options(study)
    for model, scores in _own_scores(study).items():
        found.setdefault(model, {}).update(scores)
    return found


def _own_scores(study: Study) -> dict[str, dict[int, float]]:
    """Return `model_correctness` for kinds that score answers themselves.

    The answer that follows from a model's scores of the options is scored as a person's answer.
    """
    kinds = kinds_with_own_scores(study)
    if not kinds:
        return {}
    known = Question.objects.filter(KNOWS_RIGHT, study=study, kind__in=kinds, taken_out_at=None).order_by("pk")
    about: dict[_Name, list[int]] = {}
    for pk, *name in known.values_list(*_COLUMNS):
        about.setdefault((name[0], name[1], name[2]), []).append(pk)
    comparable = _comparable(F("instance__caption_rule"), known="scores")
    rows = Prediction.objects.about(study.project).counted().filter(comparable, kind__in=kinds).order_by("content_hash")
    asked = asked_questions(study, kinds) if about and rows.exists() else {}
    hashes = {pk: content_hash(each.kind, each.content) for pk, each in asked.items()}
    found: dict[str, dict[int, float]] = {}
    for each in rows.select_related("model").iterator(chunk_size=CHUNK):
        for pk in about.get((each.instance_id, each.kind, each.variant), ()):
            if each.content_hash in ("", hashes[pk]) and (score := _score(asked[pk], each.scores or {})) is not None:
                # What was computed comes after what a file declares, and takes its place.
                found.setdefault(str(each.model), {})[pk] = score
    return found


def _score(asked: AskedQuestion, scores: Mapping[str, float]) -> float | None:
    """Return the score of the answer that follows from a model's scores; None if they are not those of the question."""
    if not options_of(asked.kind, asked.content).fit(frozenset(scores)):
        return None
    answer = asked.kind.predict_answer(asked.content, scores)
    if answer is None:
        # Tied options are no choice; other kinds may not derive an answer from scores.
        return 0.0 if asked.kind.has_one_label else None
    return asked.score(answer)


def _right_options(study: Study) -> dict[str, dict[int, float]]:
    """Return `model_correctness` for questions with one right option."""
    own = kinds_with_own_scores(study)
    asked = Question.objects.filter(study=study, taken_out_at=None).exclude(right="").exclude(kind__in=own)
    asked = asked.order_by("pk")
    names = {pk: (instance, kind, variant) for pk, instance, kind, variant in asked.values_list(*_COLUMNS)}
    models = _models(study.project, set(names.values()))
    known = {pk: name for pk, name in names.items() if name in models}
    asked_by = _asked_contents(known, models)
    found: dict[str, dict[int, float]] = {}
    for model in Model.objects.filter(project=study.project) if known else ():
        rights = {pk: _about(models[name], asked_by[pk]).get(model.pk) for pk, name in known.items()}
        answered = {pk: float(right) for pk, right in rights.items() if right is not None}
        if answered:
            found[str(model)] = answered
    return found


@dataclass(frozen=True)
class Choice:
    """An option in the list, with who chose it. `models`: names, each with its score or None."""

    key: str
    name: str
    picture: Picture | None
    text: str
    is_right: bool
    people: int
    models: Sequence[tuple[str, float | None]]


@dataclass(frozen=True)
class Line:
    """A question of the list. `others`: models with a known outcome but an unknown option."""

    disagreement: Disagreement
    instance: Instance
    shown: QuestionContent
    choices: Sequence[Choice]
    others: Sequence[str]

    @property
    def asked(self) -> str:
        return describe_kind(self.disagreement.kind, self.disagreement.variant)

    @property
    def share(self) -> float:
        """Percentage of right answers."""
        return 100 * self.disagreement.right / self.disagreement.answers


def disagreement_page(project: Project, disagreements: Sequence[Disagreement], page: Any) -> Page[Line]:
    """Return one page of the list with the answers of people and models; four queries at any size."""
    found: Page[Any] = Paginator(disagreements, PER_PAGE).get_page(page)
    ones: list[Disagreement] = list(found.object_list)
    questions = Question.objects.select_related("instance").in_bulk([one.question for one in ones])
    people: dict[int, Counter[str]] = defaultdict(Counter)
    said = Response.objects.counted().filter(question__in=questions).order_by().values_list("question", "choice")
    for question, choice, count in said.annotate(count=Count("pk")):
        people[question][choice] = count
    comparable = Prediction.objects.about(project).counted().filter(_comparable(F("instance__caption_rule")))
    about = comparable.filter(instance__in={one.instance for one in ones})
    predictions: dict[_Name, list[Prediction]] = defaultdict(list)
    order = ("model__name", "model__version", "model__weights", "content_hash")
    for each in about.select_related("model").order_by(*order):
        predictions[each.instance_id, each.kind, each.variant].append(each)
    found.object_list = [
        _line(one, questions[one.question], people[one.question], predictions[one.instance, one.kind, one.variant])
        for one in ones
    ]
    return found


def _line(one: Disagreement, question: Question, people: Counter[str], predictions: Iterable[Prediction]) -> Line:
    kind = get_kind(question.kind)
    options = kind.options(question.content)
    names = names_of_options(options)
    chosen: dict[str, list[tuple[str, float | None]]] = defaultdict(list)
    others = []
    for each in predictions_on(question, predictions):
        key = _chosen_option(each, question.right, [option.key for option in options])
        if key:
            chosen[key].append((str(each.model), (each.scores or {}).get(key)))
        else:
            others.append(str(each.model))
    choices = [
        Choice(
            key=option.key,
            name=names[option.key],
            picture=option.picture,
            text=option.text,
            is_right=option.key == question.right,
            people=people[option.key],
            models=chosen[option.key],
        )
        for option in options
    ]
    return Line(one, question.instance, kind.question_content(question.content), choices, others)


def predictions_on(question: Question, predictions: Iterable[Prediction]) -> list[Prediction]:
    """Return those of `predictions` that are about exactly what `question` shows, one for each model.

    predictions: of the same instance, kind and variant, in the order of their content hashes.
    """
    kind = get_kind(question.kind)
    asked = _AskedContent(content_hash(kind, question.content), options_of(kind, question.content))
    # A computed prediction comes after a declared one, and replaces it.
    return list({each.model_id: each for each in predictions if asked.matches(each)}.values())


def _chosen_option(prediction: Prediction, right: str, options: Sequence[str]) -> str:
    """Return the key of the option that a model chose, "" if unknown or tied."""
    if prediction.is_right:
        return right
    if prediction.scores:
        highest = max(prediction.scores.values())
        best = [key for key, score in prediction.scores.items() if score == highest]
        return best[0] if len(best) == 1 else ""
    wrong = [key for key in options if key != right]
    return wrong[0] if len(wrong) == 1 else ""
