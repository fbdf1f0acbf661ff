"""Whether a replay came to what was published."""

from collections.abc import Iterator

from results.replay.findings import baseline, funnel, kept_keys, pair_kappas
from results.replay.pipeline import Replay
from results.replay.published import HUMAN_GROUP, HUMAN_I2T, HUMAN_T2I, PAIR_KAPPAS, RETRIEVAL_EXAMPLES

# Published kappas have two decimals; a survey of 100 questions can always come that near.
KAPPA_TOLERANCE = 0.005


def deviations(replay: Replay) -> list[str]:
    """Return a sentence for everything that came out otherwise than published."""
    found = list(_other_instances(replay))
    if replay.is_whole:
        found += [*_other_counts(replay), *_other_kappas(replay), *_other_scores(replay)]
    return found


def _other_instances(replay: Replay) -> Iterator[str]:
    released = {key for key, row in replay.setting.released.items() if row is not None}
    wrong = sorted(released ^ kept_keys(replay))
    if wrong:
        yield f"{len(wrong):,} instances were kept or lost otherwise than released, the first of them {wrong[0]}."


def _other_counts(replay: Replay) -> Iterator[str]:
    rows = funnel(replay)
    for category, published in RETRIEVAL_EXAMPLES.items():
        examples = rows[category].examples if category in rows else 0
        if examples != published:
            yield f"{' '.join(category)} has {examples:,} retrieval examples; {published:,} were published."


def _other_kappas(replay: Replay) -> Iterator[str]:
    for number, (kappa, published) in enumerate(zip(pair_kappas(replay), PAIR_KAPPAS, strict=True), start=1):
        if kappa.value is None or abs(kappa.value - published) > KAPPA_TOLERANCE:
            yield f"Pair {number} has a kappa of {kappa.value}; {published} was published."


def _other_scores(replay: Replay) -> Iterator[str]:
    scores = baseline(replay).outcomes.scores()
    for name, published in (("I2T", HUMAN_I2T), ("T2I", HUMAN_T2I), ("Group", HUMAN_GROUP)):
        if f"{scores[name].percent()}" != f"{published:.2f}":
            yield f"People have {name} {scores[name].percent()}; {published:.2f} was published."
