"""Columns of the exported tables, declared once: their order, Croissant types and descriptions."""

from collections.abc import Sequence

from results.exporting.base import Column

# A column without a type holds a list or an object. Croissant leaves it out: JSONL and Parquet lay it out differently.
NESTED = ""

INSTANCE = (
    Column("key", "sc:Text", "The name of the instance in its source."),
    Column("image", "sc:Text", "The file name of the image that the caption describes, in the source."),
    Column("caption", "sc:Text", "The caption."),
    Column("negative_caption", "sc:Text", "The caption after a small change of meaning."),
    Column(
        "negative_image", "sc:Text", "The file name of the image that the negative caption describes, in the source."
    ),
    Column("type", "sc:Text", "How the caption was changed."),
    Column("subtype", "sc:Text", "What was changed in it."),
    Column("split", "sc:Text", "The split; empty where the source names none."),
    Column("image_sha256", "sc:Text", "SHA-256 of the bytes of the image."),
    Column("negative_image_sha256", "sc:Text", "SHA-256 of the bytes of the negative image."),
    Column("original_captions", NESTED, "The captions as they stood in the source."),
    Column("caption_rule", "sc:Text", "The rule by which the captions were formatted."),
    Column("decision", "sc:Text", "What followed from the answers: accepted."),
    Column("rule", "sc:Text", "The acceptance rule, with its version."),
    Column("winner", "sc:Text", "The option that it was accepted with; empty where there are several questions."),
    Column("settled", "sc:Boolean", "Whether a researcher settled it."),
    Column("answers", "sc:Integer", "How many answers it rests on."),
    Column("votes", NESTED, "How many answers each option got."),
    Column(
        "simulated",
        "sc:Boolean",
        "Whether a program gave one of the answers that it rests on; empty where nobody noted that.",
    ),
    Column("study", "sc:Text", "The study that accepted it."),
    Column("kind", "sc:Text", "The kind of question that was asked."),
    Column("task", "sc:Text", "The question that was accepted; the instance, where several questions had to be."),
    Column(
        "item",
        "sc:Text",
        "The part of the instance that was accepted, such as one image of a set; empty for all of it.",
    ),
    Column(
        "questions",
        NESTED,
        "The questions that made it accepted: task, kind, variant, rule, winner, settled, answers and votes.",
    ),
    Column("source_file", "sc:Text", "The file it was imported from."),
    Column("source_row", "sc:Integer", "Its record in that file, from 1."),
    Column("images", NESTED, "All its images: role, place, name, SHA-256, size, source, licence and generator."),
)
TYPED_INSTANCE = tuple(column for column in INSTANCE if column.type != NESTED)

# How a text was written; None for a version that did not record it, and where the browser did not say.
WRITING = (
    Column("writing_keys", "sc:Integer", "Keys pressed while a text was written; empty where not recorded."),
    Column("writing_pastes", "sc:Integer", "How often something was pasted into it."),
    Column("writing_pasted", "sc:Text", "How many characters each of the first 20 pastes brought, a JSON list."),
    Column("writing_focus_losses", "sc:Integer", "How often the window lost the focus meanwhile."),
    Column("writing_pauses", "sc:Integer", "How often more than two seconds lay between two keys."),
    Column("writing_paused_ms", "sc:Integer", "Milliseconds of these pauses together."),
    Column("writing_from_first_key_ms", "sc:Integer", "Milliseconds from the first key, or paste, to sending."),
)

RESPONSE = (
    Column("task", "sc:Text", "The question: the instance, and which question about it where there are several."),
    Column("worker", "sc:Text", "Who answered, under a random name."),
    Column("label", "sc:Text", "The one label of the answer, such as the option chosen, by its identity."),
    Column("version", "sc:Integer", "1, 2 and so on as somebody changed their mind."),
    Column("is_current", "sc:Boolean", "Whether it is the last version."),
    Column("counted", "sc:Boolean", "Whether it counts: not replaced, not late, of nobody who was excluded."),
    Column(
        "left_out",
        "sc:Text",
        "excluded when a researcher let this person's answers count nowhere, taken_out when the question was taken "
        "out; else empty.",
    ),
    Column("simulated", "sc:Boolean", "Whether a program gave it, no person; empty where nobody noted that."),
    Column("shown_order", "sc:Text", "All options in the order in which they were shown, a JSON list."),
    Column("received_at", "sc:DateTime", "When the server had it, UTC."),
    Column("first_choice_ms", "sc:Integer", "Milliseconds from shown to the first choice, by the browser."),
    Column(
        "send_ms",
        "sc:Integer",
        "Milliseconds from shown to sent, as the browser measured and the server's clock allows.",
    ),
    Column("hidden_ms", "sc:Integer", "How many of these the page was out of sight."),
    Column("changes_of_mind", "sc:Integer", "How often the choice changed before it was sent."),
    Column("window_width", "sc:Integer", "The width of the window in CSS pixels."),
    Column("window_height", "sc:Integer", "The height of the window in CSS pixels."),
    Column("survey", "sc:Integer", "The survey; empty for an answer that came after its seat had gone to another."),
    Column("seat", "sc:Integer", "The seat in that survey; empty likewise."),
    Column("session", "sc:Text", "Who answered, and in which of their sittings in this study."),
    Column("study", "sc:Text", "The study that asked."),
    Column("kind", "sc:Text", "The kind of question."),
    Column("right", "sc:Text", "The right option, or another right answer as JSON; empty where none is known."),
    Column("key", "sc:Text", "The instance, as in the files of instances."),
    Column("answer", "sc:Text", "The whole answer as JSON; empty where the label says it all."),
    Column("unmeasured", "sc:Text", "Why the browser measured nothing; empty where it did, or nobody noted why."),
    *WRITING,
    Column("response", "sc:Text", "What the tasks of questions that others were asked about this answer end with."),
)

DECISION = (
    Column("task", "sc:Text", "The question: the instance, and which question about it where there are several."),
    Column("study", "sc:Text", "The study that asked it."),
    Column("kind", "sc:Text", "The kind of question."),
    Column("outcome", "sc:Text", "none yet, agreed, conflicting, accepted, rejected or undone."),
    Column("progress", "sc:Text", "How far its answers are: unanswered, open or complete."),
    Column("rule", "sc:Text", "The rule that decided it, with its version."),
    Column("winner", "sc:Text", "The option that the rule, or the researcher who settled it, decided for."),
    Column("right", "sc:Text", "The right option, or another right answer as JSON; empty where none is known."),
    Column("answers", "sc:Integer", "How many answers it rests on: the counted ones."),
    Column("wanted", "sc:Integer", "How many are wanted by now."),
    Column("votes", "sc:Text", "How many answers each option got, as a JSON object."),
    Column("settled", "sc:Boolean", "Whether a researcher decided what the answers had left undecided."),
    Column("decided_at", "sc:DateTime", "When it was decided, UTC; empty for what is undecided."),
    Column("simulated", "sc:Boolean", "Whether a program gave one of its answers; empty where nobody noted that."),
    Column("key", "sc:Text", "The instance, as in the files of instances."),
)

PREDICTION = (
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
# Where `scores` is a list or an object.
TYPED_PREDICTION = tuple(column for column in PREDICTION if column.name != "scores")


def names(columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)
