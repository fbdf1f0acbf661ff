"""The JSON Schema of study files: what may stand in them, and every default. Pure.

It is published as docs/study-file.schema.json, so that editors check a study file while it is written.
"""

from collections.abc import Mapping
from typing import Any

from studies.eligibility import RULES as ELIGIBILITY
from studies.eligibility import every_property
from studies.kinds import KINDS
from studies.names import LONGEST_NOTE
from studies.rules import RULES

# Of study files and of stored designs. A version that older ones cannot read gets the next number, and
# `studies.design.older` fills what designs of the one before lack.
VERSION = 5

# As many as one question gets, by a study file or by what is asked of it later.
MOST_ANSWERS = 100

# What a study may be for; `studies.models.Purpose` has the words for people.
PURPOSES = ("filter", "baseline", "pilot", "qualification", "collection")

# How an annotator is led on who ends before the last question.
WAYS_OUT = ("return", "code")
# Whether choosing an answer sends it: never, where the annotator wishes, or unless they wish otherwise.
ONE_ACTION = ("off", "offered", "on")

# In Python `$` alone lets a line end follow; in other languages the rest changes nothing.
_END = r"$(?!\n)"
_AMOUNT = r"^[0-9]{1,6}(\.[0-9]{2})?" + _END
# A program that sees only the texts, or only the pictures, of a question. Which there are, a room above knows.
_BLIND_BASELINE = r"^(text-only|image-only):\S+" + _END
# A text of many lines; editors that know what it is show it as such.
_MARKDOWN = {"contentMediaType": "text/markdown"}
# What fills a page: instructions, consent.
LONGEST_PAGE = 50_000
_TEXTS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a study file; defaults stand in it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Lineup study file",
        "type": "object",
        "additionalProperties": False,
        "required": ["study", "title"],
        "properties": {
            "version": {
                "type": "integer",
                "minimum": 1,
                "maximum": VERSION,
                "description": "Which version of study files it was written for; without it, the current one.",
            },
            **_naming_properties(),
            **_asking_properties(),
            "parts": {
                "type": "array",
                "minItems": 2,
                "maxItems": 9,
                "description": "In place of `kind`: questions of several kinds, one part of the survey after another.",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["kind"],
                    "properties": _asking_properties(),
                },
            },
            "instances": _instances_schema(),
            "answers": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_ANSWERS,
                "default": 1,
                "description": "How many answers each question gets.",
            },
            "max_answers": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_ANSWERS,
                "description": "An undecided question gets more answers, one at a time, up to this. Default: answers.",
            },
            "surveys": _surveys_schema(),
            "rule": {"enum": list(RULES), "description": "The acceptance rule; without it, that of the kind."},
            "seed": {
                "type": "string",
                "maxLength": 100,
                "description": "Decides how questions are dealt into surveys, and samples; default: study.",
            },
            "recruitment": _recruitment_schema(),
            "eligibility": _eligibility_schema(),
            "time": _time_schema(),
            "pay": _pay_schema(),
            **_addressing_properties(),
            "practice": _practice_schema(),
            "answering": _answering_schema(),
            "endings": _endings_schema(),
            "lobby": _lobby_schema(),
            "conditions": _conditions_schema(),
        },
    }


def _addressing_properties() -> dict[str, Any]:
    """How the study speaks to annotators before it asks them anything."""
    return {
        "language": {
            "type": "string",
            "pattern": "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*" + _END,
            "maxLength": 35,
            "default": "en",
            "description": "The language of its texts, which buttons, numbers and times follow: a tag such as en, "
            "es, eu, ar or pt-BR.",
        },
        "contact": {
            "type": "string",
            "maxLength": 300,
            "default": "",
            "description": "Whom annotators write to, and how: a name and an address. Needed at launch.",
        },
        "consent": {
            "type": "string",
            "maxLength": LONGEST_PAGE,
            "default": "",
            "description": "Markdown; without it, no consent page.",
        }
        | _MARKDOWN,
    }


def _naming_properties() -> dict[str, Any]:
    return {
        "study": {
            "type": "string",
            "pattern": "^[a-z0-9]+(-[a-z0-9]+)*" + _END,
            "maxLength": 50,
            "description": "The name in addresses and commands: small letters, digits and single hyphens.",
        },
        "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": "What annotators read."},
        "purpose": {
            "enum": list(PURPOSES),
            "description": "What the study is for. Default: filter where it asks about answers, else baseline where "
            "right answers are known, collection where the kind only collects, and filter otherwise.",
        },
        "dataset": {
            "type": "boolean",
            "description": "Whether the items that it accepts belong to the dataset of the project. true: beside other "
            "studies of the dataset, in place of those that select some of its instances or feed it. Default: true for "
            "a filter when the project has no dataset yet, or when a study of the dataset feeds it.",
        },
    }


def _asking_properties() -> dict[str, Any]:
    return {
        "kind": {"enum": list(KINDS), "description": "What a question asks."},
        "ask": {"type": "object", "default": {}, "description": "Which roles of the instance are shown."},
        "instructions": {
            "type": "string",
            "maxLength": LONGEST_PAGE,
            "description": "Markdown; default: those of the kind.",
        }
        | _MARKDOWN,
    }


def _instances_schema() -> dict[str, Any]:
    selections = {name: _TEXTS | {"default": []} for name in ("type", "subtype", "split", "keys")}
    return _section(
        "Which instances of the project are asked about; without it, all.",
        {
            "from": {
                "type": "string",
                "default": "",
                "description": "The study whose accepted instances are taken, as soon as they are accepted.",
            },
            "sample": {
                "type": "integer",
                "minimum": 1,
                "description": "So many of them, drawn at launch from the seed. Without it: all, also later ones.",
            },
            **selections,
        },
    )


def _section(description: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "default": {},
        "description": description,
        "properties": properties,
    }


def _surveys_schema() -> dict[str, Any]:
    return _section(
        "How questions are dealt into surveys. All questions about an instance stand in one survey.",
        {
            "size": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 100},
            "double_seats": {
                "type": "integer",
                "minimum": 0,
                "maximum": 10_000,
                "default": 0,
                "description": "So many surveys are answered by twice as many people, to measure agreement.",
            },
        },
    )


def _time_schema() -> dict[str, Any]:
    return _section(
        "In minutes, for one session.",
        {
            "estimated_minutes": {"type": "integer", "minimum": 1, "maximum": 720, "default": 30},
            "limit_minutes": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1440,
                "description": "After it a seat is given back. Default: the least that Prolific allows.",
            },
            "more_minutes": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1440,
                "default": 0,
                "description": "How much longer an annotator may keep the seat who asks for it, once.",
            },
        },
    )


def _pay_schema() -> dict[str, Any]:
    return _section(
        "What one finished session is paid, and what each answer is besides.",
        {
            "currency": {"enum": ["USD", "GBP", "EUR"], "default": "USD"},
            "per_session": {
                "type": "string",
                "pattern": _AMOUNT,
                "default": "0.00",
                "description": 'In whole units, in quotes: "8.00".',
            },
            "least_answers": {
                "type": "integer",
                "minimum": 1,
                "maximum": 2000,
                "description": "A finished session with fewer answers is paid that share of `per_session`. Default: "
                "`surveys.size` where questions come from another study while this one is open, and 1 otherwise.",
            },
            "per_answer": {
                "type": "string",
                "pattern": _AMOUNT,
                "default": "0.00",
                "description": "Besides, for each answer that counts, such as each description; on Prolific, a bonus.",
            },
        },
    )


def _recruitment_schema() -> dict[str, Any]:
    return _section(
        "Who may come in, and how.",
        {
            "prolific": {"type": "boolean", "default": True},
            "invite": {"type": "boolean", "default": True, "description": "A plain link, without Prolific."},
            "any_ids": {
                "type": "boolean",
                "default": False,
                "description": "Ids of people and sittings need not be Prolific's, which are 24 hexadecimal "
                "digits: for trials by hand and for other platforms that send people in the same way.",
            },
            "prolific_study_ids": _TEXTS | {"default": []},
            "other_studies": {
                "enum": ["accept", "refuse"],
                "default": "accept",
                "description": "What happens to a link from a Prolific study that is not listed.",
            },
            "sessions_per_annotator": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1000,
                "default": 1,
                "description": "How many surveys one person may take; 0: any number. Never the same question twice.",
            },
        },
    )


def _eligibility_schema() -> dict[str, Any]:
    """The schema of each rule says more: which of these stand in its entry, and their defaults."""
    properties = {name: {**part} for name, part in every_property().items()}
    for part in properties.values():
        part.pop("default", None)
    return {
        "type": "array",
        "default": [],
        "description": "Who may take part, and who is asked what: rules that all must hold.",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["rule"],
            "properties": {"rule": {"enum": list(ELIGIBILITY), "description": "Which rule it is."}, **properties},
        },
    }


def _answering_schema() -> dict[str, Any]:
    return _section(
        "How the page of a question is used.",
        {
            "one_action": {
                "enum": list(ONE_ACTION),
                "default": "off",
                "description": "Whether choosing sends: never, where the annotator wishes, or unless they wish not.",
            },
            "last_look": {
                "type": "boolean",
                "default": False,
                "description": "Whether all answers of the sitting are shown once more before it is finished.",
            },
            "record_writing": {
                "type": "boolean",
                "default": True,
                "description": "Where answers are written: whether it is recorded how, without what (keys, pastes, "
                "pauses). The consent page says so; without a consent page nothing is recorded.",
            },
        },
    )


def _endings_schema() -> dict[str, Any]:
    way = {"enum": list(WAYS_OUT), "default": "return"}
    return _section(
        "Where a sitting leads that ends before its last question: the annotator returns the submission, unpaid, or "
        "goes back with a completion code of its own, and the researcher decides about the pay.",
        {
            "stopped": way | {"description": "For whoever stops."},
            "time_over": way | {"description": "For whoever runs out of time."},
        },
    )


def _lobby_schema() -> dict[str, Any]:
    return _section(
        "For studies that take their instances from another study, which may have nothing ready when somebody arrives.",
        {
            "minutes": {
                "type": "integer",
                "minimum": 0,
                "maximum": 60,
                "default": 0,
                "description": "How long somebody is kept waiting at most; 0: nobody is, and they are told so at once.",
            },
            "pay": {
                "type": "string",
                "pattern": _AMOUNT,
                "default": "0.00",
                "description": 'What somebody is paid for whom nothing came, in whole units, in quotes: "0.50". They '
                "go back with a completion code of its own.",
            },
            "either_role": {
                "type": "boolean",
                "default": False,
                "description": "Whether somebody who waits may take part in the study that is waited for instead, "
                "where that has a place for them.",
            },
        },
    )


def _conditions_schema() -> dict[str, Any]:
    return _section(
        "What must hold before the study can be launched.",
        {
            "blind_solvability": {
                "type": "object",
                "additionalProperties": False,
                "required": ["baselines", "at_most"],
                "description": "Programs that see only the texts, or only the pictures, of each question must not be "
                "right too often. They are asked with `predict`, while the study is a draft.",
                "properties": {
                    "baselines": {
                        "type": "array",
                        "minItems": 1,
                        "uniqueItems": True,
                        "items": {
                            "type": "string",
                            "maxLength": 300,
                            "pattern": _BLIND_BASELINE,
                            "description": "Write a blind baseline, such as text-only:ngrams.",
                        },
                        "description": "Which programs: text-only:ngrams, image-only:colour-and-gradient, ...",
                    },
                    "at_most": {
                        "type": "number",
                        "minimum": 0,
                        "maximum": 1,
                        "description": "The largest share of right answers that each may have, such as 0.6 where "
                        "guessing gives 0.5. A tie counts as a guess.",
                    },
                },
            },
        },
    )


def _practice_schema() -> dict[str, Any]:
    return _section(
        "Questions with feedback before the survey.",
        {
            "pass": {"type": "integer", "minimum": 0, "default": 0, "description": "Right answers needed."},
            "rounds": {"type": "integer", "minimum": 1, "maximum": 10, "default": 2},
            "questions": {
                "type": "array",
                "default": [],
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["instance", "right"],
                    "properties": {
                        "instance": {"type": "string", "description": "The key of an instance of the project."},
                        "right": {"type": "string", "description": 'The right option: "candidate-0", "none", ...'},
                        "feedback": {"type": "string", "maxLength": LONGEST_NOTE, "default": ""},
                    },
                },
            },
        },
    )


def with_defaults(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `value` with the schema's defaults filled in, sections too."""
    filled = dict(value)
    for name, part in schema.get("properties", {}).items():
        if name not in filled and "default" in part:
            filled[name] = part["default"]
        if part.get("type") == "object" and name in filled:
            filled[name] = with_defaults(filled[name], part)
        if part.get("type") == "array" and name in filled and "properties" in part["items"]:
            filled[name] = [with_defaults(entry, part["items"]) for entry in filled[name]]
    return filled
