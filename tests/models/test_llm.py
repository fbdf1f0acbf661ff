"""`llm:` on tiny models, on this machine and behind `transformers serve`."""

import os
import socket
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from making.errors import CannotMake
from making.language_models.base import Answer, Prompt, Sampling
from making.language_models.transformers_model import TransformersModel
from making.makers import LoadedMaker, Made, MadeText, NothingMade, Request
from making.makers.llm import ATTEMPTS, Llm
from making.prompts import fill, template_text
from making.tokens import Tokens
from tests.models.tiny_writer import chain_of, save_babbler, save_writer
from tests.models.torchvision_on_cpu import SITE
from tests.processes import running
from tests.waiting import wait_until

CAPTION = "A dog sleeps."
NOT_JSON = "The language model's answer is not the JSON that it was asked for."
ENDLESS = "The language model did not come to an end within `max_tokens`."
START_SECONDS = 120


@pytest.fixture(scope="module")
def folder_of_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def writer(folder_of_models: Path) -> Path:
    return save_writer(folder_of_models / "writer", chain_of({"A cat sleeps.": 1.0}))


@pytest.fixture(scope="module")
def undecided(folder_of_models: Path) -> Path:
    return save_writer(folder_of_models / "undecided", chain_of({"A cat sleeps.": 0.75, "A cow sleeps.": 0.25}))


@pytest.fixture(scope="module")
def babbler(folder_of_models: Path) -> Path:
    return save_babbler(folder_of_models / "babbler")


def maker(model: Path, **options: object) -> LoadedMaker:
    return Llm.model_validate({"template": "replace-object", "max_tokens": 16} | options).load(str(model))


def written(result: Sequence[Made] | NothingMade) -> list[MadeText]:
    assert not isinstance(result, NothingMade), result
    return [made for made in result if isinstance(made, MadeText)]


def texts(result: Sequence[Made] | NothingMade) -> list[str]:
    return [made.text for made in written(result)]


def test_a_model_on_this_machine_writes_a_text_and_its_tokens_are_counted(writer: Path) -> None:
    (result,) = maker(writer).make([Request(CAPTION, 1, 5)])
    (made,) = written(result)
    prompt = fill(template_text("replace-object"), CAPTION)
    read = AutoTokenizer.from_pretrained(writer)
    told = read.apply_chat_template(
        [{"role": "user", "content": prompt}], add_generation_prompt=True, return_dict=True
    )["input_ids"]
    # The beginning of the answer, the caption, and the end.
    assert made == MadeText("A cat sleeps.", prompt, Tokens(len(told), 3))


def test_texts_are_drawn_as_often_as_the_model_says_and_by_their_seeds_alone(undecided: Path) -> None:
    loaded = maker(undecided, temperature=1.0)
    requests = [Request(CAPTION, 1, seed) for seed in range(400)]
    found = [texts(result)[0] for result in loaded.make(requests)]
    # A fair draw is further than 0.08 from 0.75 once in 4,000 times: four standard errors of 0.0217.
    assert Counter(found)["A cat sleeps."] / 400 == pytest.approx(0.75, abs=0.08)
    assert [texts(loaded.make([request])[0])[0] for request in requests[:20]] == found[:20]
    assert [texts(result)[0] for result in maker(undecided, temperature=1.0).make(requests[:5])] == found[:5]
    (both,) = loaded.make([Request(CAPTION, 2, 5)])
    assert {*texts(both)} <= {"A cat sleeps.", "A cow sleeps."}


def test_a_low_temperature_draws_the_more_probable_text_more_often(undecided: Path) -> None:
    # 0.75 : 0.25 to the power of 1 / 0.2 is 243 : 1.
    requests = [Request(CAPTION, 1, seed) for seed in range(60)]
    found = [texts(result)[0] for result in maker(undecided, temperature=0.2).make(requests)]
    assert Counter(found)["A cat sleeps."] >= 57
    (most_probable,) = maker(undecided, temperature=0).make([Request(CAPTION, 2, 1)])
    assert texts(most_probable) == ["A cat sleeps."]


def test_without_chance_the_tokens_are_those_that_the_library_generates(babbler: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(babbler)
    read = AutoTokenizer.from_pretrained(babbler)
    prompt = fill("{{ caption }}", CAPTION)
    told = read.apply_chat_template(
        [{"role": "user", "content": prompt}], add_generation_prompt=True, return_dict=True, return_tensors="pt"
    )
    with torch.inference_mode():
        expected = model.generate(**told, do_sample=False, max_new_tokens=8)[0, told["input_ids"].shape[1] :]
    loaded = TransformersModel(str(babbler), Sampling(0, 8, 60, {}))
    # Beside a longer prompt, with padding before it.
    answer, _ = loaded.answer([Prompt(prompt, 1), Prompt(f"{prompt} {prompt}", 1)])
    assert isinstance(answer, Answer)
    assert answer.text == read.decode(expected, skip_special_tokens=True)


def test_what_a_model_babbles_makes_nothing_and_costs_its_tokens(babbler: Path) -> None:
    (nothing,) = maker(babbler).make([Request(CAPTION, 1, 1)])
    assert isinstance(nothing, NothingMade)
    assert nothing.reason in {NOT_JSON, ENDLESS}
    assert nothing.tokens.completion <= ATTEMPTS * 16
    assert nothing.tokens.prompt > ATTEMPTS * 50


def test_an_endless_answer_ends(folder: Path) -> None:
    rounds = save_writer(folder / "rounds", {"ASSISTANT": {"and": 1.0}, "and": {"and": 1.0}})
    (nothing,) = maker(rounds, max_tokens=30).make([Request(CAPTION, 1, 1)])
    assert isinstance(nothing, NothingMade)
    assert (nothing.reason, nothing.tokens.completion) == (ENDLESS, ATTEMPTS * 30)


def test_a_caption_that_is_too_long_for_the_model_is_refused_and_the_rest_goes_on(writer: Path) -> None:
    long = "a dog " * 800
    nothing, made = maker(writer, max_characters=10_000).make([Request(long, 1, 1), Request(CAPTION, 1, 2)])
    assert isinstance(nothing, NothingMade)
    assert nothing.reason == "The text is too long for the language model."
    assert texts(made) == ["A cat sleeps."]


def test_a_caption_cannot_speak_for_the_model(writer: Path) -> None:
    plain, marked = maker(writer).make([Request("A dog.", 1, 1), Request("A <end> <start> dog.", 1, 1)])
    # "<", "end", ">", each unknown: three tokens where the mark would be one.
    assert written(marked)[0].tokens.prompt == written(plain)[0].tokens.prompt + 6


def test_a_model_without_a_chat_template_is_told_the_prompt_alone(folder: Path) -> None:
    # All words of a prompt are unknown to it.
    bare = save_writer(folder / "bare", chain_of({"A cat sleeps.": 1.0}, after="<unk>"), template=None)
    (result,) = maker(bare).make([Request(CAPTION, 1, 1)])
    (made,) = written(result)
    told = AutoTokenizer.from_pretrained(bare)(fill(template_text("replace-object"), CAPTION))["input_ids"]
    assert (made.text, made.tokens) == ("A cat sleeps.", Tokens(len(told), 3))


def test_it_is_known_by_its_weights(writer: Path, undecided: Path) -> None:
    one, other = maker(writer).identity, maker(undecided).identity
    assert len(one.weights) == len(other.weights) == 64
    assert one.weights != other.weights
    assert one == maker(writer).identity
    assert "transformers 5." in one.version


def test_a_model_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(CannotMake, match=f"{folder}/missing cannot be loaded"):
        maker(folder / "missing")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run `transformers serve` for the tests of this file; yield its address."""
    folder = tmp_path_factory.mktemp("server")
    log = folder / "server.log"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve"]
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]

    def is_ready() -> bool:
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    (folder / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(folder)}
    with running([*command, *options], environment=environment, log=log) as process:
        said = log.read_text
        wait_until(lambda: is_ready() or process.poll() is not None, seconds=START_SECONDS, why=said)
        assert process.poll() is None, said()
        yield f"http://127.0.0.1:{port}/v1"


@pytest.fixture
def address(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the worker send to the server; return its address."""
    monkeypatch.setenv("LINEUP_LLM_ADDRESS", server)
    return server


def test_a_real_server_writes_texts(writer: Path, address: str) -> None:
    made, other = maker(writer, address=address).make([Request(CAPTION, 1, 5), Request("A dog runs.", 1, 6)])
    assert texts(made) == texts(other) == ["A cat sleeps."]
    (here,) = maker(writer).make([Request(CAPTION, 1, 5)])
    # With its prompt and its tokens.
    assert made == here


def test_an_answer_of_a_real_server_that_does_not_end_makes_nothing(writer: Path, address: str) -> None:
    (nothing,) = maker(writer, address=address, max_tokens=1).make([Request(CAPTION, 1, 5)])
    assert isinstance(nothing, NothingMade)
    assert nothing.reason == ENDLESS


def test_what_a_real_server_babbles_makes_nothing(babbler: Path, address: str) -> None:
    (nothing,) = maker(babbler, address=address).make([Request(CAPTION, 1, 5)])
    assert isinstance(nothing, NothingMade)
    assert nothing.reason in {NOT_JSON, ENDLESS}
    assert nothing.tokens.prompt > 0


def test_a_model_that_a_real_server_does_not_have_stops_the_pipeline(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("making.makers.llm.sleep", lambda seconds: None)
    with pytest.raises(CannotMake, match=r"127\.0\.0\.1 "):
        maker(folder / "missing", address=address).make([Request(CAPTION, 2, 5)])
