// Where the study allows it, choosing sends: a moment later, so that a slip can be put right, and what was sent can be
// taken back for a while.

const SEND_AFTER_MS = 400;
const UNDO_MS = 5000;
const KEY = "lineup:one-action";
const stage = document.querySelector("[data-stage]");
const wish = document.querySelector("[data-one-action]");
const note = document.querySelector("[data-sent-note]");
let sending = null;
let hiding = null;
let byArrow = false;

function isOn() {
  return Boolean(wish?.checked);
}

function labelOf(form) {
  const option = form.querySelector("[data-option]:has([name=choice]:checked)");
  return option?.dataset.letter ?? option?.querySelector(".choice span")?.textContent.trim() ?? "";
}

function say(label) {
  note.querySelector("[data-sent]").textContent = note.dataset.text.replace("{answer}", label);
  note.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => (note.hidden = true), UNDO_MS);
}

// Whoever walks through the options with the arrows is not choosing yet.
document.addEventListener("keydown", ({ key, target }) => (byArrow = key.startsWith("Arrow") && target.type === "radio"), true);
document.addEventListener("pointerdown", () => (byArrow = false), true);

document.addEventListener("change", ({ target }) => {
  clearTimeout(sending);
  if (!isOn() || byArrow || target.name !== "choice" || !stage.contains(target)) return;
  const { form } = target;
  sending = setTimeout(() => {
    const button = form.querySelector("[data-send]");
    if (target.checked && stage.contains(form) && !button.disabled) form.requestSubmit(button);
  }, SEND_AFTER_MS);
});

stage.addEventListener("submit", ({ target }) => {
  clearTimeout(sending);
  // Before the answer is given away, and the next question stands in its place.
  if (isOn() && !target.querySelector("[data-send]").disabled) say(labelOf(target));
}, true);

if (wish) {
  try {
    wish.checked = (localStorage.getItem(KEY) ?? (wish.checked ? "on" : "off")) === "on";
    wish.addEventListener("change", () => localStorage.setItem(KEY, wish.checked ? "on" : "off"));
  } catch {
    // A browser that stores nothing keeps the wish for as long as the page is open.
  }
}
