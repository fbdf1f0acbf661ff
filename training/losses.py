"""Losses that several recipes share. Vectors are rows of tensors of torch; importing this module does not import it."""

from typing import Any


def contrastive_loss(images: Any, texts: Any, scale: Any) -> Any:
    """Return the contrastive loss of m images and their m texts, followed by k texts that belong to no image.

    images: (m, d), texts: (m + k, d), all of length 1; `scale`: what cosines are multiplied with. Each image must find
    its text among all m + k, each of the first m texts its image among m; the mean of the two cross-entropies. With
    k = 0 it is CLIP's. Source: Yuksekgonul et al. 2023, section 4; the further texts only count in the rows of images
    (README of vinid/neg_clip).
    """
    import torch
    from torch.nn.functional import cross_entropy

    logits = scale * images @ texts.T
    right = torch.arange(len(images), device=images.device)
    return (cross_entropy(logits, right) + cross_entropy(logits[:, : len(images)].T, right)) / 2


def normalized(vectors: Any) -> Any:
    """Return rows at length 1."""
    from torch.nn.functional import normalize

    return normalize(vectors, dim=-1)


def own_negatives_loss(vectors: Any, right: Any, wrong: Any, scale: Any) -> Any:
    """Return the cross-entropy of finding the right one of two for each vector: its own right and its own wrong one.

    All (n, d), of length 1; `scale`: what cosines are multiplied with.

    Example: at scale 1, with cosines 1 and 0, it is ln(1 + 1/e) = 0.313.
    """
    from torch.nn.functional import softplus

    return softplus(scale * ((vectors * wrong).sum(-1) - (vectors * right).sum(-1))).mean()
