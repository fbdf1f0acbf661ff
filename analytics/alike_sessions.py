"""Finds the sessions of a study that answer most alike, without comparing every pair answer by answer."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

# As in `analytics.flags.same_answers`: with fewer shared questions, equal answers say nothing.
FEWEST_SHARED, LEAST_EQUAL = 20, 0.95
MOST_ALIKE = 3
# Sessions compared with all others at once.
BATCH = 500


class AlikeSessions:
    """given: session, question, label and time of every labelled answer."""

    def __init__(self, given: Iterable[tuple[int, int, str, datetime]]) -> None:
        # Imported here, because SciPy's matrices load more than the pages of the site need.
        from scipy.sparse import csr_array

        self._answers: dict[int, dict[int, tuple[str, datetime]]] = {}
        for session, question, label, at in given:
            self._answers.setdefault(session, {})[question] = (label, at)
        self._found: dict[int, tuple[int, list[int]]] = {}
        sessions = list(self._answers)
        questions: dict[int, int] = {}
        labels: dict[tuple[int, str], int] = {}
        rows, asked, chosen = [], [], []
        for row, session in enumerate(sessions):
            for question, (label, _) in self._answers[session].items():
                rows.append(row)
                asked.append(questions.setdefault(question, len(questions)))
                chosen.append(labels.setdefault((question, label), len(labels)))
        ones = np.ones(len(rows), np.float32)
        by_question: Any = csr_array((ones, (rows, asked)), shape=(len(sessions), len(questions)))
        by_label: Any = csr_array((ones, (rows, chosen)), shape=(len(sessions), len(labels)))
        for start in range(0, len(sessions), BATCH):
            shared = (by_question[start : start + BATCH] @ by_question.T).toarray()
            equal = (by_label[start : start + BATCH] @ by_label.T).toarray()
            shared[np.arange(len(shared)), np.arange(start, start + len(shared))] = 0
            compared = shared >= FEWEST_SHARED
            for row in np.flatnonzero(compared.any(axis=1)).tolist():
                share = np.where(compared[row], equal[row] / np.maximum(shared[row], 1), 0.0)
                most = np.argsort(-share, kind="stable")[:MOST_ALIKE]
                alike = [sessions[place] for place in most.tolist() if share[place] >= LEAST_EQUAL]
                self._found[sessions[start + row]] = (int(compared[row].sum()), alike)

    def earlier_answers(self, session: int) -> tuple[int, Sequence[Mapping[int, str]]]:
        """Return with how many sessions `session` was compared, and the labels that those most alike gave before it."""
        compared, alike = self._found.get(session, (0, []))
        mine = self._answers.get(session, {})
        earlier = []
        for other in alike:
            theirs = self._answers[other]
            earlier.append(
                {
                    question: theirs[question][0]
                    for question, (_, at) in mine.items()
                    if question in theirs and theirs[question][1] < at
                }
            )
        return compared, earlier
