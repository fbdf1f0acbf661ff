"""`vqascore:NAME` or `vqascore:FOLDER`: the probability that a generative model answers "Yes".

The question is whether the image shows the text: VQAScore of Lin et al. 2024, "Evaluating Text-to-Visual Generation
with Image-to-Text Generation" (ECCV), with their wording. They report the probability. The score is its log-odds, ln(p
/ (1 - p)), over the whole vocabulary. It gives the same order, and also separates pairs whose probability is rounded to
0 or 1. NAME is a model on Hugging Face's hub, FOLDER is on the worker's machine; code in a repository is never run.

Decoder-only models are supported and, among encoder-decoder models, CLIP-FlanT5 (`predictions.scorers.clip_t5`).

If the model reads strictly from left to right, the states of an image up to the question are computed once and used
with all its texts. This is tested when the model is loaded, by scoring in both ways. Otherwise the image is read again
with each text, and the conditions record that.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from copy import deepcopy
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.feeder import NoPicture, OpenPicture
from predictions.scorers.base import CannotLoad, ModelIdentity, require_library
from predictions.scorers.batches import BatchedScorer, in_batches, texts_by_picture
from predictions.scorers.torch_models import (
    OF_LOG_ODDS,
    device_of_this_machine,
    facts_of,
    half_precision_model,
    inference,
    keep_in_half,
)
from predictions.scorers.transformers_models import check_nothing_is_missing, identity_of, report_load_errors, steps_of

QUESTION = 'Does this figure show "{text}"? Please answer yes or no.'
YES, NO = "Yes", "No"
WITHOUT_TEMPLATE = "{picture}\n{question}\nAnswer:"
TEXTS_ON_GPU, TEXTS_ON_CPU = 8, 4
IMAGES_AT_ONCE = 8
# In tokens. The text after an image is padded to a multiple of the step by its own length, so that its score does not
# depend on the other texts of the batch.
LONGEST_TEXT, STEP = 256, 32
TRIED = ("a grey wall", "two small birds on a red roof, and a cat under it")
Tails = Sequence[NDArray[Any]]
# Largest difference between the two ways by rounding, in log-odds.
TOLERATED = 1e-2


class _Prompts:
    """Turns a text into the tokens that a model continues, with a mark for the image."""

    def __init__(self, processor: Any) -> None:
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.has_template = bool(getattr(processor, "chat_template", None))
        special = {str(token) for token in self.tokenizer.added_tokens_decoder.values() if token.special}
        self.marks = sorted({*special, getattr(processor, "image_token", "")} - {""})
        written = self.write(TRIED[0])
        ids, offsets = self._ids(written)
        # The first token of the question may include the space before it.
        begins = written.index(QUESTION.partition("{")[0])
        # Tokens before the question: the image is one of them, or a few.
        self.before = next((place for place, (_, end) in enumerate(offsets) if end > begins), len(ids))

    def write(self, text: str) -> str:
        return self._conversation(QUESTION.format(text=self._harmless(text)))

    def _harmless(self, text: str) -> str:
        """Return the text, truncated to the longest length, with any special tokens in it broken up."""
        for mark in self.marks:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        offsets = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return text if len(offsets) <= LONGEST_TEXT else text[: offsets[LONGEST_TEXT - 1][1]]

    def _conversation(self, question: str, answer: str | None = None) -> str:
        if not self.has_template:
            asked = WITHOUT_TEMPLATE.format(picture=getattr(self.processor, "image_token", ""), question=question)
            return asked if answer is None else f"{asked} {answer}"
        said = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}]
        if answer is not None:
            said.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        written: str = self.processor.apply_chat_template(said, add_generation_prompt=answer is None, tokenize=False)
        return written

    def _ids(self, written: str) -> tuple[list[int], list[tuple[int, int]]]:
        read = self.tokenizer(written, return_offsets_mapping=True, **self.options(written))
        return read["input_ids"], read["offset_mapping"]

    def options(self, written: str) -> dict[str, bool]:
        """Return the tokenizer options for templates, which may add the start token themselves."""
        begins = self.tokenizer.bos_token
        return {"add_special_tokens": not (begins and written.startswith(begins))}

    def tail(self, text: str) -> list[int]:
        """Return the tokens from where the question begins."""
        return self._ids(self.write(text))[0][self.before :]

    def answer(self) -> int:
        """Return the first token of "Yes" that differs from "No"."""
        yes, no = (self._ids(self._conversation(QUESTION.format(text=TRIED[0]), answer))[0] for answer in (YES, NO))
        return next(one for one, other in zip(yes, no, strict=False) if one != other)


class VqaScore(BatchedScorer):
    """A generative model on a device. `batch`: number of texts asked about an image at once."""

    def __init__(self, identity: ModelIdentity, model: Any, processor: Any, device: Any) -> None:
        self.begin(identity, model, device)
        self.processor = processor
        self.prompts = _Prompts(processor)
        self.yes = self.prompts.answer()
        self.tail_tried = self.prompts.tail(TRIED[0])
        self.looks_once = self._can_look_once()

    def begin(self, identity: ModelIdentity, model: Any, device: Any) -> None:
        super().__init__(identity, batch=TEXTS_ON_CPU if device.type == "cpu" else TEXTS_ON_GPU)
        self.model = model
        self.device = device
        self.half = ""
        # On a GPU, memory limits the batch.
        self.kept = keep_in_half(model, device) if device.type != "cpu" else ""
        # Tokenizers are not thread-safe.
        self.lock = Lock()
        self.looks_once = True

    def in_half(self, numbers: str = "") -> "VqaScore | None":
        # The 16-bit version must read in the same way, or the scores are not comparable.
        return half_precision_model(self, numbers, OF_LOG_ODDS)

    def facts(self) -> Mapping[str, Any]:
        libraries = ("transformers", "torchvision", "Pillow")
        return {
            "scorer": f"vqascore {self.model.config.model_type}",
            **facts_of(self.device, self.model.dtype, self.half, *libraries, kept=self.kept),
            "score": "log-odds of the answer",
            "longest": LONGEST_TEXT,
            "looks_once": self.looks_once,
            **self.describe_prompt(),
        }

    def describe_prompt(self) -> Mapping[str, Any]:
        """Return the prompt, the scored answer and how images are read, as plain JSON."""
        return {
            "prompt": self.prompts.write("{text}"),
            "answer": self.processor.tokenizer.convert_ids_to_tokens(self.yes),
            "preprocessing": steps_of(self.processor.image_processor),
        }

    def preprocess(self, picture: Image.Image) -> Any:
        """Return the prompt before the question, or the image if that is read with each text."""
        if not self.looks_once:
            return picture
        read = self._read(TRIED[0], picture)
        end, length = len(self.tail_tried), read["input_ids"].shape[1]
        if read["input_ids"][0, length - end :].tolist() != self.tail_tried:
            raise ValueError("the question is not at the end")
        return {name: _without_end(value, length, end) for name, value in read.items()}

    @property
    def images_at_once(self) -> int:
        return IMAGES_AT_ONCE

    def tokenize(self, text: str) -> NDArray[Any]:
        with self.lock:
            return np.array(self.prompts.tail(text), dtype=np.int64)

    def try_batch(self, picture: Any) -> int:
        self._ask(picture, [TRIED[0]] * self.batch)
        return 1

    def score_in_batches(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> Sequence[float | NoPicture]:
        texts_of = texts_by_picture(pairs)
        gone: dict[str, NoPicture] = {}
        found: dict[tuple[str, str], float] = {}
        with closing(self.read_pictures(texts_of, open_picture)) as reading:
            for name, picture in reading:
                if isinstance(picture, NoPicture):
                    gone[name] = picture
                else:
                    found |= {(text, name): score for text, score in self._ask(picture, texts_of[name]).items()}
        return [gone[picture] if picture in gone else found[text, picture] for text, picture in pairs]

    def _ask(self, picture: Any, texts: Iterable[str]) -> dict[str, float]:
        """Return the score of each text with a preprocessed image. Raises OutOfMemory."""
        with inference(self.device, self.half):
            if not self.looks_once:
                return {text: self._ask_without_cache(picture, text) for text in texts}
            seen = self.model(**_on(self.device, picture), use_cache=True).past_key_values
            before = picture["input_ids"].shape[1]
            return self.ask_by_width(texts, lambda tails, width: self._continue(seen, before, tails, width))

    def ask_by_width(self, texts: Iterable[str], ask: Callable[[Tails, int], list[float]]) -> dict[str, float]:
        """Return the score of each text; `ask` scores token lists padded to one width."""
        of_width: dict[int, list[tuple[str, NDArray[Any]]]] = defaultdict(list)
        for text in texts:
            tail = self.tokenize(text)
            of_width[-(-len(tail) // STEP) * STEP].append((text, tail))
        found: dict[str, float] = {}
        for width, tails in of_width.items():
            for some in in_batches(tails, self.batch):
                scores = ask([tail for _, tail in some], width)
                found |= dict(zip([text for text, _ in some], scores, strict=True))
        return found

    def pad_tails(self, tails: Tails, before: int, width: int) -> tuple[Any, Any]:
        """Return the tokens of a batch, padded, and a mask of real tokens, including the `before` earlier ones."""
        import torch

        ids = np.zeros((self.batch, width), dtype=np.int64)
        mask = np.ones((self.batch, before + width), dtype=np.int64)
        # The last text is repeated to fill the batch, because a row without tokens gives no numbers.
        for place in range(self.batch):
            tail = tails[min(place, len(tails) - 1)]
            ids[place, : len(tail)] = tail
            mask[place, before + len(tail) :] = 0
        return torch.from_numpy(ids).to(self.device), torch.from_numpy(mask).to(self.device)

    def _continue(self, seen: Any, before: int, tails: Tails, width: int) -> list[float]:
        """Return the scores of questions by their tokens, after `before` tokens whose states are `seen`."""
        ids, mask = self.pad_tails(tails, before, width)
        # The library appends to the states that it gets.
        states = deepcopy(seen)
        states.batch_repeat_interleave(self.batch)
        logits = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=self._positions(before, width),
            past_key_values=states,
            use_cache=True,
        ).logits
        return [self._log_odds(logits[place, len(tail) - 1]) for place, tail in enumerate(tails)]

    def _positions(self, before: int, width: int) -> Any:
        """Return the token positions of a batch, by row; three values each if a model counts time, height and width.

        For such models (Qwen2-VL and the like), an image counts for fewer positions than it has tokens.
        """
        import torch

        places = torch.arange(before, before + width, device=self.device)
        shorter = getattr(getattr(self.model, "model", None), "rope_deltas", None)
        if shorter is None:
            return places.expand(self.batch, width)
        return (places + shorter.to(self.device).flatten()[0]).expand(3, self.batch, width)

    def _ask_without_cache(self, picture: Image.Image, text: str) -> float:
        return self._log_odds(self.model(**_on(self.device, self._read(text, picture))).logits[0, -1])

    def _log_odds(self, logits: Any) -> float:
        """Return ln(p / (1 - p)) of the answer, from the one-dimensional logits of the vocabulary."""
        exact = logits.double()
        others = exact.clone()
        others[self.yes] = -float("inf")
        return float(exact[self.yes] - others.logsumexp(0))

    def _read(self, text: str, picture: Image.Image) -> Mapping[str, Any]:
        with self.lock:
            written = self.prompts.write(text)
            options = self.prompts.options(written)
            read: Mapping[str, Any] = self.processor(text=written, images=picture, return_tensors="pt", **options)
            return read

    def _can_look_once(self) -> bool:
        """Return whether questions score the same after an image's stored states as with the image itself."""
        picture = Image.fromarray(np.random.default_rng(1).integers(0, 256, (60, 80, 3), dtype=np.uint8))
        self.looks_once = False
        expected = self._ask(picture, TRIED)
        self.looks_once = True
        try:
            found = self._ask(self.preprocess(picture), TRIED)
        # Each type of model fails in its own way if it cannot do this.
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            return False
        return all(abs(found[text] - expected[text]) <= TOLERATED for text in TRIED)


def _without_end(value: Any, length: int, end: int) -> Any:
    """Return a tensor without its last `end` places along the dimension with `length` places, one per token."""
    return value[:, : length - end] if value.ndim > 1 and value.shape[:2] == (1, length) else value


def _on(device: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.to(device) for name, value in inputs.items()}


def load(rest: str) -> VqaScore:
    """Load the model of that name or in that folder. Raises CannotLoad."""
    with require_library("transformers"):
        from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor, PretrainedConfig
    with report_load_errors(rest):
        said, _ = PretrainedConfig.get_config_dict(rest)
        if said.get("model_type") == "clip_t5":
            from predictions.scorers.clip_t5 import load_clip_t5

            return load_clip_t5(rest, said)
        config = AutoConfig.from_pretrained(rest)
        if config.is_encoder_decoder:
            raise CannotLoad(
                f"{rest} is an unsupported encoder-decoder model. Use CLIP-FlanT5 or a decoder-only model."
            )
        device = device_of_this_machine()
        model, told = AutoModelForImageTextToText.from_pretrained(rest, dtype="float32", output_loading_info=True)
        check_nothing_is_missing(rest, told, "Use a complete model, with its language-model head.")
        identity, processor = identity_of(rest, model), AutoProcessor.from_pretrained(rest)
        return VqaScore(identity, model.eval(), processor, device)
