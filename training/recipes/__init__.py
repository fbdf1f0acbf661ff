"""Registry of recipes. A new recipe is one file, its test, and one line here."""

from functools import cache
from pkgutil import resolve_name

from training.recipes.base import Recipe, Trainable

RECIPES = {
    "negclip": "training.recipes.negclip.NegCLIP",
    "trohn-text": "training.recipes.trohn_text.TROHNText",
    "trohn-img": "training.recipes.trohn_img.TROHNImg",
    "detector-text": "training.recipes.detector_text.DetectorText",
    "detector-image": "training.recipes.detector_image.DetectorImage",
    "rococo": "training.recipes.rococo.RoCOCO",
    "imagecode-context-batch": "training.recipes.imagecode_context_batch.ContextBatch",
    "imagecode-context-module": "training.recipes.imagecode_context_module.ContextModule",
    "imagecode-temporal": "training.recipes.imagecode_context_module.Temporal",
}


@cache
def get_recipe(name: str) -> type[Recipe]:
    """Return the class of a recipe. Raises KeyError for a name that is not in the registry."""
    found: type[Recipe] = resolve_name(RECIPES[name])
    return found


__all__ = ["RECIPES", "Recipe", "Trainable", "get_recipe"]
