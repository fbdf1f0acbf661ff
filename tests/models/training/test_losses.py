"""Losses equal what is computed by hand, and their gradients what differences say."""

import math

import pytest
import torch
from open_clip.loss import ClipLoss

from training.losses import contrastive_loss, normalized


def test_four_images_and_a_negative_text_each_by_hand() -> None:
    """All vectors are of the plane's axes, so every cosine is 1, 0 or -1, and every exponential known."""
    images = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    # Texts of the images, then negative ones: of image 0 as good as the right one, of the others orthogonal to it.
    texts = torch.cat([images, torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])])
    e = math.e
    # What the four texts add up to for each image: the right one, the opposite one, and two at a right angle.
    four = e + 1 / e + 2
    # Negative texts: three point right (cosines 1, 0, -1, 0 with the images), one points up (0, 1, 0, -1).
    by_image = [four + 3 * e + 1, four + 3 + e, four + 3 / e + 1, four + 3 + 1 / e]
    expected = (sum(math.log(total) - 1 for total in by_image) / 4 + (math.log(four) - 1)) / 2
    assert contrastive_loss(images, texts, torch.tensor(1.0)).item() == pytest.approx(expected, abs=1e-6)


def test_without_negative_texts_it_is_the_loss_of_openclip() -> None:
    torch.manual_seed(1)
    images, texts = normalized(torch.randn(5, 8)), normalized(torch.randn(5, 8))
    scale = torch.tensor(7.0)
    assert contrastive_loss(images, texts, scale).item() == pytest.approx(ClipLoss()(images, texts, scale).item())


def test_gradients_are_those_of_differences() -> None:
    torch.manual_seed(1)
    vectors = [torch.randn(4, 3, dtype=torch.float64), torch.randn(8, 3, dtype=torch.float64)]
    given = [each.requires_grad_() for each in (*vectors, torch.tensor(2.0, dtype=torch.float64))]
    assert torch.autograd.gradcheck(
        lambda images, texts, scale: contrastive_loss(normalized(images), normalized(texts), scale), given
    )
