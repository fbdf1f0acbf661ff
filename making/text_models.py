"""Models that score texts, for filters on workers with models, each by a spec. Pure.

`classifier:NAME`: a model of transformers that classifies texts; the score is the probability of a label.
`likelihood:NAME`: a causal language model; the score is the geometric mean of the probabilities of a text's tokens
(1 / perplexity). `vera:NAME`: a T5 encoder whose last rows of embeddings are a linear head (Liu et al. 2023, "Vera: a
general-purpose plausibility estimation model for commonsense statements"), as SugarCrepe used it. `nli:NAME`: a
classifier of pairs; `similarity:NAME`: an encoder, whose mean vectors are compared (Reimers and Gurevych 2019,
"Sentence-BERT"). NAME: a name on the Hugging Face Hub or a folder on the worker. All scores of single texts are from 0
to 1.

Heavy libraries are imported inside the functions, because the site imports this file too.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from making.errors import CannotMake
from predictions.scorers.base import CannotLoad, first_line, require_library
from predictions.scorers.transformers_models import libraries_on

# Longer texts are cut: no model here reads more.
MOST_TOKENS = 512


class TextModel(ABC):
    """A loaded model that scores texts. `weights`: the SHA-256 of its numbers; `libraries`: for people."""

    weights: str
    libraries: str

    @abstractmethod
    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return a score of each text, 0 to 1, in their order. Each is scored alone."""


class PairModel(ABC):
    """A loaded model that scores how far two texts mean the same, symmetrically. See `TextModel`."""

    weights: str
    libraries: str

    @abstractmethod
    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return a score of each pair, at most 1, in their order."""


def problem_with_text_model(spec: str, *, pairs: bool = False) -> str:
    """Return what is wrong with the form of a spec, as a sentence; "" if a worker may try to load it."""
    known = _PAIRS if pairs else _TEXTS
    family, _, name = spec.partition(":")
    if family in known and name.strip():
        return ""
    forms = [f"{each}:NAME" for each in known]
    return f"`{spec}` names no model that can do this. Write {', '.join(forms[:-1])} or {forms[-1]}."


def load_text_model(spec: str, label: str = "") -> TextModel:
    """Load a model that scores texts. `label`: of a classifier; "" for the second of two. Raises CannotMake."""
    if problem := problem_with_text_model(spec):
        raise CannotMake(problem)
    family, _, name = spec.partition(":")
    found: TextModel = _load(_TEXTS[family], name.strip(), label)
    return found


def load_pair_model(spec: str) -> PairModel:
    """Load a model that scores pairs of texts. Raises CannotMake."""
    if problem := problem_with_text_model(spec, pairs=True):
        raise CannotMake(problem)
    family, _, name = spec.partition(":")
    found: PairModel = _load(_PAIRS[family], name.strip(), "")
    return found


def _load(form: Callable[[str, str], Any], name: str, label: str) -> Any:
    try:
        with require_library("Hugging Face's transformers"):
            import transformers  # noqa: F401
        return form(name, label)
    except CannotMake:
        raise
    except CannotLoad as error:
        raise CannotMake(str(error)) from error
    # A download or a damaged file may raise anything; the person gets the reason.
    except Exception as error:
        raise CannotMake(f"The model {name} cannot be loaded: {first_line(error)}") from error


class _OnDevice:
    """A model of transformers with its tokenizer, in float32 on this machine's device."""

    def __init__(self, form: str, name: str) -> None:
        import transformers

        from predictions.scorers.torch_models import device_of_this_machine, digest_of_weights

        self.device = device_of_this_machine()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model, loading = getattr(transformers, form).from_pretrained(name, dtype="float32", output_loading_info=True)
        if missing := sorted(loading["missing_keys"]):
            raise CannotMake(f"The model {name} is not what this filter needs: it lacks {missing[0]}. Name another.")
        self.weights = digest_of_weights(model.state_dict())
        self.model = model.eval().to(self.device)
        self.libraries = libraries_on(self.device)

    def run(self, *texts: str) -> tuple[Any, Any]:
        """Return what the model says of a text or of a pair, and its tokens."""
        import torch

        from predictions.scorers.torch_models import inference

        tokens = self.tokenizer(*texts, return_tensors="pt", truncation=True, max_length=MOST_TOKENS)
        tokens = tokens.to(self.device)
        with inference(self.device, ""), torch.no_grad():
            return self.model(**tokens), tokens


class _Classifier(_OnDevice, TextModel):
    def __init__(self, name: str, label: str) -> None:
        super().__init__("AutoModelForSequenceClassification", name)
        self._place = _place_of(label, self.model.config.id2label, name)

    def scores(self, texts: Sequence[str]) -> list[float]:
        return [self.probabilities(text)[self._place] for text in texts]

    def probabilities(self, *texts: str) -> list[float]:
        """Return the probability of each label, as transformers' own pipeline computes it."""
        import torch

        logits = self.run(*texts)[0].logits[0].float()
        several = self.model.config.problem_type == "multi_label_classification" or logits.numel() == 1
        found: list[float] = (torch.sigmoid(logits) if several else torch.softmax(logits, -1)).tolist()
        return found


def _place_of(label: str, labels: Mapping[int, str], name: str) -> int:
    wanted = label.casefold()
    for place, each in labels.items():
        if each.casefold() == wanted:
            return int(place)
    if not label and len(labels) <= 2:
        return len(labels) - 1
    said = f"has no label {label}" if label else "has several labels"
    raise CannotMake(f"The model {name} {said}. Set the filter's `label` to one of: {', '.join(labels.values())}.")


class _Likelihood(TextModel):
    def __init__(self, name: str, label: str) -> None:
        from predictions.scorers.text_only import load_language_model

        self._model = load_language_model(f"hf:{name}")
        self.weights = self._model.identity.weights
        self.libraries = libraries_on(self._model.device)

    def scores(self, texts: Sequence[str]) -> list[float]:
        return [math.exp(self._model.likelihood(text)) for text in texts]


class _Vera(_OnDevice, TextModel):
    """The head is in the rows of three tokens that T5 never uses: weights, bias and temperature."""

    WEIGHT, BIAS, TEMPERATURE = 32_099, 32_098, 32_097

    def __init__(self, name: str, label: str) -> None:
        super().__init__("T5EncoderModel", name)
        rows = self.model.get_input_embeddings().weight
        if len(rows) <= self.WEIGHT:
            raise CannotMake(f"The model {name} has no head of Vera in its embeddings. Name it `classifier:{name}`.")
        self._weight, self._bias, self._temperature = rows[self.WEIGHT], rows[self.BIAS, 0], rows[self.TEMPERATURE, 0]

    def scores(self, texts: Sequence[str]) -> list[float]:
        import torch

        found = []
        for text in texts:
            last = self.run(text)[0].last_hidden_state[0, -1]
            with torch.no_grad():
                found.append(float(torch.sigmoid((last @ self._weight + self._bias) / self._temperature)))
        return found


class _Entailment(PairModel):
    """The lower of the probabilities that each text entails the other."""

    def __init__(self, name: str, label: str) -> None:
        self._model = _Classifier(name, "entailment")
        self._place = _place_of("entailment", self._model.model.config.id2label, name)
        self.weights, self.libraries = self._model.weights, self._model.libraries

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        of = self._model.probabilities
        return [min(of(one, other)[self._place], of(other, one)[self._place]) for one, other in pairs]


class _Similarity(_OnDevice, PairModel):
    """The cosine of the mean vectors of the tokens."""

    def __init__(self, name: str, label: str) -> None:
        super().__init__("AutoModel", name)

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        import torch

        vectors = {text: self._vector(text) for text in dict.fromkeys(text for pair in pairs for text in pair)}
        return [
            float(torch.nn.functional.cosine_similarity(vectors[one], vectors[other], dim=0)) for one, other in pairs
        ]

    def _vector(self, text: str) -> Any:
        output, tokens = self.run(text)
        seen = tokens["attention_mask"][0, :, None].float()
        return (output.last_hidden_state[0] * seen).sum(dim=0) / seen.sum().clamp(min=1)


_TEXTS: Mapping[str, Callable[[str, str], Any]] = {
    "classifier": _Classifier,
    "likelihood": _Likelihood,
    "vera": _Vera,
}
_PAIRS: Mapping[str, Callable[[str, str], Any]] = {"nli": _Entailment, "similarity": _Similarity}
