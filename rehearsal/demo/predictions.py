"""Made-up scores of a model that does not exist, so that the demo can show models beside people. Pure."""

import json
import random
from collections.abc import Iterable, Iterator

MODEL = "Made-up model"
QUESTIONS = {
    "image_to_text": (("image", "caption"), ("negative_image", "negative_caption")),
    "text_to_image": (("caption", "image"), ("negative_caption", "negative_image")),
}


def score_lines(keys: Iterable[str], *, seed: str, accuracy: float) -> Iterator[str]:
    """Yield lines in the format `scores`: four questions per instance, the right option ahead with `accuracy`."""
    for key in keys:
        dice = random.Random(f"{seed}|{key}")  # noqa: S311 (made-up scores)
        for kind, pairs in QUESTIONS.items():
            options = [right for _, right in pairs]
            for variant, right in pairs:
                ahead = right if dice.random() < accuracy else next(option for option in options if option != right)
                scores = {option: round(dice.uniform(0.2, 0.3), 4) + 0.1 * (option == ahead) for option in options}
                yield json.dumps({"key": key, "kind": kind, "variant": variant, "scores": scores}) + "\n"
