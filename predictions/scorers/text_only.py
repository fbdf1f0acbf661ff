"""`text-only:hf:NAME` or `text-only:hf:FOLDER`: a language model of Hugging Face, which sees only the texts.

The score is the mean log-likelihood of the text's tokens after the first (as in SugarCrepe: Hsieh et al. 2023, section
2, and Vera there). If that finds the right caption, a benchmark does not measure vision. The site fits
`text-only:ngrams` to questions with known right answers (`evaluation.blind`), so workers do not load it.
"""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from predictions.feeder import NoPicture, OpenPicture
from predictions.scorers.base import CannotLoad, ModelIdentity, Scorer, first_line, require_library
from predictions.scorers.detector import PREFIX, TEXT, Detector, load_detector
from predictions.scorers.torch_models import (
    OF_A_MEAN,
    device_of_this_machine,
    digest_of_weights,
    facts_of,
    half_precision_model,
    inference,
    keep_in_half,
)

LIBRARY = "hf:"
NAME = "Blind baseline: text only, "
MOST_TOKENS = 512
TRIALS = 3


class LanguageModel(Scorer):
    """A causal language model on a device. Texts are scored one by one, so that none depends on others."""

    def __init__(self, identity: ModelIdentity, model: Any, tokenizer: Any, device: Any) -> None:
        self.identity = identity
        self.model = model
        self.tokenizer = tokenizer
        self.device = device
        self.half = ""
        self.kept = keep_in_half(model, device) if device.type != "cpu" else ""

    def in_half(self, numbers: str = "") -> "LanguageModel | None":
        return half_precision_model(self, numbers, OF_A_MEAN)

    def conditions(self) -> Mapping[str, Any]:
        known = facts_of(self.device, self.model.dtype, self.half, "transformers", kept=self.kept)
        in_doubt = {"tolerance": self.tolerance} if self.tolerance else {}
        return {"scorer": "text-only:hf", "batch": 1, "most_tokens": MOST_TOKENS, **known, **in_doubt}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        """See `Scorer.score`. No image is opened."""
        texts = dict.fromkeys(text for text, _ in pairs)
        found = {text: self.likelihood(text) for text in texts}
        return [found[text] for text, _ in pairs]

    def likelihood(self, text: str) -> float:
        """Return the mean log-likelihood of the tokens of `text` after the first (natural logarithm, at most 0).

        The first follows the model's start token if it has one. 0 for a text without another token. Raises OutOfMemory.
        """
        import torch

        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"][:MOST_TOKENS]
        start = self.tokenizer.bos_token_id
        if start is not None:
            ids = [start, *ids]
        if len(ids) < 2:
            return 0.0
        tokens = torch.tensor([ids], device=self.device)
        with inference(self.device, self.half):
            logits = self.model(input_ids=tokens).logits[0, :-1].float()
            of_each = torch.log_softmax(logits, dim=-1).gather(1, tokens[0, 1:, None])
            return float(of_each.mean())

    def pictures_per_second(self) -> float:
        """Return the number of texts scored per second; the first is not timed."""
        self.likelihood("A grey wall.")
        begun = perf_counter()
        for _ in range(TRIALS):
            self.likelihood("A grey wall behind a long wooden table with two chairs.")
        return TRIALS / max(perf_counter() - begun, 1e-6)


def load(rest: str) -> LanguageModel | Detector:
    """Load the language model that hf:NAME or hf:FOLDER names, or the detector of detector:FILE. Raises CannotLoad."""
    if rest.startswith(PREFIX):
        return load_detector(TEXT, rest.removeprefix(PREFIX))
    return load_language_model(rest)


def load_language_model(rest: str) -> LanguageModel:
    """Load the language model that hf:NAME or hf:FOLDER names. Raises CannotLoad."""
    name = rest.removeprefix(LIBRARY)
    if not rest.startswith(LIBRARY) or not name:
        raise CannotLoad(
            f"text-only:{rest} is not a language model. Write text-only:hf:NAME; text-only:ngrams is fitted to "
            "questions with known right answers, and computed by the site: request it with `predict`."
        )
    with require_library("Hugging Face's transformers"):
        import transformers
    device = device_of_this_machine()
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(name, dtype="float32")
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        short = name.rstrip("/").rpartition("/")[2]
        identity = ModelIdentity(f"{NAME}{short}"[:100], "", digest_of_weights(model.state_dict()))
        return LanguageModel(identity, model.eval(), tokenizer, device)
    # A download or a damaged file may raise anything; the person gets the reason.
    except Exception as error:
        raise CannotLoad(f"{name} cannot be loaded as a language model ({first_line(error)}).") from error
