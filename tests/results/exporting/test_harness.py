"""The folder for evaluation harnesses, without them: `make test-models` loads it with both where they are installed."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from results.exporting import get_writer, read_answers
from tests.results.exporting.test_columnar import PICTURES, digests
from tests.results.exporting.test_formats import INSTANCE


class Loader(yaml.SafeLoader):
    """Reads the tag of both harnesses as text."""


Loader.add_constructor("!function", lambda loader, node: f"function {node.value}")


def harness(folder: Path) -> Path:
    writer = get_writer("harness")
    with writer.open(folder / "made", PICTURES.__getitem__) as add:
        # The same instance, accepted by two questions.
        assert [add(INSTANCE), add(INSTANCE)] == [4, 0]
    writer.name_after(folder / "made", "step-4-v1")
    return folder / "made"


def questions(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "data" / "test-00000-of-00001.parquet").to_pylist()
    return found


def test_an_instance_stands_there_once_as_four_questions(tmp_path: Path) -> None:
    rows = questions(harness(tmp_path))
    assert [(row["question"], row["direction"], len(row["images"])) for row in rows] == [
        ("17/image", "i2t", 1),
        ("17/negative_image", "i2t", 1),
        ("17/caption", "t2i", 2),
        ("17/negative_caption", "t2i", 2),
    ]
    assert {(row["key"], row["type"], row["subtype"], row["simulated"]) for row in rows} == {
        ("17", "swap", "obj", True)
    }


def test_the_prompt_says_what_is_chosen_from_and_a_line_break_of_a_caption_does_not_look_like_its_end(
    tmp_path: Path,
) -> None:
    first, _, third, _ = questions(harness(tmp_path))
    options = {"A dog chases “a cat”.", "=A cat chases a dog."}
    lines = first["prompt"].splitlines()
    assert {line[3:] for line in lines[1:3]} == options
    assert [line[:3] for line in lines[1:3]] == ["A. ", "B. "]
    right = lines[1 + "AB".index(first["answer"])]
    assert right[3:] == "A dog chases “a cat”."
    assert "Caption: A dog chases “a cat”." in third["prompt"].splitlines()


@pytest.mark.parametrize(("name", "shows"), [("lm-eval", "doc_to_image"), ("lmms-eval", "doc_to_visual")])
def test_a_task_is_called_after_the_dataset_and_names_functions_beside_it(
    name: str, shows: str, tmp_path: Path
) -> None:
    folder = harness(tmp_path) / name
    task = yaml.load((folder / "task.yaml").read_text(encoding="utf-8"), Loader)  # noqa: S506
    assert (task["task"], task["test_split"], task["output_type"]) == ("step-4-v1", "test", "generate_until")
    assert task["dataset_kwargs"] == {"data_files": {"test": "data/test-*.parquet"}}
    assert [metric["metric"] for metric in task["metric_list"]] == ["accuracy", "i2t", "t2i", "group"]
    reader = (folder / "read_answers.py").read_text(encoding="utf-8")
    assert reader == Path(read_answers.__file__).read_text(encoding="utf-8")
    named = [task[shows], task["process_results"], *(metric["aggregation"] for metric in task["metric_list"][1:])]
    for function in named:
        module, _, name_of_it = function.removeprefix("function ").partition(".")
        assert module == "read_answers"
        assert f"def {name_of_it}(" in reader


def test_it_is_the_same_bytes_when_made_again(tmp_path: Path) -> None:
    assert digests(harness(tmp_path / "one")) == digests(harness(tmp_path / "two"))
