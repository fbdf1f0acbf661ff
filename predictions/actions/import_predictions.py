"""Import a model's answers from a file into a project: all of them, or none with a list of problems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from django.db import DatabaseError, IntegrityError, transaction

from evaluation.instance_lookup import KnownInstance, RowInstances, join
from evaluation.result_files import ResultsFileError
from predictions.actions.mismatched_predictions import delete_mismatched
from predictions.actions.question_options import options_asked
from predictions.errors import PredictionsRefused
from predictions.importing import FORMATS, Answer, Row, get_reader
from predictions.models import LONGEST, Model, Prediction
from predictions.options import answered_options, closest, is_right
from studies.actions.events import Actor, What, record
from studies.actions.table_statistics import refresh_statistics
from studies.models import Project
from studies.names import problem_with_name
from studies.wording import format_count

BATCH = 2_000
_Question = tuple[int, str, str, str]
_Answers = dict[_Question, tuple[int, Answer]]


@dataclass(frozen=True)
class ModelName:
    """A model's identity; see `predictions.models.Model`."""

    name: str
    version: str = ""
    weights: str = ""


@dataclass(frozen=True)
class Summary:
    """What an import did or, with `dry_run`, would do; `left_out`: sentences about the skipped rows."""

    file: str
    model: str
    rows: int
    added: int
    already_there: int
    left_out: tuple[str, ...]
    dry_run: bool

    def __str__(self) -> str:
        verb = "would be added" if self.dry_run else "added"
        counts = f"{format_count(self.added, 'prediction')} {verb}, {self.already_there:,} already there."
        left_out = f" {format_count(len(self.left_out), 'row')} left out." if self.left_out else ""
        return f"{format_count(self.rows, 'row')} of {self.model}: {counts}{left_out}"


def import_predictions(
    *,
    project: Project,
    file: Path,
    format: str,
    model: ModelName,
    by: Actor,
    now: datetime,
    skip_unknown: bool = False,
    dry_run: bool = False,
) -> Summary:
    """Import a file of predictions.

    Existing predictions are kept and must be equal, unless their options do not match their question: those are
    replaced. skip_unknown: skip rows about instances that the project does not have, instead of refusing the file.
    Raises PredictionsRefused.
    """
    if problems := problems_with_names(model):
        raise PredictionsRefused(problems)
    rows = _read(file, format)
    known = list(_known_instances(project))
    joined = join([(row.number, row.instance) for row in rows], known)
    _refuse_unjoined(joined, skip_unknown=skip_unknown)
    answers = _answers_by_question(rows, joined, rules={one.id: one.caption_rule for one in known})
    answers = _with_outcomes(project, answers, keys={one.id: one.key for one in known})
    try:
        with transaction.atomic():
            maker = _maker(project, model, now=now, dry_run=dry_run)
            new = _new_ones(maker, answers)
            if not dry_run:
                # A file name may contain bytes that are not valid text.
                _save(maker, new, file=file.name.encode(errors="replace").decode()[:255], now=now)
                refresh_statistics(Prediction)
                if new:
                    what, model_name = What.PREDICTIONS_IMPORTED, str(maker)
                    record(project=project, what=what, by=by, now=now, model=model_name, predictions=len(new))
    except IntegrityError as error:
        raise PredictionsRefused(
            ["Another import ran at the same time. Nothing was imported; import again."]
        ) from error
    except DatabaseError as error:
        raise PredictionsRefused([f"The database refused ({error}). Nothing was imported; import again."]) from error
    return Summary(
        file=file.name,
        model=str(maker),
        rows=len(rows),
        added=len(new),
        already_there=len(answers) - len(new),
        left_out=tuple(f"Record {number}: {reason}" for number, reason in joined.unknown.items()),
        dry_run=dry_run,
    )


def problems_with_names(model: ModelName) -> list[str]:
    """Return what is wrong with a model's identity, one sentence per problem."""
    problems = [] if model.name.strip() else ["The model has no name. Give the name for tables."]
    for field, longest in LONGEST.items():
        text: str = getattr(model, field)
        if len(text) > longest:
            problems.append(f"The model's {field} has {len(text):,} characters; at most {longest} fit.")
        elif text.strip() and (reason := problem_with_name(text.strip())):
            problems.append(f"The model's {field} {text!r} cannot be used. {reason}")
    return problems


def _read(file: Path, format: str) -> list[Row]:
    if format not in FORMATS:
        raise PredictionsRefused([f"The format {format!r} is unknown. Use one of {', '.join(FORMATS)}."])
    try:
        rows = get_reader(format)(file)
    except OSError as error:
        raise PredictionsRefused([f"{file} cannot be read ({error.strerror}). Check the name."]) from error
    except ResultsFileError as error:
        raise PredictionsRefused(error.problems) from error
    if not rows:
        raise PredictionsRefused([f"{file.name} has no records."])
    return rows


def _known_instances(project: Project) -> Iterator[KnownInstance]:
    rows = project.instances.order_by("id").values_list(
        "id", "key", "original_captions", "type", "subtype", "reference__coco", "caption_rule"
    )
    for id, key, captions, type, subtype, coco, rule in rows.iterator():
        caption, negative_caption = (captions.get(role, "") for role in ("caption", "negative_caption"))
        yield KnownInstance(
            id, key, caption, negative_caption, type, subtype, rule, coco if isinstance(coco, str) else ""
        )


def _refuse_unjoined(joined: RowInstances, *, skip_unknown: bool) -> None:
    wrong = dict(joined.unclear) if skip_unknown else {**joined.unknown, **joined.unclear}
    if wrong:
        raise PredictionsRefused([f"Record {number}: {wrong[number]}" for number in sorted(wrong)])
    if not joined.instances:
        raise PredictionsRefused(["No record is about an instance of the project. Check the project and the file."])


def _answers_by_question(rows: Sequence[Row], joined: RowInstances, *, rules: Mapping[int, str]) -> _Answers:
    answers: _Answers = {}
    problems = []
    for row in rows:
        instance = joined.instances.get(row.number)
        if instance is None:
            continue
        for answer in row.answers:
            asked = (instance, answer.kind, answer.variant, row.caption_rule or rules[instance])
            first, _ = answers.setdefault(asked, (row.number, answer))
            if first != row.number:
                question = _words(answer.kind, answer.variant)
                problems.append(f"Record {row.number}: It answers the same question ({question}) as record {first}.")
    if problems:
        raise PredictionsRefused(problems)
    return answers


def _with_outcomes(project: Project, answers: _Answers, *, keys: Mapping[int, str]) -> _Answers:
    """Return the answers, those with scores graded. Refuses options that no question has."""
    asked = options_asked(project, {question[:3] for question in answers})
    found: _Answers = {}
    problems = []
    for question, (number, answer) in answers.items():
        of_question, scored = asked[question[:3]], answered_options(answer.kind, answer.scores)
        problem = of_question if isinstance(of_question, str) else closest(of_question, scored).problem(scored)
        if isinstance(of_question, str) or problem:
            name = f"{_words(answer.kind, answer.variant)} of {keys[question[0]]}"
            problems.append((number, f"Record {number}: {name}: {problem}."))
            continue
        rights = {each.right for each in of_question if each.fit(scored)}
        if answer.scores is not None:
            # The right option is unknown if studies disagree on it.
            answer = replace(answer, is_right=is_right(answer.scores, rights.pop() if len(rights) == 1 else ""))
        found[question] = (number, answer)
    if problems:
        raise PredictionsRefused([sentence for _, sentence in sorted(problems)])
    return found


def _maker(project: Project, model: ModelName, *, now: datetime, dry_run: bool) -> Model:
    identity = {"name": model.name.strip(), "version": model.version.strip(), "weights": model.weights.strip()}
    if dry_run:
        return Model.objects.filter(project=project, **identity).first() or Model(project=project, **identity)
    return Model.objects.get_or_create_named(project, now=now, **identity)


def _new_ones(maker: Model, answers: _Answers) -> _Answers:
    """Return the answers that are not stored yet; refuses an answer that differs from the stored one."""
    if maker.pk is None:
        return answers
    new = dict(answers)
    problems = []
    columns = ("instance_id", "kind", "variant", "caption_rule", "scores", "is_right", "instance__key")
    stored = maker.predictions.counted().order_by().values_list(*columns)
    for id, kind, variant, rule, scores, was_right, key in stored.iterator():
        number, answer = new.pop((id, kind, variant, rule), (0, None))
        # The right answer may have been unknown when the stored prediction was graded, so compare scores only.
        says_the_same = answer is None or (
            answer.scores == scores and (scores is not None or answer.is_right == was_right)
        )
        if not says_the_same:
            question = f"{_words(kind, variant)} of {key}, captions {rule}"
            problems.append(f"Record {number}: {maker} already has another answer to {question}.")
    if problems:
        problems.append("Import other answers under another version of the model.")
        raise PredictionsRefused(problems)
    return new


def _words(kind: str, variant: str) -> str:
    return f"{kind} {variant}".strip()


def _save(maker: Model, new: _Answers, *, file: str, now: datetime) -> None:
    delete_mismatched(model=maker, replaced_by=((*question, "") for question in new))
    Prediction.objects.bulk_create(
        (
            Prediction(
                model=maker,
                instance_id=instance,
                kind=kind,
                variant=variant,
                caption_rule=rule,
                scores=answer.scores,
                is_right=answer.is_right,
                source_file=file,
                source_row=number,
                created_at=now,
            )
            for (instance, kind, variant, rule), (number, answer) in new.items()
        ),
        batch_size=BATCH,
    )
