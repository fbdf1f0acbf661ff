"""Change what the columns of an imported table are, in the instances of the import: all of them, or none."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import PurePath
from typing import Any

from django.db import connection, transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from studies.actions.events import Actor, What, record
from studies.actions.imports.import_state import (
    BATCH,
    COUNTED,
    ImportRefused,
    ImportSummary,
    formatted_captions,
)
from studies.batches import Progress
from studies.errors import StudyError
from studies.importing import Record, RowProblem
from studies.importing.mapping import NAMES, OTHER, ColumnMapping
from studies.importing.mapping_change import (
    image_moves,
    problems_with_change,
    renamed_right,
    right_answers,
    texts_of_row,
)
from studies.importing.table import read_row
from studies.models import Import, Instance, InstanceImage, Question, Study
from studies.names import problem_with_text

ASKED = (
    "A study has asked about instances of this import, so its mapping cannot change any "
    "more. Import the file into a new project; its page starts with this mapping."
)
MEANWHILE = "Somebody else changed these instances or their mapping at the same time. Nothing was changed; try again."
OTHERS_BESIDE = (
    "Another import added instances from a file of the same name at the same time, so Lineup "
    "does not know which of them are from this one. Import the file into a new project "
    "instead."
)
NOTHING_ADDED = "This import added no instances from a table, so it has no mapping to change."
CHANGED = ("captions", "original_captions", *NAMES, "reference")


class MappingRefused(StudyError):
    """A mapping cannot become another. `by_column`: column -> sentence; None for the mapping as a whole."""

    def __init__(self, by_column: Mapping[str | None, str]) -> None:
        super().__init__(*by_column.values())
        self.by_column = by_column


def instances_of(one: Import) -> QuerySet[Instance]:
    """Return the instances that an import added."""
    return Instance.objects.filter(
        project=one.project_id,
        source_file__in=[name[:255] for name in one.names],
        created_at__range=(_begun_at(one), one.finished_at),
    ).order_by("pk")


def refuse_fixed_mapping(one: Import) -> None:
    """Raise MappingRefused if the mapping of an import cannot change."""
    if not one.has_mapping:
        raise MappingRefused({None: NOTHING_ADDED})
    if _imported_beside(one):
        raise MappingRefused({None: OTHERS_BESIDE})
    if Question.objects.filter(instance__in=instances_of(one)).exists():
        raise MappingRefused({None: ASKED})


def _imported_beside(one: Import) -> bool:
    """Whether another import of a file of the same name ran while this one waited or ran."""
    others = Import.objects.filter(project=one.project_id, changes=None, dry_run=False, error="").exclude(pk=one.pk)
    beside = others.filter(finished_at__gt=_begun_at(one), requested_at__lt=one.finished_at)
    return any(set(one.names) & set(each.names) for each in beside)


def _begun_at(one: Import) -> datetime:
    return one.job.started_at if one.job is not None and one.job.started_at is not None else one.requested_at


def row_of(instance: Instance, mapping: ColumnMapping) -> dict[str, Any]:
    """Return column -> text of the row that an instance was imported from."""
    names = {name: getattr(instance, name) for name in NAMES}
    return texts_of_row(mapping, instance.original_captions, names, instance.reference.get(OTHER, {}))


class MappingChange:
    """A change of the mapping of an import: columns that `mapping` leaves out stay what they are.

    Raises MappingRefused if it is not possible.
    """

    def __init__(self, one: Import, mapping: Mapping[str, str]) -> None:
        if unstorable := {
            column: reason
            for column, target in mapping.items()
            if (reason := problem_with_text(column) or problem_with_text(target))
        }:
            raise MappingRefused({None: f"The mapping cannot be stored. {next(iter(unstorable.values()))}"})
        self.one, self.old = one, one.current_mapping
        mapping = {**self.old, **mapping}
        self.new: Mapping[str, str] = mapping
        if problems := problems_with_change(self.old, mapping):
            raise MappingRefused(problems)
        if mapping == self.old:
            raise MappingRefused({None: "Nothing was changed."})
        self.instances = instances_of(one)
        self.moves = image_moves(self.old, mapping)
        self._renamed = right_answers(self.old, mapping)
        locked = {column for column, target in self.old.items() if target.partition(":")[0] in {"image", "ignored"}}
        self._texts = {
            column: target
            for column, target in mapping.items()
            if column not in locked and target not in {"key", "right", "source", "licence", "generator"}
        }

    @property
    def changes_rows(self) -> bool:
        """Whether more changes than the roles of images: texts, or the right answers that name them."""
        return "right" in self.new.values() or any(self._differs(column) for column in self._texts)

    def problems(self, instance: Instance) -> list[RowProblem]:
        return [item for item in self._read(instance) if isinstance(item, RowProblem)]

    def apply(self, instance: Instance) -> None:
        """Give an instance its captions, names and notes by the new mapping. Raises StudyError for a changed row."""
        for item in self._read(instance):
            if isinstance(item, RowProblem):
                raise StudyError(MEANWHILE)
            instance.captions = formatted_captions(item, instance.caption_rule)
            instance.original_captions = dict(item.captions)
            instance.reference = {**item.reference}
            for name in NAMES:
                setattr(instance, name, getattr(item, name))

    def _read(self, instance: Instance) -> Iterator[Record | RowProblem]:
        """Yield the record of an instance by the new mapping, or its problems."""
        fields = row_of(instance, self.old)
        stem = str(PurePath(instance.source_file).with_suffix(""))
        # The mapping has no key: that of the record is not used.
        for item in read_row((instance.source_row, fields), self._texts, stem):
            if isinstance(item, RowProblem):
                yield item
                continue
            kept = {name: value for name, value in instance.reference.items() if name != OTHER}
            if "right" in kept:
                kept["right"] = renamed_right(kept["right"], self._renamed)
                was_caption = instance.reference["right"] in list(instance.original_captions)
                if was_caption and kept["right"] not in item.captions:
                    reason = f"The right answer, {instance.reference['right']!r}, would not be a caption of the row."
                    yield RowProblem(item.row, "right", reason)
                    continue
            blank = [role for role, text in formatted_captions(item, instance.caption_rule).items() if not text.strip()]
            if blank:
                yield RowProblem(item.row, blank[0], f"The rule {instance.caption_rule} makes it empty.")
                continue
            names = {name: getattr(item, name) for name in NAMES}
            if "split" not in {*self.old.values(), *self.new.values()}:
                names["split"] = instance.split
            yield Record(
                row=item.row, key=instance.key, captions=item.captions, reference=kept | dict(item.reference), **names
            )

    def image_problems(self) -> list[str]:
        """Return a sentence for every old role whose images an instance has fewer of than there are columns."""
        found = {}
        for move in self.moves:
            role = move.old[0]
            if move.each_has is not None and role not in found:
                counted = self._places().filter(instance=OuterRef("pk"), role=role).order_by().values("instance")
                number = Coalesce(Subquery(counted.annotate(number=Count("pk")).values("number")), 0)
                other = self.instances.annotate(number=number).exclude(number=move.each_has).count()
                if other:
                    found[role] = (
                        f"{other:,} rows do not have exactly {move.each_has} images of the role {role}, so Lineup "
                        "does not know which column each is from. Import the file into a new project instead."
                    )
        return list(found.values())

    def move_images(self) -> None:
        """Move images to their new roles and positions, first to names that no role has: they may swap places."""
        for number, move in enumerate(self.moves):
            self._move(move.old, (f"#{number}", move.new[1]))
        for number, move in enumerate(self.moves):
            self._move((f"#{number}", None), (move.new[0], None))

    def _move(self, old: tuple[str, int | None], new: tuple[str, int | None]) -> None:
        found = self._places().filter(role=old[0])
        if old[1] is not None:
            found = found.filter(position=old[1])
        found.update(role=new[0], **({} if new[1] is None else {"position": new[1]}))

    def _places(self) -> QuerySet[InstanceImage]:
        return InstanceImage.objects.filter(instance__in=self.instances.order_by().values("pk"))

    def sentence(self) -> str:
        """Return what changes, for the log."""
        changed = [column for column in sorted({*self.old, *self.new}) if self._differs(column)]
        return ", ".join(f"{column} from {self.old.get(column, OTHER)} to {self.new[column]}" for column in changed)

    def _differs(self, column: str) -> bool:
        return self.old.get(column, OTHER) != self.new.get(column, OTHER)


def change_mapping(
    *,
    one: Import,
    mapping: Mapping[str, str],
    by: Actor,
    now: datetime,
    progress: Progress,
    on_problem: Callable[[str, RowProblem], None],
    on_saved: Callable[[list[ImportSummary]], None],
) -> None:
    """Change the mapping of an import in its instances: keys, tags and images stay. Raises StudyError, ImportRefused.

    Every row is checked before the first is changed. `on_problem`: called with the file and each problem. `on_saved`:
    called with the result, in the transaction of the change.
    """
    refuse_fixed_mapping(one)
    change = MappingChange(one, mapping)
    if problems := change.image_problems():
        raise StudyError(*problems)
    found: list[RowProblem] = []
    total, done = change.instances.count(), 0
    for batch in _batches(change.instances) if change.changes_rows else ():
        for instance in batch:
            for problem in change.problems(instance):
                on_problem(instance.source_file, problem)
                found = found or [problem]
        done += len(batch)
        progress(Import.Stage.ROWS, done, total)
    if found:
        raise ImportRefused(found, len(found), file=one.names[0])
    progress(Import.Stage.SAVING, 0, total)
    with transaction.atomic():
        # Two changes of one import come one after the other.
        Import.objects.select_for_update(of=("self",)).get(pk=one.pk)
        # A launch, an extension or a draw, which locks its study, reads the instances before or after the change.
        list(Study.objects.select_for_update(of=("self",), no_key=True).filter(project=one.project_id).order_by("pk"))
        if one.current_mapping != change.old:
            raise StudyError(MEANWHILE)
        for batch in _batches(change.instances) if change.changes_rows else ():
            for instance in batch:
                change.apply(instance)
            _save(batch)
        change.move_images()
        # A launch may have asked about them in the meantime.
        refuse_fixed_mapping(one)
        files = ", ".join(one.names)
        record(project=one.project, what=What.MAPPING_CHANGED, by=by, now=now, files=files, columns=change.sentence())
        on_saved([_summary(one, total)])


def _batches(instances: QuerySet[Instance]) -> Iterator[list[Instance]]:
    """Yield batches of the instances, read by id, because they change between batches."""
    ids = list(instances.values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        yield list(Instance.objects.filter(pk__in=ids[start : start + BATCH]).order_by("pk"))


def _save(instances: list[Instance]) -> None:
    """Update rows with a plain statement: `bulk_update` builds one value by value, minutes for 100,000 rows."""
    table = connection.ops.quote_name(Instance._meta.db_table)
    fields = [field for field in Instance._meta.concrete_fields if field.name in CHANGED]
    columns = ", ".join(f"{connection.ops.quote_name(field.attname)} = %s" for field in fields)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {table} SET {columns} WHERE id = %s",  # noqa: S608 (columns of the model)
            [
                (*(field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields), row.pk)
                for row in instances
            ],
        )


def _summary(one: Import, total: int) -> ImportSummary:
    counts = dict.fromkeys(COUNTED, 0) | {"records": total, "already_there": total}
    return ImportSummary(file=", ".join(one.names), added=0, dry_run=False, **counts)
