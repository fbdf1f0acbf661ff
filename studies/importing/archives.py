"""Archives of images that come from strangers, and names inside them. Pure.

Nothing in an archive is trusted: not its names, not the sizes it declares, not how often it was compressed.
"""

import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO
from zlib import error as ZlibError

MOST_MEMBERS = 1_000_000
LONGEST_PATH = 1000
LONGEST_NAME = 255
BLOCK = 1 << 20


class BadArchive(Exception):
    """An archive cannot be unpacked; the message says why, for people."""


def problem_with_path(name: str) -> str:
    """Return why `name` cannot be the path of a file inside a folder, its parts separated by "/", or "".

    Example: "birds/1.jpg" can; "../1.jpg", "/etc/passwd" and "C:\\1.jpg" cannot.
    """
    if not name or len(name) > LONGEST_PATH:
        return f"A name has 1 to {LONGEST_PATH} characters."
    if "\\" in name or not name.isprintable():
        return "A name holds no backslash and nothing that cannot be seen."
    parts = name.split("/")
    if {"", ".", ".."} & set(parts):
        return 'No part of a name is empty, "." or "..".'
    if any(len(part.encode()) > LONGEST_NAME for part in parts):
        return f"A part of a name takes at most {LONGEST_NAME} bytes."
    return ""


def unpack(archive: Path, folder: Path, *, most_bytes: int, advance: Callable[[int, int], None]) -> int:
    """Unpack a zip archive into `folder`, return how many bytes that was; `advance` hears how many files of how many.

    Where everything lies in one folder that is called like the archive, as systems make it that compress a folder,
    names may begin with that folder or after it. Raises BadArchive, and OSError as the disk does.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            members = _members(opened, archive.name)
            top = _only_folder(members, archive)
            written = 0
            for done, member in enumerate(members, start=1):
                target = folder / (member.filename.removeprefix(f"{top}/") if top else member.filename)
                _clear_the_way(target, folder, archive.name)
                with opened.open(member) as source, target.open("wb") as out:
                    for block in _blocks(source):
                        written += len(block)
                        if written > most_bytes:
                            raise BadArchive(
                                f"{archive.name} holds more than {most_bytes:,} bytes. Send less at once, or import "
                                "on the server."
                            )
                        out.write(block)
                advance(done, len(members))
    except (zipfile.BadZipFile, ZlibError, EOFError, NotImplementedError, RuntimeError) as error:
        # RuntimeError is how a member with a password is told, NotImplementedError an unknown compression.
        raise BadArchive(
            f"{archive.name} cannot be unpacked ({error}). Make the zip again, without a password."
        ) from error
    if top and not (folder / top).exists():
        (folder / top).symlink_to(".", target_is_directory=True)
    return written


def _members(opened: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    members = [member for member in opened.infolist() if not member.is_dir() and not _is_left_by_system(member)]
    if len(members) > MOST_MEMBERS:
        raise BadArchive(f"{name} holds {len(members):,} files; at most {MOST_MEMBERS:,} are taken.")
    for member in members:
        if problem := problem_with_path(member.filename):
            raise BadArchive(f"{name} holds a file called {member.filename[:100]!r}, which is refused. {problem}")
    return members


def _is_left_by_system(member: zipfile.ZipInfo) -> bool:
    """Tell whether it is what macOS and Windows put beside people's files."""
    path = PurePosixPath(member.filename)
    return "__MACOSX" in path.parts or path.name in {".DS_Store", "Thumbs.db", "desktop.ini"}


def _only_folder(members: list[zipfile.ZipInfo], archive: Path) -> str:
    tops = {member.filename.partition("/")[0] if "/" in member.filename else "" for member in members}
    return archive.stem if tops == {archive.stem} else ""


def _clear_the_way(target: Path, folder: Path, name: str) -> None:
    """Make the folders above `target`, which must not lie outside `folder`, whatever lies there already."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(folder)) or target.is_dir():
        raise BadArchive(f"{name} holds a file {target.name!r} where there is a folder, or the other way round.")


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    while block := source.read(BLOCK):
        yield block
