// Settling: a click on a card or a digit chooses among the options of the question, J and K lead to those beside it in
// the list.

const isTyping = (target) => target.matches("textarea, select, input:not([type=radio])");

function choose(input) {
  if (!input) return false;
  input.checked = true;
  // The picture stays where it is seen.
  input.focus({ preventScroll: true });
  return true;
}

const optionOf = (digit) => document.querySelector(`[data-settle] [data-digit="${digit}"]`);

function follow(rel) {
  const link = document.querySelector(`.adjudication-question a[rel=${rel}]`);
  link?.click();
  return link !== null;
}

document.addEventListener("keydown", (event) => {
  const { key, code, shiftKey, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || isTyping(target)) return;
  const name = !shiftKey && code.startsWith("Digit") ? code.slice(5) : key.toLowerCase();
  const done = /^[0-9]$/.test(name) ? choose(optionOf(name)) : name === "j" ? follow("next") : name === "k" && follow("prev");
  if (done) event.preventDefault();
});

document.addEventListener("click", ({ target }) => {
  if (!target.closest("a, label")) choose(target.closest("[data-chooses]")?.querySelector("[type=radio]"));
});
