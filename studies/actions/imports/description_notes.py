"""Store notes from companion files on descriptions of image sets from other files."""

from collections.abc import Mapping, Sequence
from typing import Any

from studies.actions.imports.import_state import BATCH, Source
from studies.descriptions import fitting_notes, with_notes
from studies.importing import Note, RowProblem
from studies.models import Instance

NOTHING_FITS = (
    "The project has none of the descriptions that it refers to. Name the file with the "
    "descriptions in the same command, or import it first."
)


def check_notes(source: Source) -> None:
    """Count a file's new notes on descriptions, and its notes on unknown descriptions.

    Runs after the rows of all files were checked, so that companion files may come first.
    """
    shared = source.shared
    fitting = 0
    for notes in source.notes():
        stored = _references(source, notes)
        for note in notes:
            before = stored.get(note.key, {})
            known = shared.described.get(note.key, before)
            fits = fitting_notes(known, note.about)
            fitting += len(fits)
            source.tally["unknown"] += len(note.about) - len(fits)
            source.tally["noted"] += _new(before, fits)
    if source.tally["notes"] and not fitting and not source.problem_count:
        source.refuse(RowProblem(0, "", NOTHING_FITS))


def save_notes(source: Source) -> None:
    """Save a file's notes on known descriptions, which are saved before."""
    for notes in source.notes():
        instances = {instance.key: instance for instance in _instances(source, notes)}
        changed = []
        for note in notes:
            instance = instances.get(note.key)
            if instance is None:
                continue
            fits = fitting_notes(instance.reference, note.about)
            if _new(instance.reference, fits):
                instance.reference = with_notes(instance.reference, fits)
                changed.append(instance)
        Instance.objects.bulk_update(changed, ["reference"], batch_size=BATCH)


def _new(reference: Mapping[str, Any], fits: Mapping[str, Any]) -> int:
    """Return the number of descriptions with new notes in `fits`."""
    return sum(with_notes(reference, {target: about}) != reference for target, about in fits.items())


def _instances(source: Source, notes: Sequence[Note]) -> list[Instance]:
    project = source.shared.project
    if project.pk is None:
        return []
    keys = [note.key for note in notes]
    return list(Instance.objects.filter(project=project, key__in=keys).only("key", "reference"))


def _references(source: Source, notes: Sequence[Note]) -> dict[str, dict[str, Any]]:
    return {instance.key: instance.reference for instance in _instances(source, notes)}
