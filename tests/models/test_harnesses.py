"""What a release holds for evaluation harnesses, loaded with them in an environment of its own: `make test-harness`."""

import subprocess
import sys
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch

from results.exporting.rows import AcceptedInstance, ExportedImage
from tests.models.conftest import noise

ABSENT = "{} is not installed: make test-harness"
ROOT = Path(__file__).parents[2]
PICTURES = {f"{number}" * 64: noise(number) for number in range(4)}


def png(sha256: str) -> bytes:
    out = BytesIO()
    PICTURES[sha256].save(out, "PNG")
    return out.getvalue()


def instance(number: int) -> AcceptedInstance:
    first, second = (f"{2 * number + place}" * 64 for place in (0, 1))
    return AcceptedInstance(
        task=f"pair.{number}",
        key=f"pair.{number}",
        type="swap",
        subtype="obj",
        split="",
        captions={"caption": f"A dog chases cat {number}.", "negative_caption": f"A cat chases dog {number}."},
        original_captions={},
        caption_rule="as-is-v1",
        images=(ExportedImage("image", 0, "a.png", first), ExportedImage("negative_image", 0, "b.png", second)),
        study="step-4",
        kind="ambiguity",
        decision="accepted",
        rule="unambiguous-v1",
        winner="original",
        settled=False,
        answers=1,
        votes={"original": 1},
        source_file="pairs.jsonl",
        source_row=number + 1,
        simulated=False,
    )


def release(format: str, folder: Path) -> Path:
    from results.exporting import get_writer

    writer = get_writer(format)
    with writer.open(folder / "release", png) as add:
        for number in range(2):
            add(instance(number))
    writer.name_after(folder / "release", "pairs-v1")
    return folder / "release"


def test_the_requirements_are_installed_together_and_none_is_broken() -> None:
    pytest.importorskip("lmms_eval", reason=ABSENT.format("lmms-eval"))
    lines = (ROOT / "requirements-harness.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    assert {"clip-benchmark", "lm-eval", "lmms-eval", "torch", "protobuf"} <= set(pinned)
    assert {name: version(name).partition("+")[0] for name in pinned} == pinned
    checked = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_clip_benchmark_reads_the_release_and_counts_it(folder: Path) -> None:
    builder = pytest.importorskip("clip_benchmark.datasets.builder", reason=ABSENT.format("clip-benchmark"))
    pytest.importorskip("webdataset", reason=ABSENT.format("webdataset"))
    from clip_benchmark.metrics import image_caption_selection
    from torchvision.transforms.functional import pil_to_tensor

    def tensor(picture: object) -> torch.Tensor:
        # The model below looks at one pixel only.
        return pil_to_tensor(picture)[:, :1, :1].float()

    made = release("clip-benchmark", folder)
    retrieval = builder.build_dataset(
        "wds/pairs", root=str(made / "retrieval"), transform=tensor, task="zeroshot_retrieval"
    )
    assert [texts for _, texts in retrieval] == [
        ["A dog chases cat 0."],
        ["A cat chases dog 0."],
        ["A dog chases cat 1."],
        ["A cat chases dog 1."],
    ]
    selection = builder.build_dataset(
        "wds/pairs", root=str(made / "selection"), transform=tensor, task="image_caption_selection"
    )
    pictures = [picture for picture, _ in selection]
    for picture, sha256 in zip(pictures, PICTURES, strict=True):
        assert torch.equal(picture, tensor(PICTURES[sha256]))

    class PrefersDogs:
        """Says of every picture that the caption about a dog fits: right of the first picture of each pair."""

        def encode_image(self, images: torch.Tensor) -> torch.Tensor:
            return torch.tensor([[1.0, 0.0]] * len(images))

        def encode_text(self, texts: torch.Tensor) -> torch.Tensor:
            return texts

    def tokenize(texts: list[str]) -> torch.Tensor:
        return torch.tensor([[1.0, 0.0] if text.startswith("A dog") else [0.0, 1.0] for text in texts])

    # As its command batches a WebDataset.
    loader = torch.utils.data.DataLoader(selection.batched(3), batch_size=None)
    scores = image_caption_selection.evaluate(PrefersDogs(), loader, tokenize, "cpu", amp=False)
    assert (scores["text_acc"], scores["image_acc"]) == (0.5, 1.0)


def test_clip_benchmark_chooses_between_two_pictures_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = pytest.importorskip("clip_benchmark.datasets.builder", reason=ABSENT.format("clip-benchmark"))
    pytest.importorskip("datasets", reason=ABSENT.format("datasets, which comes with lm-eval,"))
    from clip_benchmark.metrics import image_caption_selection
    from torchvision.transforms.functional import pil_to_tensor

    monkeypatch.chdir(release("clip-benchmark", folder) / "pairs")
    firsts = {int(np.asarray(picture)[0, 0, 0]) for picture in list(PICTURES.values())[::2]}

    class LooksAtOnePixel:
        """Takes the first pictures of both pairs for ones of dogs that chase, the second for ones that are chased, but
        the captions of the second pair for each other."""

        def encode_image(self, images: torch.Tensor) -> torch.Tensor:
            return torch.tensor([[1.0, 0.0] if int(image[0, 0, 0]) in firsts else [0.0, 1.0] for image in images])

        def encode_text(self, texts: torch.Tensor) -> torch.Tensor:
            return texts

    def tokenize(texts: list[str]) -> torch.Tensor:
        own = [text.startswith("A dog") == text.endswith("0.") for text in texts]
        return torch.tensor([[1.0, 0.0] if is_first else [0.0, 1.0] for is_first in own])

    dataset = builder.build_dataset(
        "winoground", root="cache", transform=lambda shown: pil_to_tensor(shown).float(), task="image_caption_selection"
    )
    collate = builder.get_dataset_collate_fn("winoground")
    loader = torch.utils.data.DataLoader(dataset, batch_size=2, collate_fn=collate)
    scores = image_caption_selection.evaluate(LooksAtOnePixel(), loader, tokenize, "cpu", amp=False)
    # Of the first pair all is found, of the second nothing.
    assert (scores["text_acc"], scores["image_acc"], scores["acc"]) == (0.5, 0.5, 0.5)


# In processes of their own: data files are found from the folder that a harness is begun in, and both keep registries.
WITH_LM_EVAL = """
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

class SaysA(LM):
    MULTIMODAL = True
    def loglikelihood(self, requests): raise AssertionError
    def loglikelihood_rolling(self, requests): raise AssertionError
    def generate_until(self, requests):
        for request in requests:
            text, options, shown = request.args
            assert text.count("<image>") == len(shown["visual"]) in (1, 2), (text, shown)
            assert shown["visual"][0].size == (50, 40)
        return ["A"] * len(requests)

manager = TaskManager(include_path="lm-eval", include_defaults=False)
found = simple_evaluate(SaysA(), tasks=["pairs-v1"], task_manager=manager, bootstrap_iters=0)["results"]["pairs-v1"]
print("accuracy", found["accuracy,none"], found["i2t,none"], found["t2i,none"], found["group,none"])
"""
WITH_LMMS_EVAL = """
from lmms_eval.tasks import TaskManager, get_task_dict

manager = TaskManager(include_path="lmms-eval", include_defaults=False)
task = get_task_dict(["pairs-v1"], manager)["pairs-v1"]
docs = list(task.test_docs())
for doc in docs:
    assert task.doc_to_text(doc) == doc["prompt"]
    assert [picture.size for picture in task.doc_to_visual(doc)] == [(50, 40)] * len(doc["images"])
counted = [task.process_results(doc, ["A"]) for doc in docs]
scores = {name: task.aggregation()[name]([one[name] for one in counted]) for name in task.aggregation()}
print("accuracy", scores["accuracy"], scores["i2t"], scores["t2i"], scores["group"])
"""


@pytest.mark.parametrize(("library", "program"), [("lm_eval", WITH_LM_EVAL), ("lmms_eval", WITH_LMMS_EVAL)])
def test_a_harness_loads_the_task_and_counts_answers(library: str, program: str, folder: Path) -> None:
    pytest.importorskip(library, reason=ABSENT.format(library))
    from results.exporting.pairs import choices

    made = release("harness", folder)
    run = subprocess.run(
        [sys.executable, "-c", f"import tests.models.conftest\n{program}"],
        cwd=made,
        env={
            "PYTHONPATH": str(ROOT),
            "HF_HOME": str(folder / "cache"),
            "HF_HUB_OFFLINE": "1",
            "PATH": "",
            "HOME": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    said = next(line for line in run.stdout.splitlines() if line.startswith("accuracy")).split()[1:]
    # Who always says A is right where the right one stands first.
    asked = [list(choices(instance(number))) for number in range(2)]
    right = [[choice.right == 0 for choice in of_one] for of_one in asked]
    assert float(said[0]) == sum(map(sum, right)) / 8
    assert float(said[1]) == sum(all(of_one[:2]) for of_one in right) / 2
    assert float(said[2]) == sum(all(of_one[2:]) for of_one in right) / 2
    assert float(said[3]) == sum(all(of_one) for of_one in right) / 2
