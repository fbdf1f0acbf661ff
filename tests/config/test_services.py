"""Where the files of a run of everything are: in memory where there is room."""

import os
import tempfile
from pathlib import Path

import pytest

from tests import services
from tests.services import files_in_memory


@pytest.fixture(autouse=True)
def _no_folder_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(services, "ROOM", 1)


def test_files_are_written_to_memory_and_go_with_the_run(tmp_path: Path) -> None:
    before = tempfile.gettempdir()
    with files_in_memory(tmp_path):
        written = Path(tempfile.mkdtemp())
        assert tmp_path in written.parents
        # What a process of the run asks its environment for.
        assert os.environ["TMPDIR"] == tempfile.gettempdir() == str(written.parent)
    assert list(tmp_path.iterdir()) == []
    assert (tempfile.gettempdir(), "TMPDIR" in os.environ) == (before, False)


def test_postgresqls_account_may_go_through_to_its_own_folder_and_read_no_other(tmp_path: Path) -> None:
    with files_in_memory(tmp_path):
        assert Path(tempfile.gettempdir()).stat().st_mode & 0o777 == 0o711


@pytest.mark.parametrize("lacking", ["memory", "a file system in it"])
def test_files_stay_where_they_were_where_there_is_no_room(
    lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tempfile.gettempdir()
    if lacking == "memory":
        monkeypatch.setattr(services, "_memory_free", lambda: 0)
    with files_in_memory(tmp_path if lacking == "memory" else tmp_path / "nowhere"):
        assert (tempfile.gettempdir(), "TMPDIR" in os.environ) == (before, False)
    assert list(tmp_path.iterdir()) == []
