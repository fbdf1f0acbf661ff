// Reviewing flagged sessions: a letter presses the button that carries it, N and P lead to the sessions beside this one,
// W goes to the note, ? shows the keys. In the list, R begins.

const isTyping = (target) => target.matches("textarea, select, input:not([type=checkbox])");

function press(element) {
  element?.click();
  return Boolean(element);
}

const link = (rel) => document.querySelector(`.flagged-head a[rel=${rel}]`);
const note = document.querySelector("#flag-note");

function goToNote() {
  note?.focus();
  return Boolean(note);
}

function showKeys() {
  const keys = document.querySelector("#flag-keys");
  keys?.togglePopover();
  return Boolean(keys);
}

const ACTIONS = { n: () => press(link("next")), p: () => press(link("prev")), w: goToNote, "?": showKeys };

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (isTyping(target)) {
    if (key === "Escape") target.blur();
    return;
  }
  const name = key.toLowerCase();
  const act = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : () => press(document.querySelector(`[data-key="${CSS.escape(name)}"]`));
  if (act()) event.preventDefault();
});
