"""A gate: stop a pipeline whose texts betray that they are made to a model that sees only texts.

Source of the idea: Hsieh et al. 2023 (SugarCrepe), section 2; the baseline and its interval are those of
`evaluation.blind`.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from evaluation.blind.accuracy import BlindAccuracy, accuracy_of
from evaluation.blind.cases import Case, merge_cases
from evaluation.blind.logistic_regression import FOLDS, CannotFit, folds_of, scores_of_fold
from evaluation.blind.ngrams import Ngrams
from making.filters.base import CandidateText, FilterInput, StageContext, StageFilter, StageVerdicts, Verdict

BEGINNING, MADE = "beginning", "made"


class BlindSolvability(StageFilter):
    """Stop the pipeline if a classifier that sees no images recognises the made texts too well.

    Each text that is left is paired with the text that its chain began with. The n-gram baseline is fitted to the pairs
    of other captions, told which text is made, and must tell it in each pair (5 folds; a tie is half right). The
    pipeline stops if the 95 % interval of its share of right pairs is above `at_most`.
    """

    version: ClassVar[str] = "1"

    at_most: float = Field(default=0.6, ge=0.5, lt=1)

    def judge_stage(self, candidates: Sequence[FilterInput], context: StageContext) -> StageVerdicts:
        verdicts = [Verdict()] * len(candidates)
        cases = merge_cases(_case(each) for each in candidates if isinstance(each, CandidateText))
        if not cases:
            return StageVerdicts(verdicts, "There were no texts to tell apart.")
        try:
            found = _accuracy(cases)
        except CannotFit:
            few = "Blind solvability needs texts of at least two captions that have no text in common; there are fewer."
            return StageVerdicts(verdicts, few, f"{few} Begin with more captions, or remove the filter.")
        note = _sentence(found)
        if found.low is None or found.low <= self.at_most:
            return StageVerdicts(verdicts, note)
        return StageVerdicts(
            verdicts,
            note,
            f"{note} The interval is above the bound of {100 * self.at_most:g} %, so no instances were made. Change "
            "the maker or the filters, in a pipeline of another name.",
        )


def _case(candidate: CandidateText) -> Case:
    texts = {BEGINNING: candidate.start_text, MADE: candidate.text}
    name = hashlib.sha256(json.dumps([candidate.start, *texts.values()]).encode()).hexdigest()
    shares = {f"instance {candidate.start}", *(f"text {text}" for text in texts.values())}
    return Case(name, frozenset(shares), texts, BEGINNING)


def _accuracy(cases: Sequence[Case]) -> BlindAccuracy:
    folds, features = folds_of(cases), Ngrams()
    scores = {
        place: found for fold in range(FOLDS) for place, found in scores_of_fold(cases, folds, fold, features).items()
    }
    return accuracy_of([(case, scores[place]) for place, case in enumerate(cases)])


def _sentence(found: BlindAccuracy) -> str:
    share = 100 * (found.share or 0)
    interval = (
        "" if found.low is None or found.high is None else f", 95 % CI {100 * found.low:.1f}–{100 * found.high:.1f}"
    )
    return (
        f"A blind classifier tells the made text in {share:.1f} % of {found.n:,} pairs{interval}; guessing gives 50 %."
    )
