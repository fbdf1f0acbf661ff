// The explorer by keyboard: J and K walk through the list, X selects, Enter opens what has the focus. On the page of one
// instance J and K lead to those beside it, and U back to the list.

const items = [...document.querySelectorAll("[data-instance]")];
// Missing for people who may not act on several instances.
const counted = document.querySelector("[data-ticked]");

const isTyping = (target) => target.matches("textarea, select, input:not([type=checkbox], [type=radio])");
const focused = () => document.activeElement.closest("[data-instance]");
const boxOf = (item) => item.querySelector("[name=pick]");

// Past the last instance of a page the next page is one key away, and so is the one before.
function step(by) {
  const here = focused();
  const next = here ? items[items.indexOf(here) + by] : items.find((one) => one.getBoundingClientRect().bottom > 0);
  if (!next) {
    document.querySelector(`a[rel=${by > 0 ? "next" : "prev"}]`)?.focus();
    return true;
  }
  next.scrollIntoView({ block: "nearest" });
  next.querySelector("a").focus({ preventScroll: true });
  return true;
}

function tick() {
  const here = focused();
  const box = here && boxOf(here);
  box?.click();
  return Boolean(box);
}

function follow(selector) {
  const link = document.querySelector(selector);
  link?.click();
  return link !== null;
}

const keys = items.length
  ? { j: () => step(1), k: () => step(-1), arrowdown: () => focused() && step(1), arrowup: () => focused() && step(-1), x: tick }
  : { j: () => follow("a[rel=next]"), k: () => follow("a[rel=prev]"), u: () => follow("a[data-up]") };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || isTyping(event.target)) return;
  if (keys[event.key.toLowerCase()]?.()) event.preventDefault();
});

function count() {
  const ticked = items.filter((item) => boxOf(item).checked).length;
  counted.textContent = ticked || "";
}

if (counted) {
  const all = document.querySelector("[name=which]");
  document.addEventListener("change", ({ target }) => {
    if (target.name === "pick") all.checked = false;
    if (target === all) for (const item of items) boxOf(item).checked = all.checked;
    count();
  });
  // The boxes are cleared after the event.
  counted.closest("form").addEventListener("reset", () => setTimeout(count));
  // The browser may restore a selection when somebody comes back to the page.
  addEventListener("pageshow", count);
}
