"""Write checked rows of an import to the database, in batches."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain

from django.db import connection

from studies.actions.images import is_stored
from studies.actions.imports.import_state import (
    BATCH,
    WHERE_FROM,
    Source,
    StoredImage,
    copy_image_facts,
    existing_instances,
    formatted_captions,
    make_refusal,
    uses_of_instance,
    uses_of_record,
)
from studies.importing import Record
from studies.models import Image, Instance, InstanceImage


def save(source: Source) -> None:
    """Write the checked rows of a file. Raises ImportRefused if an image was removed in the meantime."""
    shared = source.shared
    total = source.tally["records"]
    done = 0
    for records in source.records():
        old = [record for record in records if record.key in shared.keys_already_there]
        _save_pictures(source, records)
        _save_new(source, [record for record in records if record.key not in shared.keys_already_there])
        existing = existing_instances(shared.project, old)
        _fill(source, [(record, existing[record.key]) for record in old])
        done += len(records)
        shared.progress("saving", done, total)


def _save_pictures(source: Source, records: list[Record]) -> None:
    images = {}
    for record in records:
        for image in record.images:
            picture = source.shared.pictures.get(image.filename)
            if not isinstance(picture, StoredImage):
                continue
            images[picture.sha256] = Image(sha256=picture.sha256, byte_size=picture.byte_size, **asdict(picture.facts))
    Image.objects.bulk_create(images.values(), ignore_conflicts=True)
    # A concurrent import that was refused may have removed images that both use.
    if not all(is_stored(sha256) for sha256 in images):
        raise make_refusal("Another import removed an image of this import at the same time. Import the file again.")


def _save_new(source: Source, records: list[Record]) -> None:
    instances = Instance.objects.bulk_create(
        Instance(
            project=source.shared.project,
            key=record.key,
            type=record.type,
            subtype=record.subtype,
            split=record.split,
            captions=formatted_captions(record, source.shared.caption_rule),
            original_captions=dict(record.captions),
            caption_rule=source.shared.caption_rule,
            reference=dict(record.reference),
            source_file=source.name,
            source_row=record.row,
        )
        for record in records
    )
    rows = [_rows(source, record, instance, {}) for record, instance in zip(records, instances, strict=True)]
    _insert(chain.from_iterable(rows))


# Columns of a new image place.
_FILLED = ("instance_id", "role", "position", "filename", "image_id", *WHERE_FROM)


def _insert(uses: Iterator[InstanceImage]) -> None:
    """Insert image places with a plain statement.

    `bulk_create` builds its statement value by value: for the 73,170 images of ImageCoDe's training split that takes as
    long as the rest of the import.
    """
    table = connection.ops.quote_name(InstanceImage._meta.db_table)
    columns = ", ".join(map(connection.ops.quote_name, _FILLED))
    places = ", ".join(["%s"] * len(_FILLED))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({columns}) VALUES ({places})",  # noqa: S608 (columns of the model)
            [tuple(getattr(use, name) for name in _FILLED) for use in uses],
        )


def _rows(
    source: Source, record: Record, instance: Instance, uses: dict[tuple[str, int], InstanceImage]
) -> Iterator[InstanceImage]:
    """Yield the image places of the record that are not in `uses`."""
    for use, image in uses_of_record(record):
        picture = source.shared.pictures.get(image.filename)
        found = picture.sha256 if isinstance(picture, StoredImage) else None
        if use in uses or (image.optional and found is None):
            continue
        role, position = use
        row = InstanceImage(
            instance_id=instance.pk, role=role, position=position, filename=image.filename, image_id=found
        )
        copy_image_facts(row, image)
        yield row


def _fill(source: Source, pairs: list[tuple[Record, Instance]]) -> None:
    """Fill in images that existing instances waited for, and update the facts about their images."""
    changed: list[InstanceImage] = []
    new: list[InstanceImage] = []
    for record, instance in pairs:
        uses = uses_of_instance(instance)
        new += _rows(source, record, instance, uses) if source.shared.image_source is not None else ()
        for use, image in uses_of_record(record):
            row = uses.get(use)
            if row is None:
                continue
            picture = source.shared.pictures.get(image.filename)
            filled = row.image_id is None and isinstance(picture, StoredImage)
            if isinstance(picture, StoredImage):
                row.image_id = picture.sha256
            if copy_image_facts(row, image) or filled:
                changed.append(row)
    InstanceImage.objects.bulk_update(changed, ["image", *WHERE_FROM], batch_size=BATCH)
    InstanceImage.objects.bulk_create(new)
