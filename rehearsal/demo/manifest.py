"""Writes drawn instances as image files and a manifest that the importer `jsonl` reads."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rehearsal.demo.drawing import draw_scene
from rehearsal.demo.scenes import SceneInstance

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
    return {
        "key": instance.key,
        "type": instance.type,
        "subtype": instance.subtype,
        "captions": {"caption": instance.scene.caption, "negative_caption": instance.negative.caption},
        "images": {"image": [original], "candidate": candidates},
        "reference": {"right": instance.right_option},
    }


def write_manifest(instances: Iterable[SceneInstance], folder: Path) -> Path:
    """Draw `instances` into `folder` and return the manifest, written last: where it stands, all is drawn."""
    images = folder / IMAGES
    images.mkdir(parents=True, exist_ok=True)
    rows = [_write_instance(instance, images) for instance in instances]
    manifest = folder / MANIFEST
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return manifest
