// The explorer by keyboard: J and K walk through the list, X ticks, Enter opens what has the focus. On the page of one
// instance J and K lead to those beside it, and U back to the list.

const items = [...document.querySelectorAll("[data-instance]")];
// Not there for who may do nothing with several.
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
  const ticked = items.filter((item) => boxOf(item).checked);
  items.forEach((item) => item.classList.toggle("ticked", boxOf(item).checked));
  counted.textContent = ticked.length || "";
}

if (counted) {
  document.addEventListener("change", ({ target }) => {
    if (target.name !== "pick") return;
    document.querySelector('[name=which][value=""]').checked = true;
    count();
  });
  // What a browser has kept of the page when somebody comes back to it.
  addEventListener("pageshow", count);
}
