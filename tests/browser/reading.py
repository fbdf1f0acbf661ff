"""What readers may set by themselves cuts nothing off, and what has the focus is seen: WCAG 2.2, 1.4.12 and 2.4.11."""

from playwright.sync_api import Page

from tests.browser.stage import set_window

PHONE, PHONE_ACROSS, LAPTOP, LAPTOP_AT_200 = (390, 844), (844, 390), (1366, 768), (683, 384)
# WCAG's own, of 1.4.10.
NARROWEST = (320, 256)
SPACED = """() => document.querySelectorAll("body *").forEach(({ style, localName }) => {
  style.setProperty("line-height", "1.5", "important");
  style.setProperty("letter-spacing", "0.12em", "important");
  style.setProperty("word-spacing", "0.16em", "important");
  if (localName === "p") style.setProperty("margin-bottom", "2em", "important");
})"""
# Texts wider or higher than the box that cuts them, where it cannot be scrolled; and texts over each other.
LOST = """() => {
  const isSeen = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const isHeard = (one) => getComputedStyle(one).clipPath !== "none";
  const texts = [...document.querySelectorAll("header *, main *")].filter(
    (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) && isSeen(one) && !isHeard(one)
  );
  const written = texts.filter((one) => one.localName !== "textarea" && !one.closest(".visually-hidden, [inert]"));
  const boxes = written.map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return [one, range.getBoundingClientRect()];
  });
  const cut = boxes.filter(([one, box]) => {
    for (let around = one; around !== document.body; around = around.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(around);
      const edge = around.getBoundingClientRect();
      const isBeside = box.left < edge.left - 1 || box.right > edge.right + 1;
      const isBeyond = box.top < edge.top - 1 || box.bottom > edge.bottom + 1;
      if ((overflowX !== "visible" && isBeside) || (["hidden", "clip"].includes(overflowY) && isBeyond)) return true;
    }
    return box.left < -1 || box.right > innerWidth + 1;
  });
  return cut.map(([one]) => one.outerHTML.slice(0, 200));
}"""
# Where the focus is, "" for nowhere, and whether none of that is seen.
FOCUSED = """() => {
  const focused = document.activeElement;
  if (focused === document.body) return ["", false];
  const shown = focused.closest("label") ?? focused;
  const { left, right, top, bottom } = shown.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const points = [[x, y], [left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3]];
  const hits = points.map(([x, y]) => document.elementFromPoint(x, y)).filter(Boolean);
  return [focused.outerHTML, !hits.some((hit) => shown.contains(hit))];
}"""
MOST_STOPS = 80


def assert_wide_spacing_loses_nothing(page: Page) -> None:
    """The page stays as wide as it is made here, whatever it shows next."""
    page.evaluate(SPACED)
    for width, height in (PHONE, PHONE_ACROSS, LAPTOP, LAPTOP_AT_200, NARROWEST):
        set_window(page, width, height)
        assert page.evaluate(LOST) == [], (width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, height)


def assert_focus_is_never_hidden(page: Page) -> None:
    for width, height in (PHONE, LAPTOP_AT_200, NARROWEST):
        set_window(page, width, height)
        for key in ("Tab", "Shift+Tab"):
            page.evaluate("document.activeElement.blur()")
            stops = 0
            while stops < MOST_STOPS:
                page.keyboard.press(key)
                focused, is_hidden = page.evaluate(FOCUSED)
                if not focused:
                    break
                assert not is_hidden, (key, width, height, focused)
                stops += 1
            assert stops >= 3, (key, width, height)
