"""CLIP_TROHN-Img: contrastive fine-tuning with hard negative captions and their images."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from training.batches import Batch
from training.examples import Example
from training.losses import contrastive_loss, normalized
from training.recipes.bivlc import PAPER, FineTuning
from training.recipes.contrastive import GROUP, TwoTowers
from training.towers import load_towers


class TROHNImg(FineTuning):
    """Miranda et al. 2024. A batch of n examples has 2n images with their 2n captions, and the loss of CLIP."""

    name = "trohn-img"
    title = "CLIP_TROHN-Img"
    version = "1"
    source = f"{PAPER}, section 6; code: CLIP_fine_tuning.py in IMirandaM/BiVLC"
    needs = "two images with a caption each"
    measures = GROUP

    def accepts(self, example: Example) -> bool:
        return len(example.images) == len(example.captions) == 2 and example.target is None

    def load(self, base: str, seed: int, device: str = "") -> "Pairs":
        return Pairs(load_towers(base, self.families, device))


@dataclass
class Pairs(TwoTowers):
    """CLIP on the two images and two captions of each example."""

    images_used: ClassVar[int] = 2

    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        images = [example.images[place] for place in (0, 1) for example in examples]
        return Batch(examples, images, [example.captions[place] for place in (0, 1) for example in examples])

    def losses(self, batch: Batch, images: Any, texts: Any) -> dict[str, Any]:
        return {"contrastive": contrastive_loss(normalized(images), normalized(texts), self.towers.logit_scale)}
