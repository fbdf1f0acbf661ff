"""Templates of prompts for language models: the shipped ones, one file each in this folder, and researchers' own. Pure.

A template is a text with fields in double braces, such as {{ caption }}.
"""

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent
CAPTION, EXAMPLES = "caption", "examples"
_FIELD = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
# The end of every prompt.
FORM = (
    'Answer only with JSON: {"change": "what you change", "caption": "the new caption"}. '
    'If the change is not possible, answer {"change": "", "caption": ""}.'
)


@dataclass(frozen=True)
class ShippedTemplate:
    """A template that ships with Lineup. `about`: what it asks for, as a sentence. `source`: the paper."""

    about: str
    source: str
    text: str


def shipped_names() -> list[str]:
    """Return the names of the shipped templates."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


@cache
def shipped_template(name: str) -> ShippedTemplate:
    """Return a shipped template, its examples filled in."""
    values = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    text = values["template"].replace(f"{{{{ {EXAMPLES} }}}}", "\n\n".join(map(_example, values[EXAMPLES])))
    return ShippedTemplate(values["about"], values["source"], text.strip())


def _example(values: Mapping[str, str]) -> str:
    answer = json.dumps({"change": values["change"], "caption": values["answer"]}, ensure_ascii=False)
    return f"Caption: {values['caption']}\nAnswer: {answer}"


def problem_with_template(written: str) -> str:
    """Return why `written` is neither the name of a shipped template nor a template, as a sentence, or ""."""
    if written in shipped_names():
        return ""
    fields = [*_FIELD.finditer(written)]
    if not fields and "\n" not in written.strip():
        near = difflib.get_close_matches(written, shipped_names(), n=1)
        hint = f"Did you mean `{near[0]}`?" if near else f"Known are: {', '.join(shipped_names())}."
        return f"`{written}` is no template. {hint} A template of your own has {{{{ {CAPTION} }}}} in it."
    for field in fields:
        if field.group(1) != CAPTION:
            line = written.count("\n", 0, field.start()) + 1
            return f"Line {line} of `template` has the unknown field `{field.group(1)[:50]}`. Known is: {CAPTION}."
    if not fields:
        return f"`template` has no {{{{ {CAPTION} }}}}. Write it where the caption belongs."
    return ""


def template_text(written: str) -> str:
    """Return the text of a template, given by its name or in full."""
    return shipped_template(written).text if written in shipped_names() else written.strip()


def fill(template: str, caption: str) -> str:
    """Return the prompt of a caption."""
    return f"{_FIELD.sub(lambda _: caption, template)}\n\n{FORM}"
