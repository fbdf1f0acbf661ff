"""Lets torchvision be imported where its wheel is for CUDA and torch is for the CPU, as in `.venv-models`.

Its wheel for CUDA brings operators along that are missing there. They are declared here; nothing calls them.
"""

from importlib.metadata import version

# The same, as a sitecustomize.py for a process that is no test.
SITE = """
from importlib.metadata import version
import torch
if torch.version.cuda is None and "+" not in version("torchvision"):
    declared = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        declared.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""
# The operators go with the objects that declared them.
_declared: list[object] = []


def declare_operators() -> None:
    """Declare the operators that are missing, once. Call it before any library of models is imported."""
    import torch

    if _declared or torch.version.cuda is not None or "+" in version("torchvision"):
        return
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declared.append(library)
