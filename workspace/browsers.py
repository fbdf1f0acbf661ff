"""What people call the browser that says of itself `Mozilla/5.0 (X11; Linux x86_64) ... Chrome/142.0.0.0 ...`."""

from collections.abc import Mapping

# Each of them also says that it is those after it.
_BROWSERS: Mapping[str, str] = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "CriOS/": "Chrome",
    "Chromium/": "Chromium",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
_SYSTEMS: Mapping[str, str] = {
    "iPhone": "an iPhone",
    "iPad": "an iPad",
    "Android": "Android",
    "CrOS": "ChromeOS",
    "Windows": "Windows",
    "Macintosh": "a Mac",
    "Linux": "Linux",
}


def in_words(agent: str) -> str:
    """Return what sent a `User-Agent`, such as `Firefox on Linux`; of what is unknown, that it is."""
    browser, system = _first(_BROWSERS, agent), _first(_SYSTEMS, agent)
    return f"{browser or 'Another browser'} on {system}" if system else browser or "An unknown browser"


def _first(names: Mapping[str, str], agent: str) -> str:
    return next((name for mark, name in names.items() if mark in agent), "")
