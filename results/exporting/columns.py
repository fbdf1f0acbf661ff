"""Columns of the exported tables, declared once: their order, Croissant types and descriptions."""

from collections.abc import Sequence

from results.exporting.base import Column

# A column without a type holds a list or an object. Croissant leaves it out: JSONL and Parquet lay it out differently.
NESTED = ""

# What the source file says of an instance beside its captions and images.
OF_SOURCE = (
    Column("target", "sc:Text", "The right answer that the source file names; empty if it names none."),
    Column(
        "fields",
        "sc:Text",
        "The other fields of its row in the source, kept as notes, as a JSON object; empty if there are none.",
    ),
)

# Estimated from all counted answers of the study, so that the answers of careful annotators weigh more.
POSTERIOR_METHOD = Column(
    "posterior_method",
    "sc:Text",
    "How posterior and difficulty were estimated: glad (Whitehill et al. 2009); empty where they are.",
)
DIFFICULTY = Column("difficulty", "sc:Float", "The difficulty of the question by that method, above 0; else empty.")

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
    Column("split", "sc:Text", "The split; empty if the source names none."),
    Column("image_sha256", "sc:Text", "SHA-256 of the bytes of the image."),
    Column("negative_image_sha256", "sc:Text", "SHA-256 of the bytes of the negative image."),
    Column("original_captions", NESTED, "The captions as in the source, by role."),
    Column("caption_rule", "sc:Text", "The rule that formatted the captions."),
    Column("decision", "sc:Text", "The decision: accepted."),
    Column("rule", "sc:Text", "The acceptance rule, with its version."),
    Column("winner", "sc:Text", "The winning option; empty if there are several questions."),
    Column("settled", "sc:Boolean", "Whether a researcher settled an undecided question."),
    Column("answers", "sc:Integer", "The number of counted answers."),
    Column("votes", NESTED, "Option -> number of answers."),
    Column(
        "simulated",
        "sc:Boolean",
        "Whether a program gave one of the counted answers; empty if that was not recorded.",
    ),
    Column("study", "sc:Text", "The study that accepted it."),
    Column("kind", "sc:Text", "The kind of question."),
    Column("task", "sc:Text", "The accepted question, or the instance if it has several."),
    Column(
        "item",
        "sc:Text",
        "The accepted part of the instance, such as one image of a set; empty for the whole.",
    ),
    Column(
        "questions",
        NESTED,
        "The accepted questions: task, kind, variant, rule, winner, settled, answers and votes.",
    ),
    Column("source_file", "sc:Text", "The file it was imported from."),
    Column("source_row", "sc:Integer", "The number of its record in that file, from 1."),
    Column(
        "images",
        NESTED,
        "All its images: role, position, name, SHA-256, size, source, licence, generator, and the name of the file in "
        "the folder images of a release.",
    ),
    Column("captions", NESTED, "All its captions, by role."),
    Column(
        "pair_roles",
        NESTED,
        "The roles of what the columns image, caption, negative_image and negative_caption hold, by the studies.",
    ),
    *OF_SOURCE,
    Column("soft_labels", NESTED, "Option -> share of the counted answers; empty if there are several questions."),
    Column("posterior", NESTED, "Option -> probability that it is right; empty with fewer than three answers."),
    POSTERIOR_METHOD,
    DIFFICULTY,
)

# How a text was written; None if it was not recorded, or the browser did not report it.
WRITING = (
    Column("writing_keys", "sc:Integer", "Number of keys pressed while writing the text; empty if not recorded."),
    Column("writing_pastes", "sc:Integer", "Number of pastes into the text."),
    Column("writing_pasted", "sc:Text", "Number of characters in each of the first 20 pastes, as a JSON list."),
    Column("writing_focus_losses", "sc:Integer", "Number of times the window lost the focus while writing."),
    Column("writing_pauses", "sc:Integer", "Number of pauses of more than two seconds between two keys."),
    Column("writing_paused_ms", "sc:Integer", "Total length of these pauses in milliseconds."),
    Column("writing_from_first_key_ms", "sc:Integer", "Milliseconds from the first key, or paste, to sending."),
)

RESPONSE = (
    Column("task", "sc:Text", "The question: the instance, and the question about it if there are several."),
    Column("worker", "sc:Text", "The annotator, by pseudonym."),
    Column("label", "sc:Text", "The label that agreement compares, such as the chosen option, by identity."),
    Column("version", "sc:Integer", "1, 2 and so on, one more with each change of the answer."),
    Column("is_current", "sc:Boolean", "Whether it is the last version."),
    Column("counted", "sc:Boolean", "Whether it counts: current, in time, and of an annotator who is not excluded."),
    Column(
        "left_out",
        "sc:Text",
        "excluded if a researcher excluded the annotator, taken_out if the question was taken out; else empty.",
    ),
    Column("simulated", "sc:Boolean", "Whether a program gave it; empty if that was not recorded."),
    Column("shown_order", "sc:Text", "All options in the order shown, as a JSON list."),
    Column("received_at", "sc:DateTime", "When the server received it, UTC."),
    Column("first_choice_ms", "sc:Integer", "Milliseconds from shown to the first choice, measured by the browser."),
    Column(
        "send_ms",
        "sc:Integer",
        "Milliseconds from shown to sent, measured by the browser, at most the time on the server's clock.",
    ),
    Column("hidden_ms", "sc:Integer", "Of send_ms, the milliseconds with the page out of view."),
    Column("changes_of_mind", "sc:Integer", "Number of changes of the choice before sending."),
    Column("window_width", "sc:Integer", "The width of the window in CSS pixels."),
    Column("window_height", "sc:Integer", "The height of the window in CSS pixels."),
    Column(
        "survey",
        "sc:Integer",
        "Number of the survey; empty for an answer that came after its seat went to another annotator.",
    ),
    Column("seat", "sc:Integer", "Number of the seat in that survey; empty if the survey is."),
    Column("session", "sc:Text", "The annotator's pseudonym, and the number of their session in this study."),
    Column("study", "sc:Text", "The study that asked."),
    Column("kind", "sc:Text", "The kind of question."),
    Column("right", "sc:Text", "The right option, or another right answer as JSON; empty if unknown."),
    Column("key", "sc:Text", "The key of the instance, as in the files of instances."),
    Column("answer", "sc:Text", "The whole answer as JSON; empty if the label says it all."),
    Column("unmeasured", "sc:Text", "Why the browser measured nothing; empty if it did, or if the reason is unknown."),
    *WRITING,
    Column("response", "sc:Text", "The ending of the tasks of questions about this answer."),
    Column(
        "retrievers",
        "sc:Integer",
        "For a description that others were asked to find: the number of their counted answers; else empty.",
    ),
    Column("found", "sc:Integer", "How many of these answers chose the described image; empty if retrievers is."),
    Column(
        "consent_version",
        "sc:Integer",
        "Number of the version of the consent text that the session agreed to, the last one; empty without one.",
    ),
    Column(
        "consents",
        "sc:Text",
        "Number of each version of the consent text that the session agreed to -> when, UTC, as a JSON object; empty "
        "without one.",
    ),
)

DECISION = (
    Column("task", "sc:Text", "The question: the instance, and the question about it if there are several."),
    Column("study", "sc:Text", "The study that asked it."),
    Column("kind", "sc:Text", "The kind of question."),
    Column("outcome", "sc:Text", "none yet, agreed, conflicting, accepted, rejected or undone."),
    Column("progress", "sc:Text", "How many of its answers are in: unanswered, open or complete."),
    Column("rule", "sc:Text", "The rule that decided it, with its version."),
    Column("winner", "sc:Text", "The winning option, by the rule or by the researcher who settled it."),
    Column("right", "sc:Text", "The right option, or another right answer as JSON; empty if unknown."),
    Column("answers", "sc:Integer", "The number of counted answers."),
    Column("wanted", "sc:Integer", "The number of answers wanted at present."),
    Column("votes", "sc:Text", "Option -> number of answers, as a JSON object."),
    Column("settled", "sc:Boolean", "Whether a researcher settled an undecided question."),
    Column("decided_at", "sc:DateTime", "When it was decided, UTC; empty if undecided."),
    Column(
        "simulated", "sc:Boolean", "Whether a program gave one of the counted answers; empty if that was not recorded."
    ),
    Column("key", "sc:Text", "The key of the instance, as in the files of instances."),
    Column("soft_labels", "sc:Text", "Option -> share of the counted answers, as a JSON object."),
    Column(
        "posterior",
        "sc:Text",
        "Option -> probability that it is right, as a JSON object; empty with fewer than three answers.",
    ),
    POSTERIOR_METHOD,
    DIFFICULTY,
)

PREDICTION = (
    Column("task", "sc:Text", "The question: the instance, and the question about it."),
    Column("model", "sc:Text", "The name of the model."),
    Column("version", "sc:Text", "Its version."),
    Column("weights", "sc:Text", "The tag or hash that identifies its weights."),
    Column("kind", "sc:Text", "The kind of question."),
    Column("variant", "sc:Text", "The question among those of that kind about the instance, such as a caption role."),
    Column("caption_rule", "sc:Text", "The rule that formatted the captions for the model."),
    Column("is_right", "sc:Text", "Whether the model was right, true or false; empty if unknown."),
    Column("scores", "sc:Text", "The score of every option, as a JSON object; empty if the source has none."),
    Column("key", "sc:Text", "The key of the instance, as in the files of instances."),
    Column("content_hash", "sc:Text", "SHA-256 of what the model was shown; empty for a file that names no images."),
    Column(
        "about",
        "sc:Text",
        "verified: about the texts and images that annotators saw; superseded: about earlier "
        "ones; declared: from a file that names no images, so this cannot be verified.",
    ),
    Column("conditions", "sc:Text", "Digest of the conditions of the computation; empty for scores from a file."),
    Column("trained_here", "sc:Text", "Whether the model was trained on data of this project, true or false."),
)
# Where `scores` is a list or an object.
TYPED_PREDICTION = tuple(column for column in PREDICTION if column.name != "scores")


def names(columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)
