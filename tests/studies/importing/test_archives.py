import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from studies.importing.archives import BadArchive, problem_with_path, unpack


def make_zip(path: Path, members: Mapping[str, bytes], *, compressed: bool = False) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as made:
        for name, content in members.items():
            made.writestr(zipfile.ZipInfo(name), content, made.compression)
    return path


def unpacked(archive: Path, *, most_bytes: int = 10**6) -> dict[str, bytes]:
    """Unpack into a folder beside the archive; return what lies there afterwards, by name."""
    folder = archive.parent / "images"
    folder.mkdir(exist_ok=True)
    unpack(archive, folder, most_bytes=most_bytes, advance=lambda done, total: None)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(above.is_symlink() for above in path.parents)
    }


def test_files_lie_where_their_names_say(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "some.zip", {"1.jpg": b"one", "a/b/2.jpg": b"two", "a/": b""})
    heard: list[tuple[int, int]] = []
    folder = tmp_path / "images"
    folder.mkdir()
    assert unpack(archive, folder, most_bytes=6, advance=lambda *told: heard.append(told)) == 6
    assert (folder / "1.jpg").read_bytes() == b"one"
    assert (folder / "a" / "b" / "2.jpg").read_bytes() == b"two"
    assert heard == [(1, 2), (2, 2)]
    # Begun again after a worker was lost, it is the same.
    assert unpacked(archive) == {"1.jpg": b"one", "a/b/2.jpg": b"two"}


def test_of_a_folder_that_was_compressed_names_begin_with_it_or_after_it(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "birds.zip", {"birds/1.jpg": b"one", "birds/__MACOSX/x": b"", "birds/.DS_Store": b""})
    assert unpacked(archive) == {"1.jpg": b"one"}
    assert (tmp_path / "images" / "birds" / "1.jpg").read_bytes() == b"one"


def test_a_folder_of_another_name_stays(tmp_path: Path) -> None:
    assert unpacked(make_zip(tmp_path / "some.zip", {"birds/1.jpg": b"one"})) == {"birds/1.jpg": b"one"}


@pytest.mark.parametrize(
    "name", ["../out.jpg", "/etc/out.jpg", "a/../../out.jpg", "a\\..\\out.jpg", "a//b.jpg", "x\n.jpg"]
)
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    archive = make_zip(tmp_path / "bad.zip", {"good.jpg": b"x", name: b"x"})
    with pytest.raises(BadArchive, match=r"bad\.zip holds a file called"):
        unpacked(archive)
    assert not list(tmp_path.rglob("out.jpg"))
    # Nothing of it is taken before all names have been looked at.
    assert not list(tmp_path.rglob("good.jpg"))


def test_a_link_in_an_archive_is_but_a_file(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("secrets")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as made:
        made.writestr(link, "/etc")
        made.writestr("secrets/passwd", "root")
    with pytest.raises((BadArchive, OSError)):
        unpacked(tmp_path / "bad.zip")
    assert not (tmp_path / "images" / "secrets").is_symlink()


def test_nothing_is_written_through_a_link_that_lies_there(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "images" / "a").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(BadArchive, match="where there is a folder"):
        unpacked(make_zip(tmp_path / "bad.zip", {"a/1.jpg": b"x"}))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_bomb_is_refused_as_soon_as_it_holds_too_much(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "bomb.zip", {"a": bytes(5_000_000), "b": bytes(5_000_000)}, compressed=True)
    assert archive.stat().st_size < 20_000
    with pytest.raises(BadArchive, match=r"bomb\.zip holds more than 2,000,000 bytes"):
        unpacked(archive, most_bytes=2_000_000)
    assert sum(path.stat().st_size for path in (tmp_path / "images").rglob("*")) <= 2_000_000


def test_a_size_that_is_declared_too_small_is_no_way_in(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "liar.zip", {"a": bytes(3_000_000)}, compressed=True)
    data = archive.read_bytes()
    size = (3_000_000).to_bytes(4, "little")
    assert data.count(size) == 2
    archive.write_bytes(data.replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(BadArchive):
        unpacked(archive, most_bytes=1_000_000)


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04" + bytes(40)])
def test_what_is_no_archive_is_told_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.zip").write_bytes(content)
    with pytest.raises(BadArchive, match=r"odd\.zip cannot be unpacked"):
        unpacked(tmp_path / "odd.zip")


def test_an_archive_that_was_cut_or_damaged_is_told_so(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "odd.zip", {"a": b"x" * 1000})
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b"x" * 1000, b"y" * 1000))
    with pytest.raises(BadArchive, match="Bad CRC-32"):
        unpacked(archive)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("birds/1.jpg", ""),
        ("\u00f1and\u00fa.jpg", ""),
        ("", "1 to 1000 characters"),
        ("a" * 1001, "1 to 1000 characters"),
        ("\u00e9" * 200, "at most 255 bytes"),
        ("a\0b", "cannot be seen"),
        (".", 'is empty, "."'),
        ("C:\\1.jpg", "no backslash"),
    ],
)
def test_what_a_file_can_be_called(name: str, problem: str) -> None:
    assert problem in problem_with_path(name)
    assert bool(problem_with_path(name)) == bool(problem)
