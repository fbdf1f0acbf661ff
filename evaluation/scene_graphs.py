"""Create ARO's cases from scene graphs: relations, and attributes of two objects, in a region of a photo."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from evaluation.errors import BenchmarkError

# Smallest share of the photo's width, and of its height, of an object that counts.
LEAST_SIDE = 1 / 4


@dataclass(frozen=True)
class Thing:
    """An object of a scene with its box in pixels. relations: (name, id of the other object)."""

    id: str
    name: str
    left: int
    top: int
    width: int
    height: int
    attributes: tuple[str, ...]
    relations: tuple[tuple[str, str], ...]


def relation_cases(graphs: Mapping[str, Any], file: str) -> list[dict[str, Any]]:
    """Return a case for every relation between two large objects of a photo, in the form of ARO's file of relations.

    graphs: photo's id -> its scene graph as GQA publishes them, with width, height and objects. "the X is R the Y" is
    true and "the Y is R the X" false: the second is not annotated, and X and Y are different names, each of one object
    only. The region is the smallest that contains both. Raises BenchmarkError for an invalid scene graph.

    Source: Yuksekgonul et al. 2023, section 2. The published files take precedence over these cases; the rules for
    large and distinct objects are those of this module.
    """
    cases: list[dict[str, Any]] = []
    for image, things in _scenes(graphs, file):
        by_id = {thing.id: thing for thing in things}
        said = {(thing.id, name, other) for thing in things for name, other in thing.relations}
        for thing in things:
            for name, other in thing.relations:
                if other not in by_id or (other, name, thing.id) in said:
                    continue
                one, two = thing.name, by_id[other].name
                case = {
                    "relation_name": name,
                    "true_caption": f"the {one} is {name} the {two}",
                    "false_caption": f"the {two} is {name} the {one}",
                }
                cases.append(_region(image, thing, by_id[other]) | case)
    return cases


def attribution_cases(graphs: Mapping[str, Any], file: str) -> list[dict[str, Any]]:
    """Return a case for every two large objects of a photo that each have an attribute which the other lacks.

    "the A X and the B Y" is true and "the B X and the A Y" false. Photos, names, region, errors and source as for
    `relation_cases`.
    """
    cases: list[dict[str, Any]] = []
    for image, things in _scenes(graphs, file):
        for one, two in combinations(things, 2):
            for first, second in product(one.attributes, two.attributes):
                if first not in two.attributes and second not in one.attributes:
                    case = {
                        "attributes": [first, second],
                        "true_caption": f"the {first} {one.name} and the {second} {two.name}",
                        "false_caption": f"the {second} {one.name} and the {first} {two.name}",
                    }
                    cases.append(_region(image, one, two) | case)
    return cases


def _region(image: str, one: Thing, two: Thing) -> dict[str, Any]:
    left, top = min(one.left, two.left), min(one.top, two.top)
    right = max(one.left + one.width, two.left + two.width)
    bottom = max(one.top + one.height, two.top + two.height)
    box = {"bbox_x": left, "bbox_y": top, "bbox_w": right - left, "bbox_h": bottom - top}
    return {"image_id": image, "image_path": f"{image}.jpg", **box}


def _scenes(graphs: Mapping[str, Any], file: str) -> Iterator[tuple[str, list[Thing]]]:
    """Yield each photo with its large objects whose name is unique in the photo."""
    for image, graph in graphs.items():
        try:
            things = [_thing(id, found) for id, found in graph["objects"].items()]
            width, height = float(graph["width"]), float(graph["height"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BenchmarkError(f"{file}: {image} is not a scene graph with width, height and objects.") from error
        names = Counter(thing.name for thing in things)
        alone = [thing for thing in things if names[thing.name] == 1]
        least = LEAST_SIDE * width, LEAST_SIDE * height
        yield image, [thing for thing in alone if thing.width >= least[0] and thing.height >= least[1]]


def _thing(id: str, found: Mapping[str, Any]) -> Thing:
    relations = tuple((str(each["name"]), str(each["object"])) for each in found.get("relations", ()))
    attributes = tuple(str(each) for each in found.get("attributes", ()))
    left, top, width, height = (max(0, int(found[side])) for side in ("x", "y", "w", "h"))
    return Thing(id, str(found["name"]), left, top, width, height, attributes, relations)
