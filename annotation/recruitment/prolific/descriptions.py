"""Descriptions of studies: the HTML that Prolific allows (prolific.md, section 4.2)."""

from html import escape
from html.parser import HTMLParser

ALLOWED = ("b", "i", "em", "strong", "s", "u", "h1", "h2", "ol", "ul", "li", "p")


class BadDescription(Exception):
    """The description has HTML that Prolific does not allow; the message is a sentence."""


def clean_description(text: str) -> str:
    """Return a description as HTML without attributes; paragraphs of plain text become <p>. Raises BadDescription.

    Examples: "One.\n\nTwo & three." is "<p>One.</p><p>Two &amp; three.</p>"; "<p class=x>One.</p>" is "<p>One.</p>".
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if reader.open:
        raise BadDescription(f"<{reader.open[-1]}> is not closed. Write </{reader.open[-1]}> where it ends.")
    html = "".join(reader.parts).strip()
    if reader.has_blocks:
        return html
    paragraphs = [part.strip() for part in html.replace("\r", "").split("\n\n")]
    return "".join(f"<p>{part}</p>" for part in paragraphs if part)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.open: list[str] = []
        self.has_blocks = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ALLOWED:
            raise BadDescription(f"<{tag}> is not allowed. Prolific allows {', '.join(ALLOWED)}.")
        self.open.append(tag)
        self.has_blocks |= tag in {"p", "h1", "h2", "ol", "ul"}
        self.parts.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            raise BadDescription(f"</{tag}> ends what was not begun. Remove it, or close the tags in their order.")
        self.open.pop()
        self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.parts.append(escape(data, quote=False))

    def handle_comment(self, data: str) -> None:
        raise BadDescription("Comments (<!-- -->) are not allowed. Remove them.")

    def handle_decl(self, decl: str) -> None:
        raise BadDescription("<!...> is not allowed. Remove it.")

    def unknown_decl(self, data: str) -> None:
        raise BadDescription("<![...]> is not allowed. Remove it.")

    def handle_pi(self, data: str) -> None:
        raise BadDescription("<?...> is not allowed. Remove it.")
