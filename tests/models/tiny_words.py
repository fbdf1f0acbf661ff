"""A tokenizer of whole words for tiny models."""

from collections.abc import Sequence

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

NAMES = {"pad_token": "<pad>", "bos_token": "<start>", "eos_token": "<end>", "unk_token": "<unk>"}


def tokenizer(
    words: Sequence[str], *, form: str = "", marks: Sequence[str] = (), **names: str
) -> PreTrainedTokenizerFast:
    """Return a tokenizer that writes a text by `form`, such as "<start> $A <end>"; no text can hold one of `marks`."""
    numbers = {word: place for place, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    if form:
        special = [(word, numbers[word]) for word in form.split() if word != "$A"]
        made.post_processor = processors.TemplateProcessing(single=form, special_tokens=special)
    made.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks])
    return PreTrainedTokenizerFast(tokenizer_object=made, **names or NAMES)
