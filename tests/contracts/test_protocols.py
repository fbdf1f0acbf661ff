"""What holds for every protocol of a benchmark in the registry, with the smallest benchmark that it says of itself."""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analytics.scores import Floats, Score
from evaluation.protocols import PROTOCOLS, Benchmark, BenchmarkError, Block, evaluate, get_protocol
from evaluation.protocols.rococo import ALL_MADE
from tests.evaluation.protocols.written import write

every_protocol = pytest.mark.parametrize("name", PROTOCOLS)


def example(name: str, folder: Path) -> Path:
    return write(folder, get_protocol(name).example)


def scored_by_name(blocks: Iterable[Block]) -> Iterator[Floats]:
    """Score by what the names and texts are, so that the same pair always has the same score."""
    for block in blocks:
        yield np.array([[len(image) * 7 % 5 + len(text) * 11 % 13 for text in block.texts] for image in block.images])


@every_protocol
def test_it_says_what_it_is_and_by_which_rules(name: str) -> None:
    protocol = get_protocol(name)
    assert protocol.name == name
    assert protocol.title
    assert protocol.paper
    said = type(protocol).__doc__ or ""
    assert "Tie rule:" in said
    assert "Order of options:" in said
    assert "Data:" in said
    assert all(file in said for file in protocol.example)


@every_protocol
def test_its_example_is_read_scored_and_counted(name: str, tmp_path: Path) -> None:
    protocol, folder = get_protocol(name), example(name, tmp_path)
    data = protocol.read(folder)
    blocks = list(protocol.blocks(data))
    assert blocks == list(protocol.blocks(data))
    assert all(block.images and block.texts for block in blocks)
    came_out = evaluate(protocol, data, scored_by_name)
    for part in (came_out.whole, *came_out.parts):
        assert part.n > 0
        for cell in part.cells.values():
            assert (cell.count <= cell.n) if isinstance(cell, Score) else (cell.value is None) == bool(cell.reason)
    assert set(came_out.whole.cells) <= set(protocol.chance(data))
    assert all(share is None or 0 < share < 1 for share in protocol.chance(data).values())


@every_protocol
def test_what_it_asks_of_a_blind_baseline_stands_in_its_blocks(name: str, tmp_path: Path) -> None:
    protocol = get_protocol(name)
    data = protocol.read(example(name, tmp_path))
    if type(protocol).choices is Benchmark.choices:
        with pytest.raises(BenchmarkError, match=protocol.title):
            list(protocol.choices(data))
        return
    for block, asked in zip(protocol.blocks(data), protocol.choices(data), strict=True):
        shown = {"text": (block.texts, block.images), "image": (block.images, block.texts)}
        for each in asked:
            options, beside = shown[each.among]
            assert 0 <= each.right < len(options)
            assert 0 <= each.of < len(beside)
            assert len(options) > 1


@every_protocol
def test_a_model_that_cannot_tell_is_never_right_where_a_tie_is_wrong(name: str, tmp_path: Path) -> None:
    protocol = get_protocol(name)
    same = evaluate(
        protocol,
        protocol.read(example(name, tmp_path)),
        lambda blocks: (np.zeros((len(block.images), len(block.texts))) for block in blocks),
    )
    counted = [cell.count for cell in same.whole.cells.values() if isinstance(cell, Score)]
    # The one rule under which a tie is right says so.
    assert not any(counted) or "so a tie is right" in " ".join((type(protocol).__doc__ or "").split())


@every_protocol
@pytest.mark.parametrize("wrong", [np.nan, np.inf], ids=str)
def test_scores_that_are_none_are_refused(name: str, tmp_path: Path, wrong: float) -> None:
    protocol = get_protocol(name)
    data = protocol.read(example(name, tmp_path))
    with pytest.raises(BenchmarkError, match="not a number"):
        evaluate(protocol, data, lambda blocks: (np.full((len(b.images), len(b.texts)), wrong) for b in blocks))
    with pytest.raises(BenchmarkError, match="scores of shape"):
        evaluate(protocol, data, lambda blocks: (np.zeros((1, len(b.texts) + 1)) for b in blocks))
    with pytest.raises(BenchmarkError, match="gave no scores"):
        evaluate(protocol, data, lambda blocks: [matrix for matrix, _ in zip(scored_by_name(blocks), (), strict=False)])


@every_protocol
@pytest.mark.parametrize("content", [b"", b"\0\xff", b"[", b"{}", b"[]", b"[3]", b'{"a": 1}', b"a,b\n1,2\n"])
def test_whatever_its_files_hold_there_is_a_sentence(name: str, tmp_path: Path, content: bytes) -> None:
    protocol = get_protocol(name)
    for file in protocol.example:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(BenchmarkError) as refused:
        protocol.read(tmp_path)
    assert str(refused.value).endswith(".")


@every_protocol
def test_a_folder_without_its_files_and_one_that_is_not_there_are_named(name: str, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BenchmarkError, match=str(folder)):
            get_protocol(name).read(folder)


@every_protocol
def test_what_was_made_already_is_not_made_again(name: str, tmp_path: Path) -> None:
    folder = example(name, tmp_path)
    for made in ALL_MADE:
        (folder / made.folder).mkdir()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    said = get_protocol(name).prepare(folder, seed=1, encoders={})
    assert all(sentence.endswith(".") for sentence in said)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@every_protocol
def test_the_pairs_that_the_command_writes_come_back_with_scores(name: str, tmp_path: Path) -> None:
    folder, pairs, out = example(name, tmp_path / "data"), tmp_path / "model.csv", tmp_path / "out.json"
    call_command("evaluate", benchmark=name, data=folder, pairs=pairs, stdout=io.StringIO())
    header, *lines = pairs.read_text(encoding="utf-8").splitlines()
    assert header == "image,text,score"
    pairs.write_text("\n".join([header, *dict.fromkeys(f"{line}{len(line) % 7}" for line in lines)]), encoding="utf-8")
    printed = io.StringIO()
    call_command("evaluate", benchmark=name, data=folder, model=[f"file:{pairs}"], out=out, stdout=printed)
    assert get_protocol(name).title in printed.getvalue()
    assert "\n| chance " in printed.getvalue()
    (line,) = json.loads(out.read_text(encoding="utf-8"))["models"]
    assert line["model"] == "model"
    assert line["whole"]["cells"]


@every_protocol
def test_a_file_that_is_nothing_of_the_kind_is_refused(name: str, tmp_path: Path) -> None:
    folder = example(name, tmp_path / "data")
    for file, content in {"a.csv": "a,b\n1,2\n", "a.txt": "no", "a.json": "[]"}.items():
        (tmp_path / file).write_text(content)
        arguments: dict[str, Any] = {"benchmark": name, "data": folder, "model": [f"file:{tmp_path / file}"]}
        with pytest.raises(CommandError, match=r"Nothing was evaluated\."):
            call_command("evaluate", **arguments, stdout=io.StringIO())
