"""Writes drawn instances as image files and a manifest that the importer `jsonl` reads."""

import json
from pathlib import Path
from typing import Any

from results.demo.drawing import draw_scene
from results.demo.scenes import SceneInstance, describe_instances

SEED = "demo"
# With seven types and subtypes, 49 instances.
PER_CATEGORY = 7
MANIFEST = "manifest.jsonl"
IMAGES = "images"


def _draw_to(path: Path, instance: SceneInstance, index: int | None) -> None:
    scene = instance.scene if index is None else instance.candidates[index]
    draw_scene(scene, seed=path.stem).save(path, quality=88)


def _write_instance(instance: SceneInstance, folder: Path) -> dict[str, Any]:
    original = f"{instance.key}-original.jpg"
    candidates = [f"{instance.key}-{index}.jpg" for index in range(len(instance.candidates))]
    _draw_to(folder / original, instance, None)
    for index, name in enumerate(candidates):
        _draw_to(folder / name, instance, index)
    right = "none" if instance.right is None else f"candidate-{instance.right}"
    return {
        "key": instance.key,
        "type": instance.type,
        "subtype": instance.subtype,
        "captions": {"caption": instance.scene.caption, "negative_caption": instance.negative.caption},
        "images": {"image": [original], "candidate": candidates},
        "reference": {"right": right},
    }


def write_manifest(folder: Path, *, seed: str = SEED, per_category: int = PER_CATEGORY) -> Path:
    """Draw all instances into `folder` and return the manifest, written last: where it stands, all is drawn."""
    images = folder / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    rows = [_write_instance(instance, images) for instance in describe_instances(seed=seed, per_category=per_category)]
    manifest = folder / MANIFEST
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return manifest
