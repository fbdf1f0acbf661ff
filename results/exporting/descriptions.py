"""What the columns of exported instances mean, for the descriptions that travel with the data."""

from results.exporting.base import Column
from results.exporting.rows import INSTANCE_COLUMNS

_MEANINGS = {
    "key": "The name of the instance in its source.",
    "task": "The question that was accepted: the instance, and which question about it where there are several.",
    "image": "The file name of the image that the caption describes, in the source.",
    "caption": "The caption.",
    "negative_caption": "The caption after a small change of meaning.",
    "negative_image": "The file name of the image that the negative caption describes, in the source.",
    "type": "How the caption was changed.",
    "subtype": "What was changed in it.",
    "split": "The split; empty where the source names none.",
    "image_sha256": "SHA-256 of the bytes of the image.",
    "negative_image_sha256": "SHA-256 of the bytes of the negative image.",
    "original_captions": "The captions as they stood in the source.",
    "caption_rule": "The rule by which the captions were formatted.",
    "decision": "What followed from the answers: accepted.",
    "rule": "The acceptance rule, with its version.",
    "winner": "The option that the answers accepted it with.",
    "settled": "Whether a researcher settled it.",
    "answers": "How many answers the decision rests on.",
    "votes": "How many answers each option got.",
    "simulated": "Whether a program gave one of the answers that it rests on; empty where nobody noted that.",
    "study": "The study that accepted it.",
    "kind": "The kind of question that was asked.",
    "source_file": "The file it was imported from.",
    "source_row": "Its record in that file, from 1.",
    "images": "All its images: role, place, name, SHA-256, size, source, licence and generator.",
}
_TYPES = {"answers": "sc:Integer", "source_row": "sc:Integer", "settled": "sc:Boolean", "simulated": "sc:Boolean"}
# Columns that are lists or objects are left out: what describes them differs between JSONL and Parquet.
_NESTED = {"original_captions", "votes", "images"}
INSTANCE_DESCRIPTIONS = tuple(
    Column(name, _TYPES.get(name, "sc:Text"), _MEANINGS[name]) for name in INSTANCE_COLUMNS if name not in _NESTED
)
