// Settling: a click on a card or a digit chooses among the options of the question, J and K lead to those beside it in
// the list.

const isTyping = (target) => target.matches("textarea, select, input:not([type=radio])");

function choose(attribute, value) {
  const input = document.querySelector(`[data-settle] [${attribute}="${CSS.escape(value)}"]`);
  if (!input) return false;
  input.checked = true;
  input.focus();
  return true;
}

function follow(rel) {
  const link = document.querySelector(`.adjudication-question a[rel=${rel}]`);
  link?.click();
  return link !== null;
}

document.addEventListener("keydown", (event) => {
  const { key, code, shiftKey, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || isTyping(target)) return;
  const name = !shiftKey && code.startsWith("Digit") ? code.slice(5) : key.toLowerCase();
  const done = /^[0-9]$/.test(name) ? choose("data-digit", name) : name === "j" ? follow("next") : name === "k" && follow("prev");
  if (done) event.preventDefault();
});

document.addEventListener("click", ({ target }) => {
  const card = target.closest("a") ? null : target.closest("[data-chooses]");
  if (card) choose("value", card.dataset.chooses);
});
