import pytest

from workspace.browsers import browser_name

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (CHROME, "Chrome on Linux"),
        (f"{CHROME} Edg/142.0.0.0".replace("X11; Linux x86_64", "Windows NT 10.0; Win64; x64"), "Edge on Windows"),
        (CHROME.replace("X11; Linux x86_64", "Linux; Android 10; K"), "Chrome on Android"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
        (f"{IPHONE} Version/18.5 Mobile/15E148 Safari/604.1", "Safari on an iPhone"),
        (f"{IPHONE} CriOS/142.0.0.0 Mobile/15E148 Safari/604.1", "Chrome on an iPhone"),
        ("SomethingNew/1.0 (Macintosh)", "Another browser on a Mac"),
        ("<script>", "An unknown browser"),
        ("", "An unknown browser"),
    ],
)
def test_what_a_browser_says_of_itself_in_words(agent: str, words: str) -> None:
    assert browser_name(agent) == words
