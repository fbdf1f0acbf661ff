"""`copied_text`: texts with the words of the page, of other people, of a model, or of the writer's other answers."""

from collections import Counter
from collections.abc import Mapping, Sequence

from analytics.exact_tests import count_tail
from analytics.flags.base import FALSE_ALARM_RATE, Evidence, FlagRule, probability
from analytics.flags.records import AnswerRecord, SessionRecord
from analytics.near_texts import is_long_enough, is_near, words_of

FEWEST_TEXTS, LEAST_SHARE = 3, 0.3
# Honest people describe the same image in the same words, rarely; where others do it more often, their share counts.
LEAST_BY_CHANCE = 0.05
# What others did is known better, the more of them there are: added answers that coincide by chance.
PRIOR = 10
SOURCES = ("shown", "others", "model", "own")
# Some people write all texts in one frame: "In this picture I can see a ... and a ...". Words in more than half of the
# session's texts are the frame, and the other words must be the same too: at least this share of those that either has.
FRAME, SAME_WORDS = 0.5, 0.6


class CopiedText(FlagRule):
    """More texts are nearly equal to one source than people's texts are by chance: an exact binomial test.

    Texts are near if they share 80 % of their groups of three characters. Texts of the same session must also share the
    words beside the frame that somebody uses for all of them. Only what others wrote before counts, so that
    nobody is flagged for being copied.
    """

    name = "copied_text"
    version = 3
    title = "Copied texts"
    misses = "People who reword what they copy, and texts of under eight words."

    def find(self, session: SessionRecord) -> Evidence | None:
        written = [each for each in session.answers if is_long_enough(each.text) and not each.check]
        if len(written) < FEWEST_TEXTS:
            return None
        found: tuple[float, str, int] | None = None
        for source in SOURCES:
            texts = _sources(source, written, session)
            comparable = [each for each in written if texts.get(each.number)]
            if source == "own":
                texts = _without_frames(comparable, texts, _frame([each.text for each in written]))
            copied = sum(is_near(each.text, texts[each.number]) for each in comparable)
            if copied < FEWEST_TEXTS or copied < LEAST_SHARE * len(written):
                continue
            chance = _chance(source, comparable, texts, session)
            p = count_tail([chance] * len(comparable), copied)
            if p <= FALSE_ALARM_RATE / len(SOURCES):
                found = min(found or (1.0, "", 0), (p, source, copied))
        if found is None:
            return None
        p, source, copied = found
        return {"source": source, "copied": copied, "texts": len(written), "p": p}

    def sentence(self, evidence: Evidence) -> str:
        nearly = f"{evidence['copied']} of {evidence['texts']} texts are nearly equal to"
        return f"{nearly} {_NAMES[evidence['source']]} ({probability(evidence['p'])})."


_NAMES = {
    "shown": "a text that the page showed",
    "others": "what somebody else had written before",
    "model": "a model's caption of the image",
    "own": "another answer of the same session",
}


def _sources(source: str, written: Sequence[AnswerRecord], session: SessionRecord) -> Mapping[int, Sequence[str]]:
    """Return number of an answer -> the texts that it may be a copy of."""
    if source == "shown":
        return {each.number: [text for text in each.shown_texts if is_long_enough(text)] for each in written}
    if source == "own":
        return {each.number: [one.text for one in written[:place]] for place, each in enumerate(written)}
    texts = session.other_texts if source == "others" else session.model_texts
    return {each.number: [text for text in texts.get(each.question, ()) if is_long_enough(text)] for each in written}


def _frame(texts: Sequence[str]) -> frozenset[str]:
    """Return the words that are in more than FRAME of the texts."""
    found = Counter(word for text in texts for word in words_of(text))
    return frozenset(word for word, number in found.items() if number > FRAME * len(texts))


def _without_frames(
    written: Sequence[AnswerRecord], texts: Mapping[int, Sequence[str]], frame: frozenset[str]
) -> Mapping[int, Sequence[str]]:
    """Return number of an answer -> those of its texts that have the same words beside the frame."""
    found = {}
    for each in written:
        mine = words_of(each.text) - frame
        found[each.number] = [text for text in texts[each.number] if _share_words(mine, words_of(text) - frame)]
    return found


def _share_words(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME_WORDS * len(one | other)


def _chance(
    source: str, written: Sequence[AnswerRecord], texts: Mapping[int, Sequence[str]], session: SessionRecord
) -> float:
    """Return how often the texts of other people are nearly equal to the same source.

    Where questions ask for a small change of a shown text, everybody's texts are near it.
    """
    near = total = 0
    for each in written:
        others = session.other_texts.get(each.question, ())
        for place, other in enumerate(others):
            if source == "own" or not is_long_enough(other):
                continue
            among = texts[each.number] if source != "others" else [*others[:place], *others[place + 1 :]]
            if among:
                total, near = total + 1, near + is_near(other, among)
    return max(LEAST_BY_CHANCE, (near + PRIOR * LEAST_BY_CHANCE) / (total + PRIOR))
