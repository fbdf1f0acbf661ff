"""Name a browser by its `User-Agent`, such as `Mozilla/5.0 (X11; Linux x86_64) ... Chrome/142.0.0.0 ...`."""

from collections.abc import Mapping

# In this order: each browser also names those after it.
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


def browser_name(agent: str) -> str:
    """Return the browser and system of a `User-Agent`, such as "Firefox on Linux", or "An unknown browser"."""
    browser, system = _first_match(_BROWSERS, agent), _first_match(_SYSTEMS, agent)
    return f"{browser or 'Another browser'} on {system}" if system else browser or "An unknown browser"


def _first_match(names: Mapping[str, str], agent: str) -> str:
    return next((name for mark, name in names.items() if mark in agent), "")
