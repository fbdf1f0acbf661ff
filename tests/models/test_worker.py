"""The worker as it runs on a machine of its own: this environment has neither Django nor a database."""

import hashlib
import json
import os
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from celery import Celery
from PIL import Image

from background.broker import transport_options
from predictions.messages import BEGUN, DEFAULT, EMBED, EMBEDDED, GPU, LOAD, LOADED, SCORE, STORE
from tests.models.conftest import noise
from tests.models.torchvision_on_cpu import SITE
from tests.processes import running

ROOT = Path(__file__).resolve().parents[2]
URL = "filesystem://localhost"
WAIT_SECONDS = 240
ARCHITECTURE = "ViT-S-32-alt"
TEXTS = ("a dog on a cat", "a cat on a dog")


@pytest.fixture
def images(folder: Path) -> dict[str, Image.Image]:
    """Store pictures where the site does, and return them by their SHA-256."""
    stored = {}
    for seed in range(2):
        out = BytesIO()
        noise(seed).save(out, "PNG")
        name = hashlib.sha256(out.getvalue()).hexdigest()
        file = folder / "media" / "images" / name[:2] / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(out.getvalue())
        stored[name] = noise(seed)
    return stored


@pytest.fixture
def checkpoint(folder: Path) -> Path:
    torch.manual_seed(1)
    torch.save(open_clip.create_model(ARCHITECTURE).state_dict(), folder / "small.pt")
    return folder / "small.pt"


@pytest.fixture
def site(folder: Path) -> Celery:
    """What the site sends with, and what it gets answers by."""
    made = Celery("site", set_as_current=False)
    made.conf.update(
        broker_url=URL, broker_transport_options=transport_options(URL, folder / "broker"), task_default_queue=DEFAULT
    )
    return made


@pytest.fixture
def worker(folder: Path) -> Iterator[Path]:
    """Run the documented command in an empty folder; yields its log."""
    for name in ("empty", "bare"):
        (folder / name).mkdir()
    (folder / "bare" / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "OMP_NUM_THREADS") if name in os.environ}
    told = {"DATA_DIR": str(folder), "HF_HUB_OFFLINE": "1", "LINEUP_PRECISION": "bfloat16"}
    told |= {"PYTHONPATH": f"{folder / 'bare'}{os.pathsep}{ROOT}"}
    log = folder / "worker.log"
    command = [sys.executable, "-m", "celery", "-A", "predictions.worker", "worker", "--loglevel", "INFO"]
    with running(command, environment=kept | told, log=log, folder=folder / "empty"):
        yield log


def answers(site: Celery, *wanted: str, log: Path) -> dict[str, Any]:
    """Return the content of the messages that came to the site, by their task, once all of `wanted` have."""
    found: dict[str, Any] = {}
    deadline = time.monotonic() + WAIT_SECONDS
    with site.connection_for_read() as connection, connection.SimpleQueue(DEFAULT) as queue:
        while set(wanted) - found.keys():
            if time.monotonic() > deadline:
                pytest.fail(f"{found.keys()}: {log.read_text()[-3000:]}")
            try:
                message = queue.get(timeout=1)
            except queue.Empty:
                continue
            found[message.headers["task"]] = json.loads(message.body or "null")[1]
            message.ack()
    return found


def test_a_real_model_is_loaded_and_scores_by_messages_alone(
    worker: Path, site: Celery, images: dict[str, Image.Image], checkpoint: Path
) -> None:
    assert find_spec("django") is None
    spec = f"open_clip:{ARCHITECTURE}/{checkpoint}"
    site.send_task(LOAD, kwargs={"run": 7, "spec": spec}, queue=GPU)
    said = answers(site, BEGUN, LOADED, log=worker)
    assert said[BEGUN] == {"run": 7, "chunk": 0}
    loaded = said[LOADED]["answer"]
    assert loaded["identity"]["name"] == f"OpenCLIP {ARCHITECTURE}"
    assert loaded["pictures_per_second"] > 0
    assert (loaded["embeds"], loaded["conditions"]["dtype"]) == (True, "float32")

    first, second = images
    items = [
        {"content": "one", "matches": {"caption": (TEXTS[0], first), "negative_caption": (TEXTS[1], first)}},
        {"content": "two", "matches": {"image": (TEXTS[0], first), "negative_image": (TEXTS[0], second)}},
        {"content": "gone", "matches": {"image": (TEXTS[0], first), "negative_image": (TEXTS[0], "e" * 64)}},
    ]
    site.send_task(SCORE, kwargs={"run": 7, "chunk": 3, "spec": spec, "items": items}, queue=GPU)
    answer = answers(site, STORE, log=worker)[STORE]
    assert (answer["run"], answer["chunk"]) == (7, 3)
    assert answer["answer"]["identity"] == loaded["identity"]
    assert answer["answer"]["conditions"]["dtype"] == "bfloat16"
    # Weights that were drawn say nearly the same of everything: too near for numbers of 8 bits.
    again = answer["answer"]["again"]
    assert again["contents"] == ["one", "two"]
    assert again["conditions"]["dtype"] == "float32"
    one, two, gone = answer["answer"]["results"]
    assert gone["error"].startswith("The image eeeeeeeeeeee cannot be read on the worker")

    model, _, transform = open_clip.create_model_and_transforms(ARCHITECTURE, pretrained=str(checkpoint))
    model.eval()
    with torch.no_grad():
        said_by_text = model.encode_text(open_clip.get_tokenizer(ARCHITECTURE)(list(TEXTS)), normalize=True)
        seen = model.encode_image(torch.stack([transform(image) for image in images.values()]), normalize=True)
    expected = (said_by_text @ seen.T).tolist()
    assert one["scores"] == pytest.approx({"caption": expected[0][0], "negative_caption": expected[1][0]}, abs=1e-5)
    assert two["scores"] == pytest.approx({"image": expected[0][0], "negative_image": expected[0][1]}, abs=1e-5)

    # For a blind baseline of the site: vectors of pictures alone, computed in float32.
    wanted = {"run": 8, "chunk": 4, "spec": spec, "pictures": [first, second, "e" * 64]}
    site.send_task(EMBED, kwargs=wanted, queue=GPU)
    given = answers(site, EMBEDDED, log=worker)[EMBEDDED]
    assert (given["run"], given["chunk"], given["answer"]["identity"]) == (8, 4, loaded["identity"])
    assert given["answer"]["missing"].keys() == {"e" * 64}
    assert given["answer"]["vectors"].keys() == {first, second}
    for name, vector in zip((first, second), seen, strict=True):
        found = np.frombuffer(b64decode(given["answer"]["vectors"][name]), "<f2")
        # Half of the last of 11 bits, of numbers up to 1.
        assert found == pytest.approx(vector.numpy(), abs=2**-12)
