"""CLIP-FlanT5 for `vqascore:`: a T5 that reads an image as CLIP sees it and a question, then writes the answer.

VQAScore of Lin et al. 2024 with their own model (zhiqiulin/clip-flant5-xl and -xxl, `model_type` clip_t5), as in their
code (linzhiqiu/t2v_metrics):

- The image is padded to a square in CLIP's mean colour. Its features are the output of the vision tower's penultimate
layer without the class token, projected to the width of T5.

- The image is between the two parts of the prompt, each with its end token.

- Their score is the mean probability, over tokens, of the answer "Yes" and its end: exp of the mean log-probability.
Here the score is its log-odds, which gives the same order.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import ModelIdentity
from predictions.scorers.torch_models import device_of_this_machine, inference
from predictions.scorers.transformers_models import Preprocessing, check_nothing_is_missing, identity_of, steps_of
from predictions.scorers.vqascore import LONGEST_TEXT, QUESTION, YES, Tails, VqaScore

MODEL_TYPE = "clip_t5"
PICTURE = "<image>"
PROMPT = (
    "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, detailed, "
    f"and polite answers to the user's questions. USER: {PICTURE}\n{QUESTION} ASSISTANT: "
)
# For checkpoints without a tokenizer; all FLAN-T5 models share one.
USUAL_TOKENIZER = "google/flan-t5-xl"
# Older versions of transformers have one more level in these names.
RENAMED = {r"^vision_tower\.vision_tower\.vision_model\.": "vision_tower.vision_tower."}


class ClipT5(VqaScore):
    """A CLIP-FlanT5 on a device. `batch`: how many texts are asked of an image at once."""

    def __init__(
        self, identity: ModelIdentity, model: Any, tokenizer: Any, preprocessing: Preprocessing, device: Any
    ) -> None:
        self.begin(identity, model, device)
        self.tokenizer = tokenizer
        self.preprocessing = preprocessing
        self.marks = sorted({str(token) for token in tokenizer.all_special_tokens} | {PICTURE})
        before, _ = PROMPT.split(PICTURE)
        self.before = self._ids(before)
        self.answer = self._ids(YES)

    def describe_prompt(self) -> Mapping[str, Any]:
        return {
            # The type in the checkpoint's config.json, which differs from the library's.
            "scorer": f"vqascore {MODEL_TYPE}",
            "prompt": PROMPT,
            "answer": self.tokenizer.convert_ids_to_tokens(self.answer),
            "preprocessing": {"pad": "square, in the mean colour", **steps_of(self.preprocessing.processor)},
        }

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        """Return the image as a square of pixels, as `Preprocessing.pixels`."""
        return self.preprocessing.pixels(_square(picture, self.preprocessing.processor.image_mean))

    def tokenize(self, text: str) -> NDArray[Any]:
        """Return the tokens after the image."""
        for mark in self.marks:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        _, behind = PROMPT.split(PICTURE)
        with self.lock:
            words = self.tokenizer(text, add_special_tokens=False).input_ids
            if len(words) > LONGEST_TEXT:
                text = self.tokenizer.decode(words[:LONGEST_TEXT])
            return np.array(self._ids(behind.format(text=text)), dtype=np.int64)

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text).input_ids
        return ids

    def _ask(self, picture: Any, texts: Iterable[str]) -> dict[str, float]:
        import torch

        with inference(self.device, self.half):
            pixels = torch.from_numpy(picture).to(self.device)[None]
            if pixels.dtype == torch.uint8:
                pixels = self.preprocessing.normalize(pixels)
            seen = torch.cat([self._embed_ids(self.before), self.model.see(pixels)[0]])
            return self.ask_by_width(texts, lambda tails, width: self._read_all(seen, tails, width))

    def _embed_ids(self, ids: Any) -> Any:
        import torch

        return self.model.shared(torch.as_tensor(ids, device=self.device))

    def _read_all(self, seen: Any, tails: Tails, width: int) -> list[float]:
        """Return the scores of questions by their tokens, given the image `seen`: places x width of the model."""
        import torch

        ids, mask = self.pad_tails(tails, len(seen), width)
        read = torch.cat([seen.expand(self.batch, *seen.shape), self._embed_ids(ids)], dim=1)
        labels = torch.tensor(self.answer, device=self.device)
        begun = torch.cat([labels.new_tensor([self.model.config.decoder_start_token_id]), labels[:-1]])
        logits = self.model(
            inputs_embeds=read, attention_mask=mask, decoder_input_ids=begun.expand(self.batch, len(begun))
        ).logits
        return [self._mean_log_odds(logits[place], labels) for place in range(len(tails))]

    def _mean_log_odds(self, logits: Any, labels: Any) -> float:
        """Return ln(p / (1 - p)), p being exp of the mean log-probability of `labels`; logits: tokens x words."""
        import torch

        logs = torch.log_softmax(logits.double(), dim=-1)
        mean = float(logs.gather(1, labels[:, None]).mean())
        # Computes 1 - exp(mean) without rounding where p is near 1; p of exactly 1 becomes the largest number below it.
        return mean - float(np.log(-np.expm1(min(mean, -(2.0**-53)))))


def _square(picture: Image.Image, mean: Sequence[float]) -> Image.Image:
    """Return the smallest square around the image, filled with the mean colour (0 to 1)."""
    side = max(picture.size)
    red, green, blue = (int(255 * value) for value in mean)
    square = Image.new("RGB", (side, side), (red, green, blue))
    square.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    return square


@cache
def _model_class() -> Any:
    """Return the model's class, defined inside because this module is imported without torch."""
    import torch
    from transformers import CLIPVisionConfig, CLIPVisionModel, T5ForConditionalGeneration

    def begin(self: Any, config: Any) -> None:
        T5ForConditionalGeneration.__init__(self, config)
        tower = CLIPVisionModel(CLIPVisionConfig.from_pretrained(config.mm_vision_tower))
        # The checkpoint uses these attribute names for its weights.
        self.vision_tower = torch.nn.ModuleDict({"vision_tower": tower})
        self.mm_projector = _projector(config)
        self.post_init()

    def see(self: Any, pixels: Any) -> Any:
        """Return the image as T5's input: images x places x width."""
        states = self.vision_tower["vision_tower"](pixels, output_hidden_states=True).hidden_states
        return self.mm_projector(states[self.config.mm_vision_select_layer][:, 1:])

    return type("ClipT5ForConditionalGeneration", (T5ForConditionalGeneration,), {"__init__": begin, "see": see})


def _projector(config: Any) -> Any:
    """Return the layers between the vision tower and T5. Raises KeyError for other architectures."""
    from torch.nn import GELU, Linear, Sequential

    depth = {"linear": 1, "mlp2x_gelu": 2}[config.mm_projector_type]
    first = Linear(config.mm_hidden_size, config.d_model)
    return first if depth == 1 else Sequential(first, GELU(), Linear(config.d_model, config.d_model))


def load_clip_t5(rest: str, said: Mapping[str, Any]) -> ClipT5:
    """Load a CLIP-FlanT5 by name or folder; `said`: its config.json. Raises CannotLoad and the library's errors."""
    from transformers import AutoTokenizer, CLIPImageProcessor, T5Config

    config = T5Config(**{name: value for name, value in said.items() if name not in ("model_type", "architectures")})
    device = device_of_this_machine()
    model, told = _model_class().from_pretrained(
        rest, config=config, dtype="float32", key_mapping=RENAMED, output_loading_info=True
    )
    check_nothing_is_missing(rest, told, "Use a complete model, with its vision tower.")
    identity = identity_of(rest, model)
    try:
        tokenizer = AutoTokenizer.from_pretrained(rest)
    except (OSError, ValueError):
        tokenizer = AutoTokenizer.from_pretrained(USUAL_TOKENIZER)
    preprocessing = Preprocessing(CLIPImageProcessor.from_pretrained(config.mm_vision_tower))
    return ClipT5(identity, model.eval(), tokenizer, preprocessing, device)
