"""Language models of transformers on this machine, by their name on Hugging Face's hub or by their folder.

Code in a repository is never run. Importing this module does not import torch.
"""

import random
from collections.abc import Sequence
from typing import Any

from making.errors import CannotMake
from making.language_models.base import TOO_LONG, Answer, Failure, LanguageModel, NoAnswer, Prompt, Sampling
from making.tokens import Tokens
from predictions.scorers.base import CannotLoad, OutOfMemory, require_library
from predictions.scorers.torch_models import device_of_this_machine, digest_of_weights, inference
from predictions.scorers.transformers_models import libraries_on, report_load_errors


class TransformersModel(LanguageModel):
    """A causal language model. Raises CannotMake if it cannot be loaded."""

    def __init__(self, name: str, sampling: Sampling) -> None:
        try:
            self._load(name)
        except CannotLoad as error:
            raise CannotMake(str(error)) from error
        self._sampling = sampling
        self.version = libraries_on(self._device)
        self._ends = self._end_tokens()
        self._longest = self._longest_context()

    def _load(self, name: str) -> None:
        with require_library("transformers"):
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        self._device = device_of_this_machine()
        numbers = torch.float32 if self._device.type == "cpu" else torch.bfloat16
        with report_load_errors(name):
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name, padding_side="left")
            model: Any = AutoModelForCausalLM.from_pretrained(name, dtype=numbers)
            self.weights = digest_of_weights(model.state_dict())
            self._model = model.to(self._device).eval()
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token or self._tokenizer.unk_token
        # In a caption they would end it, or let it speak for somebody else.
        self._marks = sorted(
            {str(token) for token in self._tokenizer.added_tokens_decoder.values() if token.special}, key=len
        )

    def _end_tokens(self) -> set[int]:
        found = self._model.generation_config.eos_token_id
        ends = found if isinstance(found, list) else [found, self._tokenizer.eos_token_id]
        return {end for end in ends if end is not None}

    def _longest_context(self) -> int:
        """Return how many tokens the model reads and writes at most."""
        known = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        # A tokenizer without a limit has an enormous one.
        return int(min(known or self._tokenizer.model_max_length, self._tokenizer.model_max_length))

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer | NoAnswer]:
        written = [self._as_tokens(prompt.text) for prompt in prompts]
        room = self._longest - self._sampling.max_tokens
        fitting = [number for number, ids in enumerate(written) if len(ids) <= room]
        answers = self._generate([written[number] for number in fitting], [prompts[number].seed for number in fitting])
        found: list[Answer | NoAnswer] = [NoAnswer(TOO_LONG, Failure.REFUSED)] * len(prompts)
        for number, answer in zip(fitting, answers, strict=True):
            found[number] = answer
        return found

    def _as_tokens(self, text: str) -> list[int]:
        for mark in self._marks:
            text = text.replace(mark, f"{mark[:1]} {mark[1:]}")
        if not getattr(self._tokenizer, "chat_template", None):
            ids: list[int] = self._tokenizer(text)["input_ids"]
            return ids
        said = [{"role": "user", "content": text}]
        read = self._tokenizer.apply_chat_template(said, add_generation_prompt=True, return_dict=True)
        return list(read["input_ids"])

    def _generate(self, written: Sequence[list[int]], seeds: Sequence[int]) -> list[Answer]:
        if not written:
            return []
        try:
            return self._generate_at_once(written, seeds)
        except OutOfMemory as error:
            if len(written) == 1:
                raise CannotMake(
                    "The worker's memory is too small for a single text. Use a larger device, or fewer `max_tokens`."
                ) from error
        half = len(written) // 2
        return [*self._generate(written[:half], seeds[:half]), *self._generate(written[half:], seeds[half:])]

    def _generate_at_once(self, written: Sequence[list[int]], seeds: Sequence[int]) -> list[Answer]:
        from transformers import LogitsProcessorList

        read = self._tokenizer.pad({"input_ids": list(written)}, padding=True, return_tensors="pt").to(self._device)
        sampling = self._sampling
        choices = [_Choice(sampling.temperature, seeds)] if sampling.temperature else []
        with inference(self._device, ""):
            ids = self._model.generate(
                **read,
                do_sample=False,
                max_new_tokens=sampling.max_tokens,
                max_time=sampling.seconds,
                pad_token_id=self._tokenizer.pad_token_id,
                logits_processor=LogitsProcessorList(choices),
            )
        made = ids[:, read["input_ids"].shape[1] :].tolist()
        return [self._read(new, len(ids)) for new, ids in zip(made, written, strict=True)]

    def _read(self, new: list[int], read: int) -> Answer:
        end = next((place for place, token in enumerate(new) if token in self._ends), None)
        text = self._tokenizer.decode(new[:end], skip_special_tokens=True)
        count = len(new) if end is None else end + 1
        return Answer(text, Tokens(read, count), is_cut=end is None)


class _Choice:
    """Draws the next token of each row by the row's own seed, so that other rows of the batch do not matter."""

    def __init__(self, temperature: float, seeds: Sequence[int]) -> None:
        self._temperature = temperature
        # No secret.
        self._chances = [random.Random(seed) for seed in seeds]  # noqa: S311 (no secret)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        below = torch.softmax(scores.double() / self._temperature, dim=-1).cumsum(dim=-1)
        drawn = torch.tensor([[chance.random()] for chance in self._chances], dtype=below.dtype, device=below.device)
        chosen = torch.searchsorted(below, drawn * below[:, -1:], right=True).clamp(max=scores.shape[-1] - 1)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen, 0.0)
