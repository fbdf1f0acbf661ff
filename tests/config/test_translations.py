"""Every language but English is whole: nothing missing, nothing doubtful, and compiled as it stands."""

import ast
import gettext
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import translation
from django.utils.translation import to_locale

from tests.config.translations import ROOT, Entry, read_po, texts_in_use

FILES = [
    ROOT / "locale" / to_locale(code) / "LC_MESSAGES" / "django.po" for code, _ in settings.LANGUAGES if code != "en"
]
# Those in braces are filled in by a script of the page.
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%|\{\w+\}")
each_language = pytest.mark.parametrize("po", FILES, ids=lambda po: po.parts[-3])

TEMPLATES = [*ROOT.glob("templates/annotation/*"), *ROOT.glob("templates/kinds/*"), *ROOT.glob("templates/*00.html")]
TEMPLATES += [*ROOT.glob("templates/workspace/panel/*")]
TEMPLATES += [ROOT / "templates" / name for name in ("403.html", "404.html", "base.html")]
# What is left after these is read by people as it stands. The name of the site and of keys is the same everywhere.
NOT_READ = [
    re.compile(r"{% block body_(?:class|attributes) %}.*?{% endblock %}"),
    re.compile(r"{%\s*blocktranslate\b.*?{%\s*endblocktranslate\s*%}", re.S),
    re.compile(r"{#.*?#}|{%.*?%}|{{.*?}}", re.S),
    re.compile(r"<kbd[^<]*>(?:[A-Z]|Esc)</kbd>|<title>Lineup</title>|<!doctype html>"),
]
READ_ATTRIBUTE = re.compile(r'(?:alt|title|placeholder|aria-label|data-text-\w+)="([^"]*)"')


def texts(po: Path) -> list[Entry]:
    return [entry for entry in read_po(po) if entry.singular]


@each_language
def test_it_has_the_texts_in_use_and_no_others(po: Path) -> None:
    entries = [(entry.singular, entry.plural) for entry in texts(po)]
    assert len(entries) > 100
    assert len(entries) == len(set(entries))
    assert set(entries) == texts_in_use()


@each_language
def test_nothing_is_untranslated_or_fuzzy(po: Path) -> None:
    assert [entry.singular for entry in read_po(po) if entry.is_fuzzy or not all(entry.forms) or not entry.forms] == []


@each_language
def test_every_plural_has_all_its_forms(po: Path) -> None:
    header = next(entry for entry in read_po(po) if not entry.singular)
    found = re.search(r"nplurals=(\d)", header.forms[0])
    assert found is not None
    for entry in texts(po):
        assert len(entry.forms) == (int(found[1]) if entry.plural else 1), entry.singular


@each_language
def test_a_translation_keeps_the_placeholders_and_the_markup(po: Path) -> None:
    # A straight quotation mark would end the attribute that a text stands in.
    for entry in texts(po):
        # The English singular may leave its number out; the last form of a plural is the most general one.
        original = entry.plural or entry.singular
        assert set(PLACEHOLDER.findall(entry.forms[-1])) == set(PLACEHOLDER.findall(original)), original
        for form in entry.forms:
            assert set(PLACEHOLDER.findall(form)) <= set(PLACEHOLDER.findall(original)), form
            assert sorted(re.findall(r'[<>"&]', form)) == sorted(re.findall(r'[<>"&]', original)), form


@each_language
def test_what_is_compiled_is_what_is_written(po: Path) -> None:
    with po.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for entry in texts(po):
        if not entry.plural:
            assert compiled.gettext(entry.singular) == entry.forms[0]
            continue
        said = {compiled.ngettext(entry.singular, entry.plural, number) for number in (0, 1, 2, 5, 11, 10**6)}
        assert said == set(entry.forms)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("es", {1: "1 pregunta", 2: "2 preguntas", 100: "100 preguntas"}),
        ("eu", {1: "galdera bat", 2: "2 galdera", 100: "100 galdera"}),
        (
            "ar",
            {1: "سؤال واحد", 2: "سؤالان", 3: "3 أسئلة", 10: "10 أسئلة", 11: "11 سؤالًا", 99: "99 سؤالًا", 100: "100 سؤال"}
            | {101: "101 سؤال", 103: "103 أسئلة", 111: "111 سؤالًا"},
        ),
    ],
)
def test_what_is_counted_is_said_as_grammar_wants(language: str, said: dict[int, str]) -> None:
    """Arabic counts 3 to 10 in the plural, 11 to 99 in the accusative singular, hundreds in the genitive singular, and
    goes by the last two figures (Ryding, A Reference Grammar of Modern Standard Arabic, chapter 15)."""
    singular, plural = "%(total)s question", "%(total)s questions"
    with translation.override(language):
        assert {n: translation.ngettext(singular, plural, n) % {"total": n} for n in said} == said


@each_language
def test_gettext_itself_has_no_complaint(po: Path) -> None:
    msgfmt = shutil.which("msgfmt")
    if msgfmt is None:
        pytest.skip("msgfmt is missing: install the package gettext to check translations with it.")
    checked = subprocess.run([msgfmt, "--check", "--output-file=-", str(po)], capture_output=True, check=False)
    assert (checked.returncode, checked.stderr.decode()) == (0, "")


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_of_the_annotator_has_words_that_cannot_be_translated(template: Path) -> None:
    html = template.read_text(encoding="utf-8")
    for pattern in NOT_READ:
        html = pattern.sub("", html)
    visible = re.sub(r"<[^>]*>", "", html) + " ".join(READ_ATTRIBUTE.findall(html))
    assert re.findall(r"[^\W\d_]{2,}", visible) == []


def test_every_sentence_raised_for_an_annotator_can_be_translated() -> None:
    errors = ast.parse((ROOT / "annotation" / "errors.py").read_text(encoding="utf-8"))
    families = {node.name for node in errors.body if isinstance(node, ast.ClassDef)}
    raised = [
        node
        for path in (ROOT / "annotation").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in families
    ]
    assert len(raised) > 15
    bare = [arg for node in raised for arg in node.args if isinstance(arg, ast.Constant | ast.JoinedStr)]
    assert [ast.unparse(arg) for arg in bare] == []
