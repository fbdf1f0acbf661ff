"""Safe unpacking of image archives, and checks of paths. Pure.

Archives are untrusted: names, declared sizes and compression ratios.
"""

import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Container
from contextlib import suppress
from errno import EINVAL
from functools import partial
from itertools import chain
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from zlib import error as ZlibError

MOST_MEMBERS = 1_000_000
LONGEST_PATH = 1000
LONGEST_NAME = 255
LONGEST_SHOWN = 100
BLOCK = 1 << 20
# The flag of a file with a password.
_ENCRYPTED = 1


# Errors for a damaged zip, one with a password (RuntimeError) and an unknown compression (NotImplementedError).
DAMAGED = (
    *(zipfile.BadZipFile, ZlibError, LZMAError, struct.error, EOFError, ValueError, OverflowError),
    *(NotImplementedError, RuntimeError),
)


class BadArchive(Exception):
    """An archive cannot be unpacked; the message says why."""


class LargeArchive(BadArchive):
    """An archive holds more than is allowed."""


def problem_with_path(name: str) -> str:
    """Return why `name` is not a valid path of a file inside a folder, with "/" between its parts, or "".

    Example: "birds/1.jpg" is valid; "../1.jpg", "/etc/passwd" and "C:\\1.jpg" are not.
    """
    if not name:
        return "It has no name."
    if "\\" in name or not name.isprintable():
        return "Remove backslashes, line breaks and invisible characters."
    if len(name.encode()) > LONGEST_PATH:
        return f"Use at most {LONGEST_PATH} bytes for a path: the name with its folders."
    parts = name.split("/")
    if {"", ".", ".."} & set(parts):
        return 'Remove ".", ".." and empty parts, such as a slash at the beginning.'
    if any(len(part.encode()) > LONGEST_NAME for part in parts):
        return f"Use at most {LONGEST_NAME} bytes for the name of a file or folder."
    return ""


def unpack(archive: Path, folder: Path, *, most_bytes: int, advance: Callable[[int, int], None]) -> int:
    """Unpack a zip archive into `folder`; return the number of bytes. `advance(done, total)` counts files.

    If everything is in one folder with the archive's name (as when a system compresses a folder), rows may include or
    omit that folder in names. Raises BadArchive and OSError.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = _members(opened, archive.name)
            top = _only_folder(members, archive)
            written = 0
            for done, member in enumerate(members, start=1):
                target = folder / (member.filename.removeprefix(f"{top}/") if top else member.filename)
                _make_parents(target, folder, archive.name)
                with opened.open(member) as source, target.open("wb") as out:
                    for block in iter(partial(source.read, BLOCK), b""):
                        written += len(block)
                        if written > most_bytes:
                            raise LargeArchive(
                                f"{archive.name} holds more than {most_bytes:,} bytes. Send less at once, or import "
                                "on the server."
                            )
                        out.write(block)
                advance(done, len(members))
    except (*DAMAGED, OSError) as error:
        # Damage found by bz2 has no errno; a seek before the start is EINVAL.
        if isinstance(error, OSError) and error.errno not in {None, EINVAL}:
            raise
        raise BadArchive(f"{archive.name} cannot be unpacked ({error}). Zip it again, without a password.") from error
    if top and not (folder / top).exists():
        (folder / top).symlink_to(".", target_is_directory=True)
    return written


# What the rows of a dataset are called, the first of these that it has: a Hugging Face dataset, then any table.
# What `datasets` writes beside the rows.
BESIDE_TABLES = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")
TABLES = (r".+\.(parquet|arrow)", r"(.+/)?metadata\.(csv|jsonl)", r".+\.(csv|tsv|jsonl?)")


def tables_in(archive: Path) -> tuple[list[str], list[str]]:
    """Return the names of the files in an archive that are its rows, and of its other tables.

    Raises BadArchive and OSError.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [member.filename for member in _members(opened, archive.name)]
    except DAMAGED as error:
        raise BadArchive(f"{archive.name} cannot be read ({error}). Zip it again, without a password.") from error
    found = [[name for name in names if re.fullmatch(table, name, re.IGNORECASE)] for table in TABLES]
    taken = next(filter(None, found), [])
    others = [name for name in dict.fromkeys(chain(*found)) if name not in taken]
    return taken, [name for name in others if PurePosixPath(name).name not in BESIDE_TABLES]


def _members(opened: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    # Not `is_dir`, which fails for a member without a name.
    files = (member for member in opened.infolist() if not member.filename.endswith("/"))
    members = [member for member in files if not _is_left_by_system(member)]
    if len(members) > MOST_MEMBERS:
        raise BadArchive(f"{name} has {len(members):,} files; at most {MOST_MEMBERS:,} are allowed.")
    names: set[str] = set()
    for number, member in enumerate(members, start=1):
        if problem := _problem_with_member(member, names):
            raise BadArchive(f"{name}: file {number}, {_shorten(member.filename)}, is not allowed. {problem}")
        names.add(member.filename)
    folders = {str(folder) for each in names for folder in PurePosixPath(each).parents}
    if both := sorted(names & folders):
        raise BadArchive(f"{name}: {_shorten(both[0])} is a file and a folder. Rename one of the two.")
    return members


def _problem_with_member(member: zipfile.ZipInfo, names: Container[str]) -> str:
    if problem := problem_with_path(member.filename):
        return problem
    if member.filename in names:
        return "Another file has the same name. Rename one of the two."
    if member.flag_bits & _ENCRYPTED:
        return "It has a password. Zip the files again, without one."
    if member.filename.lower().endswith(".zip"):
        return "It is a zip in a zip. Put its files directly into the outer zip."
    # The upper 16 bits are the Unix mode, 0 for zips made on other systems.
    kind = stat.S_IFMT(member.external_attr >> 16)
    return "" if kind in {0, stat.S_IFREG} else "It is a link or a device. Put the file itself into the zip."


def _shorten(name: str) -> str:
    return repr(name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}...")


def _is_left_by_system(member: zipfile.ZipInfo) -> bool:
    """Return whether it is a metadata file of macOS or Windows."""
    path = PurePosixPath(member.filename)
    return "__MACOSX" in path.parts or path.name in {".DS_Store", "Thumbs.db", "desktop.ini"}


def _only_folder(members: list[zipfile.ZipInfo], archive: Path) -> str:
    tops = {member.filename.partition("/")[0] if "/" in member.filename else "" for member in members}
    return archive.stem if tops == {archive.stem} else ""


def _make_parents(target: Path, folder: Path, name: str) -> None:
    """Make the parent folders of `target`.

    Raises BadArchive if they lead out of `folder` (a symbolic link), or if a file and a folder clash.
    """
    with suppress(FileExistsError, NotADirectoryError):
        target.parent.mkdir(parents=True, exist_ok=True)
    if (
        not target.parent.is_dir()
        or not Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(folder))
        or target.is_dir()
    ):
        raise BadArchive(f"{name} holds a file {target.name!r} where there is a folder, or the other way round.")
