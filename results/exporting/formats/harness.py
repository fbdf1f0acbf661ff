"""`harness`: questions for generative vision-language models, as tasks of lm-evaluation-harness and of lmms-eval.

An instance becomes the questions of `pairs.choices`, one row each: which of two captions describes a picture, which of
two pictures a caption describes. The model answers with a letter. In the folder lie the questions with their pictures
as Parquet, and for either harness a folder with the task (YAML) and how its answers are read (Python):

    lm-eval run --model hf-multimodal --model_args ... --include_path lm-eval --tasks NAME
    python -m lmms_eval --model ... --include_path lmms-eval --tasks NAME

begun in this folder. The scores are `i2t`, `t2i` and `group`, as the papers count them, and `accuracy` over questions.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from results.exporting import read_answers
from results.exporting.base import DEFAULT_SPLIT, Column, ReadImage, Write, Writer, once_per_item
from results.exporting.pairs import CAPTION_OF_IMAGE, Choice, choices
from results.exporting.pictures import as_shown
from results.exporting.rows import AcceptedInstance
from results.exporting.shards import Shards

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (
    Column("question", "sc:Text", "The name of the question: the instance, and the part of it in question."),
    Column("key", "sc:Text", "The name of the instance, as in the annotations."),
    Column("direction", "sc:Text", "i2t: which caption describes the image; t2i: which image the caption describes."),
    Column("prompt", "sc:Text", "The prompt for the model, without its images."),
    Column("answer", "sc:Text", "The letter of the right answer, A or B."),
    Column("type", "sc:Text", "How the caption was changed."),
    Column("subtype", "sc:Text", "What was changed in it."),
    Column("split", "sc:Text", "The split; empty if the source names none."),
    Column("simulated", "sc:Boolean", "Whether a program gave one of the counted answers about the instance."),
)
LM_EVAL, LMMS_EVAL = "lm-eval", "lmms-eval"
TASK = "task.yaml"
# The name of `read_answers` in a release.
_READER = "read_answers"
_LONGEST_ANSWER = 16


class Harness(Writer):
    title = "Tasks for lm-evaluation-harness and lmms-eval, with images"
    rows: Literal["instances"] = "instances"
    filename = "harness"
    is_folder = True
    data_files = "data/*.parquet"
    content_type = "application/vnd.apache.parquet"
    columns = COLUMNS
    needs = "a caption, a negative caption and the image of one of them"

    def can_hold(self, row: AcceptedInstance) -> bool:
        return any(choices(row))

    def splits(self, names: Sequence[str]) -> Mapping[str, str]:
        return {DEFAULT_SPLIT: f"data/{DEFAULT_SPLIT}-*"}

    def name_after(self, folder: Path, dataset: str) -> Sequence[Path]:
        made = []
        for harness, task in ((LM_EVAL, _for_lm_eval(dataset)), (LMMS_EVAL, _for_lmms_eval(dataset))):
            (folder / harness).mkdir()
            file = folder / harness / TASK
            file.write_text(task, encoding="utf-8", newline="\n")
            made += [file, Path(shutil.copyfile(read_answers.__file__, folder / harness / f"{_READER}.py"))]
        return made

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        (path / "data").mkdir(parents=True)
        questions = Shards(path / "data", DEFAULT_SPLIT, _schema(), pictures=("images",))

        def write(row: AcceptedInstance) -> int:
            asked = list(choices(row))
            for choice in asked:
                pictures = [_picture(sha256, read_image) for sha256 in choice.images]
                questions.write(_record(row, choice, pictures), sum(len(picture["bytes"]) for picture in pictures))
            return len(asked)

        try:
            yield once_per_item(write)
        finally:
            questions.close()


def _picture(sha256: str, read_image: ReadImage) -> dict[str, Any]:
    ending, content = as_shown(read_image(sha256))
    return {"bytes": content, "path": f"{sha256[:12]}.{ending}"}


def _record(row: AcceptedInstance, choice: Choice, pictures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "question": f"{row.name}/{choice.about}",
        "key": row.key,
        "direction": choice.direction,
        "images": pictures,
        "captions": choice.captions,
        "prompt": _prompt(choice),
        "answer": read_answers.LETTERS[choice.right],
        **{name: getattr(row, name) for name in ("type", "subtype", "split", "simulated")},
    }


def _prompt(choice: Choice) -> str:
    # A line break would look like the end of the caption.
    captions = [" ".join(caption.split()) for caption in choice.captions]
    letters = read_answers.LETTERS
    if choice.direction == CAPTION_OF_IMAGE:
        options = [f"{letter}. {caption}" for letter, caption in zip(letters, captions, strict=True)]
        asked = ["Which caption describes the image? Pay close attention to every word and to their order.", *options]
    else:
        asked = [
            "Which image does the caption describe, the first (A) or the second (B)?",
            f"Caption: {captions[0]}",
        ]
    return "\n".join([*asked, "Answer with the letter alone, A or B."])


def _task(dataset: str, **own: Any) -> dict[str, Any]:
    """Return the task definition for both harnesses. Data files are relative to the working folder."""
    reader = f"!function {_READER}"
    return {
        "task": dataset,
        "dataset_path": "parquet",
        "dataset_kwargs": {"data_files": {DEFAULT_SPLIT: f"data/{DEFAULT_SPLIT}-*.parquet"}},
        "test_split": DEFAULT_SPLIT,
        "output_type": "generate_until",
        "doc_to_target": "answer",
        "process_results": f"{reader}.process_results",
        "metric_list": [
            {"metric": "accuracy", "aggregation": "mean", "higher_is_better": True},
            *(
                {"metric": score, "aggregation": f"{reader}.{score}", "higher_is_better": True}
                for score in ("i2t", "t2i", "group")
            ),
        ],
        "metadata": {"version": 1.0},
        **own,
    }


def _for_lm_eval(dataset: str) -> str:
    return _yaml(
        _task(
            dataset,
            doc_to_image=f"!function {_READER}.pictures",
            # The harness inserts the pictures at these words.
            doc_to_text="{% if direction == 't2i' %}<image><image>{% else %}<image>{% endif %}\n{{prompt}}",
            generation_kwargs={"until": ["\n\n"], "do_sample": False, "max_gen_toks": _LONGEST_ANSWER},
        )
    )


def _for_lmms_eval(dataset: str) -> str:
    return _yaml(
        _task(
            dataset,
            doc_to_visual=f"!function {_READER}.pictures",
            doc_to_text="prompt",
            generation_kwargs={"do_sample": False, "temperature": 0, "max_new_tokens": _LONGEST_ANSWER},
        )
    )


class _Function(str):
    """The name of a function, which the harnesses read by their own YAML tag."""

    __slots__ = ()


def _tag_functions(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _tag_functions(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_tag_functions(each) for each in value]
    if isinstance(value, str) and value.startswith("!function "):
        return _Function(value.removeprefix("!function "))
    return value


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Function, lambda dumper, name: dumper.represent_scalar("!function", str(name), style=""))


def _yaml(task: Mapping[str, Any]) -> str:
    return yaml.dump(_tag_functions(task), Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def _schema() -> "pa.Schema":
    import pyarrow as pa

    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    types = {"sc:Text": pa.string(), "sc:Boolean": pa.bool_()}
    features: dict[str, Any] = {
        column.name: {"dtype": "bool" if column.type == "sc:Boolean" else "string", "_type": "Value"}
        for column in COLUMNS
    }
    # A list of one is how every version of `datasets` reads a list.
    features |= {"images": [{"_type": "Image"}], "captions": [{"dtype": "string", "_type": "Value"}]}
    fields = [(column.name, types[column.type]) for column in COLUMNS]
    fields += [("images", pa.list_(picture)), ("captions", pa.list_(pa.string()))]
    return pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})
