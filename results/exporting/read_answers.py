"""How a release's questions are read out to a model, and its answers are counted, by an evaluation harness.

This file travels with the release, beside the task that names its functions, and needs nothing but Python.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LETTERS = ("A", "B")
DIRECTIONS = ("i2t", "t2i")


def pictures(doc: Mapping[str, Any]) -> list[Any]:
    """Return the pictures of a question in their order."""
    return [picture.convert("RGB") for picture in doc["images"]]


def read_choice(said: str) -> str:
    """Return the letter that an answer chooses, "" where it chooses none or both: a refusal is wrong.

    Example: "B", "(b) ..." and "The answer is B." choose B; "A or B" and "A dog." choose none.
    """
    alone = re.fullmatch(r"\W*([ABab])\W*", said) or re.match(r"\s*\(?([ABab])[).:]", said)
    if alone:
        return alone[1].upper()
    # "A" is a word of English, too: within a sentence it is a letter in brackets, or after what announces one.
    found = set(re.findall(r"\(([AB])\)|(?:answer|option|caption|image)(?: is)?:? ([AB])\b", said, re.IGNORECASE))
    letters = {"".join(pair).upper() for pair in found}
    return letters.pop() if len(letters) == 1 else ""


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Return what each score counts of one answer."""
    said = {"key": doc["key"], "direction": doc["direction"], "right": read_choice(str(results[0])) == doc["answer"]}
    return {"accuracy": float(said["right"]), "i2t": said, "t2i": said, "group": said}


def i2t(answers: Iterable[Mapping[str, Any]]) -> float:
    """Return the share of instances for all of whose pictures the right caption was chosen, 0 to 1."""
    return _share(answers, ("i2t",))


def t2i(answers: Iterable[Mapping[str, Any]]) -> float:
    """Return the share of instances for both of whose captions the right picture was chosen, 0 to 1; NaN where none
    has two pictures."""
    return _share(answers, ("t2i",))


def group(answers: Iterable[Mapping[str, Any]]) -> float:
    """Return the share of instances of two pictures all of whose questions were answered rightly, 0 to 1; NaN where
    there are none."""
    return _share(answers, DIRECTIONS)


def _share(answers: Iterable[Mapping[str, Any]], directions: Sequence[str]) -> float:
    by_instance: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for one in answers:
        by_instance[one["key"]][one["direction"]].append(one["right"])
    asked = [found for found in by_instance.values() if all(direction in found for direction in directions)]
    right = [all(all(found[direction]) for direction in directions) for found in asked]
    return sum(right) / len(right) if right else float("nan")
