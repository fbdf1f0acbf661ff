"""Sending a folder to the Hub, tried with the Hub's own library against a stand-in of its protocol."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from background.hub_commits import HubRefused, Target, is_repository
from tests.hub import TOKEN, Hub
from tests.receivers import Request
from workspace.hub_repository import push_folder

# The library's own, of the client that it uses.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")
FILES = {
    "README.md": b"---\nlicense: cc-by-4.0\n---\n# Vases\n",
    "data/test-00000-of-00001.parquet": b"PAR1" + b"\0" * 2000,
    "annotations/responses.csv": b"key\nvase-1\n",
}


def folder_of(path: Path, files: dict[str, bytes] = FILES) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def push(folder: Path, told: list[tuple[int, int]] | None = None, **changes: Any) -> str:
    fields = {"repository": "lab/vases", "token": TOKEN, "private": True, "tag": "v1", **changes}
    return push_folder(
        folder, Target(**fields), lambda done, total: (told if told is not None else []).append((done, total))
    )


def test_a_folder_is_one_commit_of_a_private_repository_with_a_tag(hub: Hub, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    url = push(folder_of(tmp_path), told)
    repository = hub.repositories["lab/vases"]
    assert (repository.private, repository.files, repository.commits) == (True, FILES, ["Release v1"])
    assert repository.tags == {"v1": 1}
    assert url == f"{hub.url}/datasets/lab/vases/commit/{'0' * 39}1"
    # 11 bytes of answers, 2004 of data, 37 of the card.
    sizes = {name: len(data) for name, data in FILES.items()}
    first, second, third = (
        sizes["README.md"],
        sizes["annotations/responses.csv"],
        sizes["data/test-00000-of-00001.parquet"],
    )
    assert told == [(done, first + second + third) for done in (0, first, first + second, first + second + third)]
    # What is large went by Git LFS, what is small in the commit.
    assert [line for line in hub.sent if line.startswith("PUT")] == [f"PUT /lfs/{oid}" for oid in hub.blobs]
    assert list(hub.blobs.values()) == [FILES["data/test-00000-of-00001.parquet"]]


def test_pushed_again_the_same_is_sent_no_second_time(hub: Hub, tmp_path: Path) -> None:
    url = push(folder_of(tmp_path))
    hub.sent.clear()
    assert push(tmp_path) == url
    assert hub.repositories["lab/vases"].commits == ["Release v1"]
    assert not [line for line in hub.sent if line.startswith("PUT") or "/commit/" in line]


def test_the_next_release_takes_the_place_of_the_one_before_and_touches_nothing_else(hub: Hub, tmp_path: Path) -> None:
    push(folder_of(tmp_path / "one"))
    repository = hub.repositories["lab/vases"]
    repository.files |= {"notes.md": b"Ours.", "figures/one.png": b"png"}
    files = {"README.md": b"# Vases, again\n", "data/train-00000-of-00001.parquet": b"PAR1"}
    push(folder_of(tmp_path / "two", files), tag="v2")
    kept = {"notes.md": b"Ours.", "figures/one.png": b"png", "annotations/responses.csv": b"key\nvase-1\n"}
    assert repository.files == files | kept
    assert (repository.commits, repository.tags) == (["Release v1", "Release v2"], {"v1": 1, "v2": 2})


def test_a_release_that_is_written_again_takes_its_tag_along(hub: Hub, tmp_path: Path) -> None:
    """Its rows are others when somebody was deleted from it: the tag must not go on leading to them."""
    push(folder_of(tmp_path))
    push(folder_of(tmp_path, FILES | {"annotations/responses.csv": b"key\n"}))
    assert hub.repositories["lab/vases"].tags == {"v1": 2}


def test_a_token_for_one_repository_need_not_be_able_to_make_any(hub: Hub, tmp_path: Path) -> None:
    push(folder_of(tmp_path))
    hub.before = lambda request: (403, {"error": "No"}) if request.path == "/api/repos/create" else None
    push(tmp_path, tag="v2")
    assert hub.repositories["lab/vases"].tags == {"v1": 1, "v2": 1}


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "The Hub rejected the token: it is unknown or expired. Use a new one."),
        (403, "The Hub does not let this token write to lab/vases."),
        (404, "The Hub has no lab/vases that this token may write to."),
        (400, "The Hub answered 400: No … here"),
    ],
)
def test_what_the_hub_refuses_is_said_without_the_token(status: int, said: str, hub: Hub, tmp_path: Path) -> None:
    def refuse(request: Request) -> tuple[int, Any] | None:
        return (status, {"error": f"No {TOKEN} here"}) if "/preupload/" in request.path else None

    hub.before = refuse
    with pytest.raises(HubRefused) as refused:
        push(folder_of(tmp_path))
    assert str(refused.value) == said


def test_a_hub_that_is_not_there_is_said_to_be_away(settings: Settings, tmp_path: Path) -> None:
    settings.HUB_URL = "http://127.0.0.1:9"
    with pytest.raises(HubRefused, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        push(folder_of(tmp_path))


def test_a_file_that_does_not_go_through_is_told_with_what_the_hub_said(hub: Hub, tmp_path: Path) -> None:
    hub.before = lambda request: (413, {"error": "Too large"}) if request.method == "PUT" else None
    with pytest.raises(HubRefused, match="The Hub answered 413: Too large"):
        push(folder_of(tmp_path))
    assert hub.repositories["lab/vases"].commits == []


@pytest.mark.parametrize("name", ["lab/vases", "a/b", "my-lab/my_set.v2", "L9/9"])
def test_what_the_hub_allows_names_a_repository(name: str) -> None:
    assert is_repository(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "vases",
        "lab/",
        "/vases",
        "lab/vases/x",
        "lab/va ses",
        "lab/-v",
        "lab/v..s",
        "lab/v--s",
        "lab/v.git",
        "lab/v\n",
    ],
)
def test_what_it_does_not_names_none(name: str) -> None:
    assert not is_repository(name)
