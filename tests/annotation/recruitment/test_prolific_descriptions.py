"""Descriptions for Prolific: plain text becomes paragraphs, and only the published tags pass."""

import pytest

from annotation.recruitment.prolific.descriptions import BadDescription, clean_description


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One line.", "<p>One line.</p>"),
        ("One.\n\nTwo & three, 1 < 2.", "<p>One.</p><p>Two &amp; three, 1 &lt; 2.</p>"),
        ("One.\r\n\r\nTwo.", "<p>One.</p><p>Two.</p>"),
        ("<p>One <b>bold</b> word.</p>", "<p>One <b>bold</b> word.</p>"),
        ('<p style="x" onclick="alert(1)">One.</p>', "<p>One.</p>"),
        ("<ul><li>One</li></ul>", "<ul><li>One</li></ul>"),
        ("One <em>word</em>.", "<p>One <em>word</em>.</p>"),
        ("&lt;script&gt;", "<p>&lt;script&gt;</p>"),
    ],
)
def test_what_is_allowed_passes(text: str, html: str) -> None:
    assert clean_description(text) == html


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<script>alert(1)</script>", "<script> is not allowed."),
        ('<a href="x">Here</a>', "<a> is not allowed. Prolific allows b, i, em, strong, s, u, h1, h2, ol, ul, li, p."),
        ("<img src=x>", "<img> is not allowed."),
        ("<p>One", "<p> is not closed."),
        ("<b>One</i>", "</i> ends what was not begun."),
        ("<b><i>One</b></i>", "</b> ends what was not begun."),
        ("One<!-- two -->", "Comments"),
        ("<!DOCTYPE html>", "<!...> is not allowed."),
    ],
)
def test_what_is_not_allowed_is_said(text: str, says: str) -> None:
    with pytest.raises(BadDescription) as raised:
        clean_description(text)
    assert says in str(raised.value)
