"""Made-up scores of a model that does not exist, so that the demo can show models beside people. Pure."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from studies.kinds import finer_scores, get_kind, usual_ask

MODEL = "Made-up model"


def four_questions() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the questions that the finer scores of the field are about: kind -> each variant and its right option."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, variant in finer_scores().values():
        kind = get_kind(name)
        found.setdefault(name, []).append((variant, kind.right_option(usual_ask(kind), variant)))
    return found


def score_lines(keys: Iterable[str], *, seed: str, accuracy: float) -> Iterator[str]:
    """Yield lines in the format `scores`: four questions per instance, the right option ahead with `accuracy`."""
    questions = four_questions()
    for key in keys:
        dice = random.Random(f"{seed}|{key}")  # noqa: S311 (made-up scores)
        for kind, pairs in questions.items():
            options = [right for _, right in pairs]
            for variant, right in pairs:
                ahead = right if dice.random() < accuracy else next(option for option in options if option != right)
                scores = {option: round(dice.uniform(0.2, 0.3), 4) + 0.1 * (option == ahead) for option in options}
                yield json.dumps({"key": key, "kind": kind, "variant": variant, "scores": scores}) + "\n"
