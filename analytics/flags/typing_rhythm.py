"""`typing_rhythm`: texts that were typed faster than anybody types."""

from analytics.flags.base import Evidence, FlagRule
from analytics.flags.records import SessionRecord

# Keys a second from the first key to sending. Pauses count: software for the voice or the eyes types a word or sentence
# at once, and then nothing until the next. The fastest of 168,000 people who copied sentences reached about 12 (Dhakal
# et al. 2018, "Observations on typing from 136 million keystrokes"); people who think of what they write are slower.
MOST_KEYS_A_SECOND = 18.0
FEWEST_TEXTS, LEAST_SHARE = 3, 0.5
# Of shorter texts, the time from the first key to sending says little.
FEWEST_KEYS = 30


class TypingRhythm(FlagRule):
    """Half of the typed texts, and at least FEWEST_TEXTS, had more keys a second than anybody can press."""

    name = "typing_rhythm"
    version = 2
    title = "Impossible typing speed"
    misses = "Programs that type as slowly as people or rest in between, people who copy by hand, and dictated texts."

    def find(self, session: SessionRecord) -> Evidence | None:
        rates = []
        for each in session.answers:
            writing = each.writing
            # Phones and dictation report few keys, so a text with few keys is not measured.
            if writing is None or (writing.keys or 0) < FEWEST_KEYS or writing.pastes or not each.text:
                continue
            if writing.from_first_key_ms is not None:
                rates.append(1000 * (writing.keys or 0) / max(writing.from_first_key_ms, 1))
        fast = [rate for rate in rates if rate > MOST_KEYS_A_SECOND]
        if len(fast) < FEWEST_TEXTS or len(fast) < LEAST_SHARE * len(rates):
            return None
        return {"fast": len(fast), "typed": len(rates), "slowest": round(min(fast), 1)}

    def sentence(self, evidence: Evidence) -> str:
        return (
            f"{evidence['fast']} of {evidence['typed']} typed texts had at least {evidence['slowest']:.0f} keys a "
            f"second; the fastest typists reach 12."
        )
