"""`pasted_text`: descriptions that were pasted in one piece sooner than anybody can write them elsewhere."""

from analytics.flags.base import Evidence, FlagRule
from analytics.flags.records import AnswerRecord, SessionRecord

# Nobody pastes so many by accident: a draft that got lost, or a word from a dictionary.
FEWEST_TEXTS, LEAST_SHARE = 4, 0.6
# Of the characters of the text. Somebody who writes elsewhere and corrects here presses more keys.
LEAST_PASTED, MOST_KEYS = 0.9, 0.1
FEWEST_CHARACTERS = 20
# People who dictate, or write in a translator or spell checker, paste whole texts too: pasting alone is no sign. But
# nobody types more than about 12 characters a second (Dhakal et al. 2018), or speaks 20: of English, that are 240 words
# a minute, where 150 are usual. The time is all that passed for the answer, also with the tab hidden.
MOST_CHARACTERS_A_SECOND = 20.0


class PastedText(FlagRule):
    """Most texts, and at least FEWEST_TEXTS, were pasted in one piece in less time than it takes to say them."""

    name = "pasted_text"
    version = 2
    title = "Texts pasted in one piece"
    misses = "People who wait before they paste, or type what a program wrote; studies that do not record writing."

    def find(self, session: SessionRecord) -> Evidence | None:
        written = [each for each in session.answers if _is_measured(each)]
        pasted = [each for each in written if _is_pasted(each)]
        if len(pasted) < FEWEST_TEXTS or len(pasted) < LEAST_SHARE * len(written):
            return None
        rates = [len(each.text) / max(_seconds(each), 0.1) for each in pasted]
        fast = [rate for rate in rates if rate > MOST_CHARACTERS_A_SECOND]
        if len(fast) < FEWEST_TEXTS or len(fast) < LEAST_SHARE * len(written):
            return None
        return {"pasted": len(pasted), "fast": len(fast), "texts": len(written), "slowest": round(min(fast), 1)}

    def sentence(self, evidence: Evidence) -> str:
        return (
            f"{evidence['pasted']} of {evidence['texts']} texts were pasted in one piece, with hardly a key pressed; "
            f"{evidence['fast']} of them came at {evidence['slowest']:.0f} or more characters a second since the "
            "question was shown, and people speak at most 20."
        )


def _seconds(answer: AnswerRecord) -> float:
    return (answer.possible_seconds or 0.0) + (answer.hidden_seconds or 0.0)


def _is_measured(answer: AnswerRecord) -> bool:
    writing = answer.writing
    is_counted = writing is not None and writing.keys is not None and writing.pastes is not None
    return is_counted and len(answer.text) >= FEWEST_CHARACTERS and answer.possible_seconds is not None


def _is_pasted(answer: AnswerRecord) -> bool:
    writing, length = answer.writing, len(answer.text)
    if writing is None or writing.keys is None:
        return False
    return max(writing.pasted, default=0) >= LEAST_PASTED * length and writing.keys <= MOST_KEYS * length
