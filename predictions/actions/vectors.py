"""Store the image embeddings that workers compute for runs, once per model, and reuse them."""

import hashlib
import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction

from evaluation.blind.pictures import VectorSource
from predictions.actions import store_scores
from predictions.actions.runs import lock, lock_open_chunk, note_embedded, note_reachable
from predictions.image_sets.embeddings import Vectors
from predictions.models import LONGEST_EMBEDDING, PICTURE, PictureVector, Run
from predictions.scorers import NoPicture
from predictions.scorers.batches import in_batches
from studies.models import Image

NOT_LOOKED_AT = "The image {name} has no embedding yet. Resume the run."
NO_NUMBER = "The model's embedding of the image {name} has values that are not numbers. Check its weights."
AT_ONCE = 500
# Smaller differences vanish when a vector is rounded to half precision.
OF_NO_MATTER = {"batch", "halved", "device", "libraries"}


@transaction.atomic
def keep(*, run_id: int, chunk_id: int, answer: Mapping[str, Any], now: datetime) -> None:
    """Store the vectors of a chunk of images once; a second answer changes nothing."""
    run, chunk = lock(run_id), lock_open_chunk(run_id, chunk_id)
    if run is None or run.embedding is None or chunk is None or not chunk.pictures:
        return
    note_reachable(run)
    error = answer.get("error", "")
    if not error and answer["identity"] != run.embedding["identity"]:
        error = store_scores.OTHER_WEIGHTS
    if error:
        note_embedded(chunk, dict.fromkeys(chunk.pictures, error), now)
        return
    given = {name: b64decode(answer["vectors"][name]) for name in chunk.pictures if name in answer["vectors"]}
    good = {name for name, vector in given.items() if np.isfinite(_read(vector)).all()}
    there = set(Image.objects.filter(pk__in=good).values_list("pk", flat=True))
    PictureVector.objects.bulk_create(
        (
            PictureVector(image_id=name, embedding=space_of(run.embedding), vector=given[name])
            for name in chunk.pictures
            if name in there
        ),
        batch_size=AT_ONCE,
        ignore_conflicts=True,
    )
    missing = {name: str(why) for name, why in answer["missing"].items()}
    missing |= {name: NO_NUMBER.format(name=name[:12]) for name in given.keys() - good}
    note_embedded(chunk, missing, now)


def space_of(embedding: Mapping[str, Any]) -> str:
    """Return the name under which a model's vectors are stored; it differs by weights and preprocessing."""
    known = embedding["identity"]
    made_by = {name: value for name, value in embedding["conditions"].items() if name not in OF_NO_MATTER}
    canonical = json.dumps([known, made_by], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()[:16]
    return " ".join(filter(None, (known["name"], known["version"], digest)))[-LONGEST_EMBEDDING:]


def stored_vectors(embedding: Mapping[str, Any], names: Sequence[str]) -> dict[str, Vectors]:
    """Return the stored vectors of images, by name."""
    found: dict[str, Vectors] = {}
    for some in in_batches(names, AT_ONCE):
        rows = PictureVector.objects.filter(embedding=space_of(embedding), image__in=some).exclude(vector=b"")
        found |= {str(name): _read(vector) for name, vector in rows.values_list("image_id", "vector")}
    return found


def _read(vector: bytes | memoryview) -> Vectors:
    return np.frombuffer(vector, "<f2").astype(np.float32)


def kept_source(run: Run, embedding: Mapping[str, Any]) -> VectorSource:
    """Return the stored vectors of a model as a source for blind baselines."""

    def vectors_of(names: Sequence[str]) -> tuple[Mapping[str, Vectors], Mapping[str, NoPicture]]:
        found = stored_vectors(embedding, names)
        chunks = run.chunks.of_pictures().order_by("number").values_list("items", flat=True)
        why = {item[PICTURE]: item["error"] for items in chunks for item in items if "error" in item}
        unknown = (name for name in names if name not in found)
        return found, {name: NoPicture(why.get(name, NOT_LOOKED_AT.format(name=name[:12]))) for name in unknown}

    return VectorSource({"embedding": dict(embedding)}, vectors_of)
