"""Tiny language models: one that says nonsense, and one whose weights say which word follows which."""

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.models.tiny_words import tokenizer

SPECIAL = ["<pad>", "<start>", "<end>", "<unk>"]
ASSISTANT = "ASSISTANT"
# In tokens.
LONGEST = 512
# A conversation, as such a model is told it; what is not a word of it is <unk>.
TEMPLATE = "{% for said in messages %}{{ said.content }}{% endfor %}{% if add_generation_prompt %} ASSISTANT{% endif %}"
# What follows which word how often. A word may have spaces in it, for the words of an answer are joined by spaces.
Chain = Mapping[str, Mapping[str, float]]
BEGINNING = '{"change": "dog -> cat", "caption":'


def chain_of(captions: Mapping[str, float], after: str = ASSISTANT) -> Chain:
    """Return a chain that answers with these captions, each as often as it says, where a prompt ends with `after`."""
    ends = {f'"{caption}"}}': share for caption, share in captions.items()}
    return {after: {BEGINNING: 1.0}, BEGINNING: ends} | {end: {"<end>": 1.0} for end in ends}


def save_writer(folder: Path, chain: Chain, *, template: str | None = TEMPLATE) -> Path:
    """Save a model that goes along `chain`, whatever it is told: attention and layers between add nothing."""
    words = list(dict.fromkeys([*SPECIAL, *chain, *(word for after in chain.values() for word in after)]))
    model = LlamaForCausalLM(_config(len(words), len(words) + len(words) % 2))
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        size = model.config.hidden_size
        # Each word is a direction of its own, which the norm before the last step makes sqrt(size) long.
        model.model.embed_tokens.weight.copy_(torch.eye(len(words), size))
        model.lm_head.weight.fill_(log(1e-9) / size**0.5)
        for word, after in chain.items():
            for follower, share in after.items():
                model.lm_head.weight[words.index(follower), words.index(word)] = log(share) / size**0.5
    return _save(folder, model, words, template)


def save_babbler(folder: Path) -> Path:
    """Save a model of random numbers."""
    torch.manual_seed(0)
    words = [*SPECIAL, ASSISTANT, "A", "dog", "cat", "{", "}", '"']
    return _save(folder, LlamaForCausalLM(_config(len(words), 16)), words, TEMPLATE)


def _config(words: int, size: int) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=words,
        hidden_size=size,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=LONGEST,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )


def _save(folder: Path, model: LlamaForCausalLM, words: Sequence[str], template: str | None) -> Path:
    model.save_pretrained(folder)
    read = tokenizer(words)
    read.chat_template, read.model_max_length = template, LONGEST
    read.save_pretrained(folder)
    return folder
