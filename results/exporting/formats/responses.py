"""`responses`: every version of every answer as a long table that begins `task, worker, label`.

Analysis libraries read these three. Older versions and answers that came too late are in it too: keep the rows with
`counted` true to get what decisions and numbers rest on; answers of people whom a researcher excluded are marked, those
of people who withdrew are not in it. Cells are escaped as in `results.exporting.spreadsheets`.
"""

import csv
from typing import IO, Literal

from results.exporting.base import Column, TextWriter
from results.exporting.rows import RESPONSE_COLUMNS, GivenResponse, response_record
from results.exporting.spreadsheets import cell


class Responses(TextWriter):
    title = "All responses, CSV (task, worker, label, ...)"
    rows: Literal["responses"] = "responses"
    filename = "responses.csv"
    content_type = "text/csv; charset=utf-8"
    columns = (
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
        Column("writing_keys", "sc:Integer", "Keys pressed while a text was written; empty where not recorded."),
        Column("writing_pastes", "sc:Integer", "How often something was pasted into it."),
        Column("writing_pasted", "sc:Text", "How many characters each of the first 20 pastes brought, a JSON list."),
        Column("writing_focus_losses", "sc:Integer", "How often the window lost the focus meanwhile."),
        Column("writing_pauses", "sc:Integer", "How often more than two seconds lay between two keys."),
        Column("writing_paused_ms", "sc:Integer", "Milliseconds of these pauses together."),
        Column("writing_from_first_key_ms", "sc:Integer", "Milliseconds from the first key, or paste, to sending."),
        Column("response", "sc:Text", "What the tasks of questions that others were asked about this answer end with."),
    )

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow(RESPONSE_COLUMNS)

    def write(self, row: GivenResponse, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in response_record(row).values()])
