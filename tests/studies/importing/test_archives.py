import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from studies.importing.archives import BadArchive, problem_with_path, tables_in, unpack


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


@pytest.mark.parametrize(("name", "there"), [("birds.zip", {"1.jpg": b"one"}), ("some.zip", {"birds/1.jpg": b"one"})])
def test_names_begin_with_the_folder_that_was_compressed_or_after_it(
    tmp_path: Path, name: str, there: dict[str, bytes]
) -> None:
    archive = make_zip(tmp_path / name, {"birds/1.jpg": b"one", "birds/__MACOSX/x": b"", "birds/.DS_Store": b""})
    assert unpacked(archive) == there
    assert (tmp_path / "images" / "birds" / "1.jpg").read_bytes() == b"one"


@pytest.mark.parametrize(
    "name", ["../out.jpg", "/etc/out.jpg", "a/../../out.jpg", "a\\..\\out.jpg", "a//b.jpg", "x\n.jpg"]
)
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    archive = make_zip(tmp_path / "bad.zip", {"good.jpg": b"x", name: b"x"})
    with pytest.raises(BadArchive, match=r"bad\.zip: file 2, .* is not allowed\. Remove "):
        unpacked(archive)
    assert not list(tmp_path.rglob("out.jpg"))
    # Nothing of it is taken before all names have been looked at.
    assert not list(tmp_path.rglob("good.jpg"))


def patched(archive: Path, before: bytes, after: bytes) -> Path:
    """Change the bytes of an archive, in the file's own header and in the list at the end; sizes stay."""
    assert len(before) == len(after)
    data = archive.read_bytes()
    assert data.count(before) == 2
    archive.write_bytes(data.replace(before, after))
    return archive


@pytest.mark.parametrize(
    ("second", "after", "sentence"),
    [
        (b"no.jpg", b"\0o.jpg", r"^bad\.zip: file 2, '', is not allowed\. It has no name\.$"),
        (b"2.jpg", b"1.jpg", r"file 2, '1\.jpg', is not allowed\. Another file has the same name\."),
        (b"\xc3\xa9.jpg", b"\xff\xff.jpg", r"bad\.zip cannot be unpacked"),
    ],
    ids=["no name", "the same name", "no known letters"],
)
def test_a_file_whose_name_was_changed_is_refused(tmp_path: Path, second: bytes, after: bytes, sentence: str) -> None:
    made = make_zip(tmp_path / "bad.zip", {"1.jpg": b"x", second.decode(): b"y"})
    with pytest.raises(BadArchive, match=sentence):
        unpacked(patched(made, second, after))


def test_a_long_name_is_refused_and_not_quoted_whole(tmp_path: Path) -> None:
    with pytest.raises(BadArchive, match=r"is not allowed\. Use at most 255 bytes") as caught:
        unpacked(make_zip(tmp_path / "bad.zip", {"n" * 300: b"x"}))
    assert len(str(caught.value)) < 300
    with pytest.raises(BadArchive, match=r"is not allowed\. Use at most 1000 bytes"):
        unpacked(make_zip(tmp_path / "bad.zip", {"n/" * 5000 + "x": b"x"}))


def test_a_file_that_is_a_folder_too_is_refused(tmp_path: Path) -> None:
    for names in (("a", "a/b/1.jpg"), ("a/b/1.jpg", "a/b")):
        with pytest.raises(BadArchive, match=r"bad\.zip: 'a(/b)?' is a file and a folder\. Rename one of the two\."):
            unpacked(make_zip(tmp_path / "bad.zip", dict.fromkeys(names, b"x")))


@pytest.mark.parametrize("is_link", [False, True], ids=["a file", "a link"])
def test_nothing_is_written_through_what_lies_there(tmp_path: Path, is_link: bool) -> None:
    for name in ("images", "elsewhere"):
        (tmp_path / name).mkdir()
    there = tmp_path / "images" / "a"
    there.symlink_to(tmp_path / "elsewhere") if is_link else there.write_bytes(b"sent before")
    with pytest.raises(BadArchive, match="where there is a folder"):
        unpacked(make_zip(tmp_path / "bad.zip", {"a/1.jpg": b"x"}))
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_is_told_as_such_however_it_was_compressed(tmp_path: Path, compression: int) -> None:
    """Every 7th byte of an archive is changed, one at a time: it is taken, or refused with a sentence."""
    odd = tmp_path / "odd.zip"
    with zipfile.ZipFile(odd, "w", compression) as made:
        made.writestr("1.jpg", bytes(range(256)) * 2)
        made.writestr("a/2.jpg", b"x")
    data = odd.read_bytes()
    refused = 0
    for place in range(0, len(data), 7):
        odd.write_bytes(data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :])
        folder = tmp_path / f"images-{place}"
        folder.mkdir()
        try:
            unpack(odd, folder, most_bytes=10**6, advance=lambda done, total: None)
        except BadArchive:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_or_a_device_is_refused(tmp_path: Path, kind: int) -> None:
    link = zipfile.ZipInfo("secrets")
    link.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as made:
        made.writestr(link, "/etc")
    with pytest.raises(BadArchive, match=r"'secrets', is not allowed\. It is a link or a device\."):
        unpacked(tmp_path / "bad.zip")
    assert not (tmp_path / "images" / "secrets").exists()


@pytest.mark.parametrize("read", [unpacked, tables_in])
def test_a_file_with_a_password_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    archive = make_zip(tmp_path / "bad.zip", {"1.csv": b"a"})
    data = bytearray(archive.read_bytes())
    # The flags of the file in its own header, and in the list at the end.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(data)
    with pytest.raises(BadArchive) as refused:
        read(archive)
    sentence = "bad.zip: file 1, '1.csv', is not allowed. It has a password. Zip the files again, without one."
    assert str(refused.value) == sentence


def test_a_zip_in_a_zip_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "bad.zip", {"a/In.ZIP": b"x"})
    with pytest.raises(BadArchive, match=r"It is a zip in a zip\. Put its files directly into the outer zip\."):
        unpacked(archive)


def test_a_bomb_is_refused_as_soon_as_it_holds_too_much(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "bomb.zip", {"a": bytes(5_000_000), "b": bytes(5_000_000)}, compressed=True)
    assert archive.stat().st_size < 20_000
    with pytest.raises(BadArchive, match=r"bomb\.zip holds more than 2,000,000 bytes"):
        unpacked(archive, most_bytes=2_000_000)
    assert sum(path.stat().st_size for path in (tmp_path / "images").rglob("*")) <= 2_000_000


def test_a_size_that_is_declared_too_small_is_no_way_in(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "liar.zip", {"a": bytes(3_000_000)}, compressed=True)
    with pytest.raises(BadArchive):
        unpacked(patched(archive, *(size.to_bytes(4, "little") for size in (3_000_000, 10))), most_bytes=1_000_000)


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04" + bytes(40)])
def test_what_is_no_archive_is_told_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.zip").write_bytes(content)
    with pytest.raises(BadArchive, match=r"odd\.zip cannot be unpacked"):
        unpacked(tmp_path / "odd.zip")


def test_an_archive_that_was_damaged_is_told_so(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "odd.zip", {"a": b"x" * 1000})
    archive.write_bytes(archive.read_bytes().replace(b"x" * 1000, b"y" * 1000))
    with pytest.raises(BadArchive, match="Bad CRC-32"):
        unpacked(archive)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("birds/1.jpg", ""),
        ("\u00f1and\u00fa.jpg", ""),
        ("", "no name"),
        ("a/" * 500 + "b", "at most 1000 bytes"),
        ("\u00e9/" * 334, "at most 1000 bytes"),
        ("\u00e9" * 200, "at most 255 bytes"),
        ("a\0b", "invisible characters"),
        ("\u202egpj.exe", "invisible characters"),
        (".", 'Remove "."'),
        ("/a", "slash at the beginning"),
        ("C:\\1.jpg", "Remove backslashes"),
    ],
)
def test_what_a_file_can_be_called(name: str, problem: str) -> None:
    assert problem in problem_with_path(name)
    assert bool(problem_with_path(name)) == bool(problem)
