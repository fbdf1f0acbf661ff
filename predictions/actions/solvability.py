"""Accuracy of blind baselines on a draft's questions, stored with the draft, because its launch may depend on it."""

from collections.abc import Iterable
from datetime import datetime

from evaluation.blind.accuracy import accuracy_of
from evaluation.blind.cases import case_of
from predictions.blind_baselines import part_seen
from predictions.models import Prediction, Run
from studies.actions.conditions import digest_of, note_blind_score
from studies.actions.studies import draft_questions
from studies.kinds import get_kind
from studies.models import Question, StudyState


def note(*, run: Run, now: datetime) -> None:
    """Record the accuracy of a blind baseline on a draft, once its run is complete."""
    part, study = part_seen(run.spec), run.study
    if part is None or study is None or run.model is None or study.state != StudyState.DRAFT:
        return
    asked = [each for each in draft_questions(study, now=run.requested_at) if isinstance(each, Question)]
    scores = _scores_of(run, asked)
    found = [
        (case, scores.get((each.instance_id, case.name)))
        for each in asked
        if (case := case_of(get_kind(each.kind), each.content, each.right, instance=each.instance_id, part=part))
    ]
    answered = [(case, given) for case, given in found if given is not None and case.options.keys() <= given.keys()]
    if len(answered) < len(found):
        return
    left_out, accuracy = len(asked) - len(answered), accuracy_of(answered)
    about = digest_of(asked)
    note_blind_score(study=study, baseline=run.spec, about=about, found=accuracy, left_out=left_out, now=now)


def _scores_of(run: Run, asked: Iterable[Question]) -> dict[tuple[int, str], dict[str, float]]:
    """Return the scores of the run's model, by instance and by hash of the content."""
    kinds = {each.kind for each in asked}
    found = Prediction.objects.about(run.project).counted().filter(model=run.model, kind__in=kinds).exclude(scores=None)
    rows = found.order_by().values_list("instance_id", "content_hash", "scores")
    return {(instance, content): scores for instance, content, scores in rows.iterator() if scores}
