// The question that is shown: when it may be sent, and what is measured about answering it.

const stage = document.querySelector("[data-stage]");
let form = null;
let seen = false;
let measured = null;

const isAnswered = () => form.matches(":valid");
// What the question's fields say so far, whatever it asks for.
const chosenFields = () => [...form.querySelectorAll("[name]:checked, textarea[name]")].filter(({ value }) => value);
const hiddenSoFar = () => measured.hidden + (measured.hiddenSince === null ? 0 : performance.now() - measured.hiddenSince);

function showWhetherReady() {
  const hint = form.querySelector("[data-hint]");
  const error = form.querySelector("[data-error]");
  const failed = form.querySelector("[data-failed]");
  const state = form.dataset.final !== undefined ? "final" : failed ? "failed" : !seen ? "loading" : !isAnswered() ? "choose" : "ready";
  // What is written says itself what is missing.
  const missing = state === "choose" && form.querySelector("[data-writing]")?.validationMessage;
  const sentence = missing || stage.getAttribute(`data-text-${state}`);
  // What was said aloud about the state before is true no more, and nothing is said twice.
  if (error.dataset.said && error.textContent === error.dataset.said) error.textContent = "";
  hint.textContent = sentence;
  form.querySelector("[data-send]").disabled = state !== "ready";
}

document.addEventListener("question:shown", ({ target }) => {
  form = target;
  seen = false;
  const now = performance.now();
  measured = { shownAt: now, firstChoice: null, changes: 0, hidden: 0, hiddenSince: document.hidden ? now : null };
  measured.said = new Map(chosenFields().map(({ name, value }) => [name, value]));
  showWhetherReady();
});

document.addEventListener("question:seen", ({ target }) => {
  if (target !== form) return;
  seen = true;
  form.toggleAttribute("data-seen", true);
  showWhetherReady();
});

document.addEventListener("image:failed", ({ target }) => {
  if (form?.contains(target)) showWhetherReady();
});

document.addEventListener("change", ({ target }) => {
  if (!target.name || !form?.contains(target)) return;
  measured.firstChoice ??= performance.now() - measured.shownAt;
  if ((measured.said.get(target.name) ?? target.value) !== target.value) measured.changes += 1;
  measured.said.set(target.name, target.value);
  form.querySelector("[data-error]").textContent = "";
  showWhetherReady();
});

// A text is ready to be sent while its field still has the focus.
document.addEventListener("input", ({ target }) => {
  if (target.name && form?.contains(target)) showWhetherReady();
});

// Whoever sends too early is told why, aloud, in the place of the quiet line.
document.addEventListener("send:early", ({ target }) => {
  if (target !== form) return;
  const hint = form.querySelector("[data-hint]");
  const error = form.querySelector("[data-error]");
  if (!hint.textContent) return;
  error.textContent = error.dataset.said = hint.textContent;
  hint.textContent = "";
});

document.addEventListener("visibilitychange", () => {
  if (!measured) return;
  measured.hidden = hiddenSoFar();
  measured.hiddenSince = document.hidden ? performance.now() : null;
});

document.addEventListener("formdata", ({ target, formData }) => {
  if (target !== form) return;
  if (measured.firstChoice !== null) formData.set("first_choice_ms", Math.round(measured.firstChoice));
  formData.set("send_ms", Math.round(performance.now() - measured.shownAt));
  formData.set("hidden_ms", Math.round(hiddenSoFar()));
  formData.set("changes_of_mind", measured.changes);
  formData.set("window_width", window.innerWidth);
  formData.set("window_height", window.innerHeight);
  formData.delete("unmeasured");
});

export function showFirst() {
  const first = document.querySelector("[data-stage] [data-question]");
  if (first && first !== form) first.dispatchEvent(new CustomEvent("question:shown", { bubbles: true }));
}
