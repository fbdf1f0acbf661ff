"""Mismatched predictions: their options are not those of their question. They are stored, but never counted."""

from collections.abc import Iterable

from predictions.models import Model, Prediction

BATCH = 2_000
Identity = tuple[int, str, str, str, str]


def delete_mismatched(*, model: Model, replaced_by: Iterable[Identity]) -> None:
    """Delete the mismatched predictions of `model` that new ones replace."""
    columns = ("instance_id", "kind", "variant", "caption_rule", "content_hash", "pk")
    rows = Prediction.objects.mismatched().filter(model=model).order_by().values_list(*columns)
    stored = {(*identity,): pk for *identity, pk in rows.iterator()}
    if not stored:
        return
    ids = [stored[identity] for identity in replaced_by if identity in stored]
    for start in range(0, len(ids), BATCH):
        Prediction.objects.filter(pk__in=ids[start : start + BATCH]).delete()
