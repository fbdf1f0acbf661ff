"""Write drawn instances and image sets as image files with manifests for the importers."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simulation.demo.image_sets import TEXTS, ImageSet
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import SceneInstance
from studies.descriptions import SET

MANIFEST = "manifest.jsonl"
SETS_MANIFEST = "image-sets.jsonl"
IMAGES = "images"


def image_names(instance: SceneInstance) -> tuple[str, list[str]]:
    """Return the file names of an instance's images: its scene's, and its candidates'."""
    numbers = range(len(instance.candidates))
    return f"{instance.key}-original.jpg", [f"{instance.key}-{index}.jpg" for index in numbers]


def _draw_to(path: Path, instance: SceneInstance, index: int | None) -> None:
    scene = instance.scene if index is None else instance.candidates[index]
    draw_scene(scene, seed=path.stem).save(path, quality=88)


def _write_instance(instance: SceneInstance, folder: Path) -> dict[str, Any]:
    original, candidates = image_names(instance)
    _draw_to(folder / original, instance, None)
    for index, name in enumerate(candidates):
        _draw_to(folder / name, instance, index)
    return {
        "key": instance.key,
        "type": instance.type,
        "subtype": instance.subtype,
        "captions": {"caption": instance.scene.caption, "negative_caption": instance.negative.caption},
        "images": {"image": [original], "candidate": candidates},
        "reference": {"right": instance.right_option},
    }


def _write_set(drawn: ImageSet, folder: Path) -> dict[str, Any]:
    (folder / drawn.key).mkdir(exist_ok=True)
    names = [f"{drawn.key}/img{place}.jpg" for place in range(len(drawn.stills))]
    for name, still in zip(names, drawn.stills, strict=True):
        draw_scene(still.scene, seed=drawn.key, at=still.at).save(folder / name, quality=88)
    texts = {f"{SET}-{place}": still.texts for place, still in enumerate(drawn.stills)}
    return {"directory": drawn.key, "kind": drawn.type, "images": names, TEXTS: texts}


def write_manifest(instances: Iterable[SceneInstance], folder: Path) -> Path:
    """Draw `instances` into `folder` and return the manifest, in the format `jsonl`."""
    return _write(folder / MANIFEST, (_write_instance(instance, _images(folder)) for instance in instances))


def write_sets(sets: Iterable[ImageSet], folder: Path) -> Path:
    """Draw `sets` into `folder` and return the manifest, in the format `imagecode`."""
    return _write(folder / SETS_MANIFEST, (_write_set(drawn, _images(folder)) for drawn in sets))


def _images(folder: Path) -> Path:
    images = folder / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    return images


def _write(manifest: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write the manifest last: if it exists, all images exist."""
    lines = [json.dumps(row) + "\n" for row in rows]
    manifest.write_text("".join(lines), encoding="utf-8")
    return manifest
