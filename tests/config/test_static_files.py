import re
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage

from config.static_files import MinifiedStaticFilesStorage

SCRIPT = """// Says what it does.
const greet = (name) => {
  return `  hello,   ${name} // not a comment`;
};

export { greet };
"""
STYLES = """/* The page. */
body {
  margin: 0;
}

.seen::before {
  content: "/* kept */";
}
"""


def collected(tmp_path: Path, name: str, text: str) -> str:
    """Return what browsers get of a static file with that name and text."""
    source, root = FileSystemStorage(tmp_path / "source"), tmp_path / "collected"
    storage = MinifiedStaticFilesStorage(location=root, base_url="/static/")
    for each in (source, storage):
        each.save(name, ContentFile(text))
    # Its compressed copies come after it.
    done, *_ = [hashed for original, hashed, _ in storage.post_process({name: (source, name)}) if original == name]
    return (root / str(done)).read_text(encoding="utf-8")


def test_scripts_lose_their_comments_and_keep_their_texts(tmp_path: Path) -> None:
    assert collected(tmp_path, "js/greet.js", SCRIPT) == (
        "const greet=(name)=>{return`  hello,   ${name} // not a comment`;};export{greet};"
    )


def test_styles_lose_their_comments_and_keep_their_texts(tmp_path: Path) -> None:
    assert collected(tmp_path, "css/page.css", STYLES) == 'body{margin:0}.seen::before{content:"/* kept */"}'


@pytest.mark.parametrize("name", ["vendor/htmx.min.js", "images/drawing.svg"])
def test_other_files_stay_as_their_makers_left_them(tmp_path: Path, name: str) -> None:
    assert collected(tmp_path, name, SCRIPT) == SCRIPT


def test_what_others_made_stays_as_they_left_it_wherever_it_lies_in_their_package(tmp_path: Path) -> None:
    """Some of it does not survive being made smaller. Its folder here is not the one in their package."""
    source = FileSystemStorage(tmp_path / "package")
    storage = MinifiedStaticFilesStorage(location=tmp_path / "collected", base_url="/static/")
    source.save("viewer.js", ContentFile(SCRIPT))
    storage.save("vendor/viewer/viewer.js", ContentFile(SCRIPT))
    done = storage.post_process({"vendor/viewer/viewer.js": (source, "viewer.js")})
    hashed = next(str(name) for original, name, _ in done if original == "vendor/viewer/viewer.js")
    assert (tmp_path / "collected" / hashed).read_text(encoding="utf-8") == SCRIPT


def test_only_what_pages_name_is_compressed_after_it_was_made_smaller(tmp_path: Path) -> None:
    text = SCRIPT * 50
    collected(tmp_path, "js/greet.js", text)
    collected(tmp_path, "js/viewer.js.map", text)
    sizes = {file.suffix: file.stat().st_size for file in (tmp_path / "collected/js").glob("greet.*.js*")}
    assert sizes.keys() == {".js", ".gz", ".br"}
    assert sizes[".br"] <= sizes[".gz"] < sizes[".js"] < len(text)
    compressed = [file.name for file in (tmp_path / "collected/js").iterdir() if file.suffix in {".br", ".gz"}]
    assert len(compressed) == 2
    assert all(re.fullmatch(r"greet\.[0-9a-f]{12}\.js\.(br|gz)", name) for name in compressed)
