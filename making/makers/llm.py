"""Texts by language models (`llm:NAME`): a model of transformers on the worker, or one behind an address.

The shipped templates (making/prompts) ask for SugarCrepe's seven types of hard negatives (Hsieh et al. 2023), with
which TROHN-Text was written too (Miranda et al. 2024).
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from time import monotonic, sleep
from typing import Any, ClassVar

from pydantic import Field, field_validator

from making.errors import CannotMake
from making.language_models.addresses import ADDRESS, KEY, Access, problem_with_address
from making.language_models.base import Answer, Failure, LanguageModel, Prompt, Sampling
from making.makers.base import LoadedMaker, MadeText, Maker, MakerIdentity, NothingMade, Request
from making.options import Options
from making.prompts import FORM, fill, problem_with_template, template_text
from making.texts import comparable
from making.tokens import NO_TOKENS, Cost, Tokens
from predictions.worker_settings import CannotStart, read
from studies.names import UNSTORABLE

VERSION = "1"
# How often a model is asked for one text.
ATTEMPTS = 3
# Texts that are written together.
AT_ONCE = 16
# After so long no other text of a batch is begun, for the site sends a batch again that takes too long.
MOST_SECONDS = 480.0
# Between attempts, where a server does not say how long.
PAUSES = (1.0, 4.0, 10.0, 30.0)
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"change": {"type": "string"}, "caption": {"type": "string"}},
    "required": ["change", "caption"],
    "additionalProperties": False,
}
# Characters that are stored of an answer that cannot be used.
LONGEST_ANSWER = 1000
_CODE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_THOUGHTS = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
# What a seed may be on every server, and how far apart those of two attempts are.
SEEDS, NEXT_ATTEMPT = 2**31, 1000


class Price(Options):
    """The price of a million tokens, of prompts (`input`) and of answers (`output`)."""

    currency: str = Field(pattern=r"^[A-Z]{3}$(?!\n)", description="Write three capital letters, such as USD.")
    input: float = Field(ge=0, le=1_000_000)
    output: float = Field(ge=0, le=1_000_000)

    def of(self, tokens: Tokens) -> Cost:
        parts = (tokens.prompt, self.input), (tokens.completion, self.output)
        return Cost(sum((count * Decimal(str(price)) for count, price in parts), Decimal(0)) / 1_000_000, self.currency)


class Llm(Maker):
    """Language models.

    `template`: the name of a shipped template, or a text with {{ caption }} in it. `address`: of a server that speaks
    OpenAI's chat completions; without it, the model runs on the worker. `seconds`: the time limit of an answer. A text
    of more than `max_characters` is not a caption, and none is made of it. `price`: for the report.
    """

    policies: ClassVar[Mapping[str, str]] = {"NAME": "Write texts with a language model, by a template."}
    on_worker: ClassVar[bool] = True

    template: str = Field(min_length=1, max_length=20_000, description="Name a template, or write one.")
    address: str = Field(default="", max_length=500)
    temperature: float = Field(default=0.7, ge=0, le=2)
    max_tokens: int = Field(default=200, ge=1, le=4096)
    seconds: int = Field(default=60, ge=1, le=120)
    max_characters: int = Field(default=1000, ge=1, le=10_000)
    price: Price | None = None

    @field_validator("template")
    @classmethod
    def _check_template(cls, written: str) -> str:
        if problem := problem_with_template(written):
            raise ValueError(problem)
        return written

    @field_validator("address")
    @classmethod
    def _check_address(cls, written: str) -> str:
        if written and (problem := problem_with_address(written)):
            raise ValueError(problem)
        return written

    @property
    def waits_for_server(self) -> bool:
        return bool(self.address)

    def cost_of(self, tokens: Tokens) -> Cost | None:
        return None if self.price is None else self.price.of(tokens)

    def load(self, policy: str) -> LoadedMaker:
        sampling = Sampling(self.temperature, self.max_tokens, self.seconds, SCHEMA)
        if self.address:
            # Imported here, because the site imports this file too.
            from making.language_models.chat_server import ChatServer

            return Writer(policy, self, ChatServer(self.address, policy, sampling, _access()))
        from making.language_models.transformers_model import TransformersModel

        return Writer(policy, self, TransformersModel(policy, sampling))


def _access() -> Access:
    try:
        return Access(read(ADDRESS, ""), read(KEY, ""))
    except CannotStart as error:
        raise CannotMake(str(error)) from error


@dataclass
class _Draft:
    """One candidate that is being written. `reason`: why the last attempt gave none."""

    request: int
    prompt: str
    seed: int
    attempts: int = 0
    text: str = ""
    reason: str = ""
    answer: str = ""
    tokens: Tokens = NO_TOKENS
    is_done: bool = False
    is_answered: bool = False
    failure: Failure | None = None

    def fail(self, reason: str, failure: Failure) -> None:
        self.reason, self.failure = reason, failure
        self.attempts += failure != Failure.BUSY
        self.is_done = failure == Failure.REFUSED or self.attempts >= ATTEMPTS


class Writer(LoadedMaker):
    """Asks a language model for each candidate, and again with another seed where the answer cannot be used."""

    def __init__(self, policy: str, options: Llm, model: LanguageModel) -> None:
        self._options, self._model = options, model
        self._template = template_text(options.template)
        digest = sha256(f"{self._template}\n{FORM}".encode()).hexdigest()[:12]
        self.identity = MakerIdentity(
            f"llm:{policy}"[:100], f"{VERSION}; template {digest}; {model.version}"[:200], model.weights
        )

    def make(self, requests: Sequence[Request]) -> list[Sequence[MadeText] | NothingMade]:
        found: dict[int, Sequence[MadeText] | NothingMade] = {}
        drafts: list[_Draft] = []
        for number, request in enumerate(requests):
            caption = " ".join(request.text.split())
            if not caption:
                found[number] = NothingMade("The text is empty.")
            elif len(caption) > self._options.max_characters:
                found[number] = NothingMade(
                    f"The text is longer than {self._options.max_characters:,} characters, the limit in "
                    "`max_characters`."
                )
            else:
                drafts += self._drafts(number, request, fill(self._template, caption))
        try:
            self._write(drafts, requests)
            _check_model_answered(drafts)
        except CannotMake as error:
            raise CannotMake(str(error), sum((draft.tokens for draft in drafts), NO_TOKENS)) from error
        return [found.get(number) or _result(drafts, number) for number in range(len(requests))]

    def _drafts(self, number: int, request: Request, prompt: str) -> Iterator[_Draft]:
        # The most probable answer is always the same.
        for place in range(request.count if self._options.temperature else 1):
            yield _Draft(number, prompt, request.seed + place)

    def _write(self, drafts: Sequence[_Draft], requests: Sequence[Request]) -> None:
        until = monotonic() + MOST_SECONDS
        rounds = 0
        while monotonic() < until and (some := [draft for draft in drafts if not draft.is_done][:AT_ONCE]):
            wait = 0.0
            for draft, answer in zip(some, self._model.answer([*map(_prompt, some)]), strict=True):
                if isinstance(answer, Answer):
                    same = {comparable(other.text) for other in drafts if other.text and other.request == draft.request}
                    self._read(draft, answer, requests[draft.request].text, same)
                else:
                    draft.fail(answer.reason, answer.failure)
                    if answer.failure != Failure.REFUSED:
                        wait = max(wait, answer.wait or PAUSES[min(rounds, len(PAUSES) - 1)])
            rounds += 1
            if wait:
                sleep(max(0, min(wait, until - monotonic())))

    def _read(self, draft: _Draft, answer: Answer, caption: str, same: Collection[str]) -> None:
        draft.is_answered = True
        draft.tokens += answer.tokens
        draft.answer = UNSTORABLE.sub("\ufffd", answer.text[:LONGEST_ANSWER])
        # Without chance, the same prompt has the same answer.
        again = Failure.FAILED if self._options.temperature else Failure.REFUSED
        if answer.is_declined:
            draft.fail("The language model declined to answer.", again)
        elif answer.is_cut:
            draft.fail("The language model did not come to an end within `max_tokens`.", again)
        elif not answer.text.strip():
            draft.fail("The language model gave an empty answer.", again)
        elif (text := caption_in(answer.text)) is None:
            draft.fail("The language model's answer is not the JSON that it was asked for.", again)
        elif not text:
            draft.fail("The language model found no such change in the text.", Failure.REFUSED)
        elif comparable(text) == comparable(caption):
            draft.fail("The language model repeated the text.", again)
        elif comparable(text) in same:
            draft.fail("The language model wrote the same again.", again)
        else:
            draft.text, draft.is_done = text, True


def _prompt(draft: _Draft) -> Prompt:
    return Prompt(draft.prompt, (draft.seed + NEXT_ATTEMPT * draft.attempts) % SEEDS)


def caption_in(answer: str) -> str | None:
    """Return the caption in an answer, "" if the model found no change, None if the answer is not the JSON.

    Example: '{"change": "dog -> cat", "caption": "A cat."}' -> "A cat."
    """
    written = _THOUGHTS.sub("", answer).strip()
    if code := _CODE.fullmatch(written):
        written = code.group(1)
    try:
        values = json.loads(written)
    except (ValueError, RecursionError):
        return None
    text = values.get("caption") if isinstance(values, dict) else None
    if not isinstance(text, str) or UNSTORABLE.search(text):
        return None
    return " ".join(text.split())


def _check_model_answered(drafts: Sequence[_Draft]) -> None:
    """Raise CannotMake if it is the model that fails, and not one of the texts: then they are written later."""
    left = [draft for draft in drafts if not draft.text]
    away = next((draft for draft in left if draft.failure in {Failure.BUSY, Failure.AWAY}), None)
    # A single text may be what a server fails at.
    if away is None and len(left) > 1 and not any(draft.is_answered for draft in drafts):
        away = left[0]
    if away is not None:
        raise CannotMake(f"{away.reason} Continue the pipeline when the language model is ready.")
    if late := sum(not draft.attempts for draft in left):
        raise CannotMake(
            f"The language model was too slow: {late} of {len(drafts)} texts were not begun within "
            f"{MOST_SECONDS / 60:g} minutes. Use a faster one, or a smaller `count`."
        )


def _result(drafts: Sequence[_Draft], number: int) -> Sequence[MadeText] | NothingMade:
    """Return what was written for a request. Tokens of a draft that gave nothing count with its last text."""
    mine = [draft for draft in drafts if draft.request == number]
    written = [draft for draft in mine if draft.text]
    if not written:
        last = mine[-1]
        return NothingMade(last.reason, last.prompt, last.answer, sum((draft.tokens for draft in mine), NO_TOKENS))
    written[-1].tokens = sum((draft.tokens for draft in mine if not draft.text), written[-1].tokens)
    return [MadeText(draft.text, draft.prompt, draft.tokens) for draft in written]
