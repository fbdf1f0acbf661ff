"""RoCOCO's losses: captions with a wrong word and mixed images are each example's own negatives."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from PIL import Image
from pydantic import Field

from evaluation.alterations import SHARE, mix_images, partners
from predictions.feeder import OpenPicture
from training.batches import Batch, Tell, tell_nobody
from training.errors import CannotTrain
from training.examples import Example
from training.losses import contrastive_loss, normalized, own_negatives_loss
from training.recipes.base import BatchSize, Epochs, Precision, Recipe
from training.recipes.contrastive import RIGHT_CAPTION, TwoTowers, has_negative_captions
from training.towers import load_towers

UNKNOWN = "The paper's value was not found, as its authors published no code for training. This is NegCLIP's value"
# Parts the name of a mixed image from those of its two images.
_MIXED = "\n"


class RoCOCO(Recipe):
    """Park et al. 2024, "RoCOCO: Robustness Benchmark of MS-COCO to Stress-test Image-Text Matching Models".

    CLIP's loss, a semantic contrastive loss (each image must find its caption beside an altered one), and a visual
    contrastive loss (each caption must find its image beside a mixed one). An altered caption is a negative caption of
    the example. A mixed image is the example's second image, or its first one mixed with another one of the batch.
    """

    name = "rococo"
    title = "RoCOCO, semantic and visual contrastive losses"
    version = "1"
    source = "Park et al. 2024, the two losses; the authors' repository, pseulki/rococo, has no code for training"
    needs = "an image, its caption, and at least one altered caption"
    measures = RIGHT_CAPTION
    departures: ClassVar[Sequence[str]] = (
        "The paper's equations of the two losses and its hyper-parameters could not be checked, as the authors "
        "published no code for training. Both losses are cross-entropies of the right one beside the altered one, on "
        "CLIP's scale.",
    )
    keeps_small_batch = False

    batch: BatchSize = Field(default=256, ge=2, description=f"Examples per step. {UNKNOWN}.")
    epochs: Epochs = Field(default=5, description=f"{UNKNOWN}.")
    learning_rate: float = Field(default=1e-6, gt=0, description=f"The highest, after warming up. {UNKNOWN}.")
    warmup_steps: int = Field(default=50, ge=0, description=f"{UNKNOWN}.")
    schedule: Literal["cosine", "constant"] = Field(default="cosine", description=f"{UNKNOWN}.")
    weight_decay: float = Field(default=0.2, ge=0, description=f"Not of norms and biases. {UNKNOWN}.")
    beta1: float = Field(default=0.9, gt=0, lt=1, description=f"{UNKNOWN}.")
    beta2: float = Field(default=0.98, gt=0, lt=1, description=f"{UNKNOWN}.")
    epsilon: float = Field(default=1e-6, gt=0, description=f"{UNKNOWN}.")
    precision: Precision = Field(default="float16", description=f"Of matrix products on a GPU. {UNKNOWN}.")
    semantic: float = Field(default=1.0, ge=0, description="Weight of the semantic loss. Not found in a source.")
    visual: float = Field(default=1.0, ge=0, description="Weight of the visual loss. Not found in a source.")
    share: float = Field(
        default=SHARE,
        gt=0,
        lt=1,
        description="How much of the first image a mixed one has. Source: mix_images.py in pseulki/rococo, which makes "
        "the images of the benchmark.",
    )

    def accepts(self, example: Example) -> bool:
        return has_negative_captions(example)

    def load(self, base: str, seed: int, device: str = "") -> "OwnNegatives":
        towers = load_towers(base, self.families, device)
        return OwnNegatives(towers, semantic=self.semantic, visual=self.visual, share=self.share)


@dataclass
class OwnNegatives(TwoTowers):
    """CLIP with an altered caption and image of each example. `semantic`, `visual`: weights of their losses."""

    semantic: float = 1.0
    visual: float = 1.0
    share: float = SHARE

    def prepare(self, examples: Sequence[Example], open_picture: OpenPicture, tell: Tell = tell_nobody) -> None:
        if len(examples) < 2:
            raise CannotTrain("An image is mixed with that of another example, and there is only one. Add examples.")

    def opener(self, open_picture: OpenPicture) -> OpenPicture:
        def open_or_mix(name: str) -> Image.Image:
            one, mixed, other = name.partition(_MIXED)
            image = open_picture(one)
            return mix_images(image, open_picture(other), share=self.share) if mixed else image

        return open_or_mix

    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        images = [example.images[0] for example in examples]
        others = partners(len(examples), rng=rng)
        altered = [
            example.images[1] if len(example.images) == 2 else f"{example.images[0]}{_MIXED}{images[other]}"
            for example, other in zip(examples, others, strict=True)
        ]
        captions = [example.captions[0] for example in examples]
        wrong = [rng.choice(example.captions[1:]) for example in examples]
        return Batch(examples, [*images, *altered], [*captions, *wrong])

    def losses(self, batch: Batch, images: Any, texts: Any) -> dict[str, Any]:
        (seen, altered), (said, wrong) = (normalized(each).tensor_split(2) for each in (images, texts))
        scale = self.towers.logit_scale
        return {
            "contrastive": contrastive_loss(seen, said, scale),
            "semantic": self.semantic * own_negatives_loss(seen, said, wrong, scale),
            "visual": self.visual * own_negatives_loss(said, seen, altered, scale),
        }

    def after_step(self) -> None:
        self.towers.clamp_logit_scale()
