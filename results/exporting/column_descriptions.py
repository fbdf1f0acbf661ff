"""What columns that several formats share mean, for the descriptions that travel with the data."""

from results.exporting.base import Column
from results.exporting.rows import INSTANCE_COLUMNS

_MEANINGS = {
    "key": "The name of the instance in its source.",
    "task": "The question that was accepted; the instance, where several questions had to be.",
    "item": "The part of the instance that was accepted, such as one image of a set; empty for all of it.",
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
    "winner": "The option that it was accepted with; empty where there are several questions.",
    "settled": "Whether a researcher settled it.",
    "answers": "How many answers it rests on.",
    "votes": "How many answers each option got.",
    "simulated": "Whether a program gave one of the answers that it rests on; empty where nobody noted that.",
    "study": "The study that accepted it.",
    "kind": "The kind of question that was asked.",
    "source_file": "The file it was imported from.",
    "source_row": "Its record in that file, from 1.",
    "questions": "The questions that made it accepted: task, kind, variant, rule, winner, settled, answers and votes.",
    "images": "All its images: role, place, name, SHA-256, size, source, licence and generator.",
}
_TYPES = {"answers": "sc:Integer", "source_row": "sc:Integer", "settled": "sc:Boolean", "simulated": "sc:Boolean"}
# Columns that are lists or objects are left out: what describes them differs between JSONL and Parquet.
_NESTED = {"original_captions", "votes", "questions", "images"}
INSTANCE_DESCRIPTIONS = tuple(
    Column(name, _TYPES.get(name, "sc:Text"), _MEANINGS[name]) for name in INSTANCE_COLUMNS if name not in _NESTED
)

PREDICTION_DESCRIPTIONS = (
    Column("task", "sc:Text", "The question: the instance, and which question about it."),
    Column("model", "sc:Text", "The model."),
    Column("version", "sc:Text", "Its version."),
    Column("weights", "sc:Text", "What tells its weights apart."),
    Column("kind", "sc:Text", "The kind of question."),
    Column("variant", "sc:Text", "Which question of that kind about the instance."),
    Column("caption_rule", "sc:Text", "The rule that made the captions that the model read."),
    Column("is_right", "sc:Text", "Whether it was right, true or false; empty where nobody knows."),
    Column("scores", "sc:Text", "The score of every option, as a JSON object; empty where the source has none."),
    Column("key", "sc:Text", "The instance, as in the files of instances."),
    Column("content_hash", "sc:Text", "SHA-256 of what the model was shown; empty where a file names no pictures."),
    Column(
        "about",
        "sc:Text",
        "verified: about the texts and pictures that people were asked about; superseded: about others, which "
        "stood there before; declared: by a file that names no pictures, so that nobody can verify what it saw.",
    ),
    Column("conditions", "sc:Text", "The digest of what it was computed under; empty where it comes from a file."),
)
# Where `scores` is no text.
TYPED_PREDICTION_DESCRIPTIONS = tuple(column for column in PREDICTION_DESCRIPTIONS if column.name != "scores")
