"""What a mapping page shows of an upload: columns, first rows, small pictures, and the last mapping of such columns."""

import zipfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from django.conf import settings
from django.db.models import Q, QuerySet

from studies.actions.imports.image_folder import ImageFolder, TableImages, files_ending_with
from studies.actions.imports.import_state import UnusableImage
from studies.actions.imports.importer import files_by_name, folder_below
from studies.actions.imports.uploads import IMAGES, ROWS, folder_of, is_archive, received_bytes, rows_of
from studies.importing import TABLE
from studies.importing.archives import DAMAGED
from studies.importing.base import unsafe_filename
from studies.importing.parquet import PARQUET
from studies.importing.pictures import NotAPicture, thumbnail
from studies.importing.table import Sample, sample
from studies.models import Import, Project, Upload
from studies.names import problem_with_text

NO_ROWS = "Choose the file with the rows to import."
ROWS_SHOWN = 5
IMPORTS_REMEMBERED = 50
# Most bytes of a picture that is shown small; larger ones are named only.
LARGEST_SHOWN = 20_000_000
# Most bytes of a row group that are read to show pictures of it.
LARGEST_GROUP_SHOWN = 200_000_000
# Further pictures are named only, and further columns refused.
MOST_PICTURES, MOST_COLUMNS = 40, 200


def sample_of(files: Sequence[Path], rows_dir: Path | None = None) -> Sample:
    """Return the first rows of the first file, and the columns of all. A problem is that of the first file with one."""
    if not files:
        return Sample(problem=NO_ROWS)
    found = []
    for file in files:
        with file.open("rb") as stream:
            one = sample(stream, ROWS_SHOWN, folder_below(file, rows_dir))
        if one.problem:
            return Sample(problem=f"{file.name}: {one.problem}")
        found.append(one)
    return Sample(columns=list(dict.fromkeys(column for one in found for column in one.columns)), rows=found[0].rows)


def sample_of_upload(upload: Upload) -> Sample:
    """Return the sample of an upload's tables, if a mapping of their columns can be shown and stored."""
    shown = sample_of(rows_of(upload), folder_of(upload, ROWS))
    for column in shown.columns:
        if reason := problem_with_text(column):
            return Sample(problem=f"The column {column[:80]!r} cannot be stored. {reason}")
    if len(shown.columns) > MOST_COLUMNS:
        return Sample(
            problem=f"The file has {len(shown.columns):,} columns; at most {MOST_COLUMNS} can be assigned here. Leave "
            "some out, or import it by the command."
        )
    return shown


def last_import_like(project: Project, columns: Sequence[str], others: QuerySet[Project]) -> Import | None:
    """Return the last import of a table with the same columns: of the project, or else of `others`.

    A changed mapping counts once it is changed.
    """
    done = Q(changes=None) | Q(error="", finished_at__isnull=False)
    tables = Import.objects.filter(done, format=TABLE)
    here, elsewhere = tables.filter(project=project), tables.filter(project__in=others).exclude(project=project)
    found = chain(here[:IMPORTS_REMEMBERED], elsewhere[:IMPORTS_REMEMBERED])
    return next((one for one in found if one.mapping.keys() == set(columns)), None)


class SmallPictures:
    """Small versions of the pictures of an upload, from its folder, its archives, and its Parquet files."""

    def __init__(self, upload: Upload) -> None:
        folder = folder_of(upload, IMAGES)
        self._archives = [folder / name for name in received_bytes(upload, IMAGES) if is_archive(name)]
        beside = ImageFolder(folder.resolve()) if folder.is_dir() else None
        tables = [file for file in rows_of(upload) if file.suffix.lower() == PARQUET]
        named = files_by_name(tables, folder_of(upload, ROWS))
        self._images = TableImages(named, beside, largest_group=LARGEST_GROUP_SHOWN)
        self._left = MOST_PICTURES

    def small(self, filename: str) -> bytes | None:
        """Return a picture as WebP, None if it is missing, too large or damaged, and b"" after MOST_PICTURES."""
        if unsafe_filename(filename):
            return None
        if not self._left:
            return b""
        self._left -= 1
        data = self._images.read(filename)
        if isinstance(data, UnusableImage):
            data = next(filter(None, (_member(archive, filename) for archive in self._archives)), b"")
        try:
            return thumbnail(data, max_pixels=settings.IMAGE_MAX_PIXELS) if len(data) <= LARGEST_SHOWN else None
        except NotAPicture:
            return None


def _member(archive: Path, filename: str) -> bytes:
    """Return a file of an archive, whose folders the name may leave out, or b""."""
    try:
        with zipfile.ZipFile(archive) as opened:
            known = set(opened.namelist())
            names = [filename, filename.removeprefix(f"{archive.stem}/")]
            if len(below := files_ending_with(filename, known)) == 1:
                names += below
            for name in names:
                if name in known:
                    with opened.open(name) as member:
                        return member.read(LARGEST_SHOWN + 1)
    except (*DAMAGED, OSError):
        pass
    return b""
