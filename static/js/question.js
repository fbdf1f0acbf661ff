// The question that is shown: when it may be sent, and what is measured about answering it.

let form = null;
let seen = false;
let measured = null;

const isAnswered = () => form.matches(":valid");
// What the question's fields say so far, whatever it asks for.
const chosenFields = () => [...form.querySelectorAll("[name]:checked, textarea[name]")].filter(({ value }) => value);
const hiddenSoFar = () => measured.hidden + (measured.hiddenSince === null ? 0 : performance.now() - measured.hiddenSince);

function showWhetherReady(hint = form.querySelector("[data-hint]")) {
  const failed = form.querySelector("[data-failed]");
  const state = failed ? "failed" : !seen ? "loading" : !isAnswered() ? "choose" : "ready";
  hint.textContent = hint.getAttribute(`data-text-${state}`);
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
});

// All files of the page are listening once the page is parsed and they have run.
window.addEventListener("DOMContentLoaded", () => {
  document.querySelector("[data-stage] [data-question]")?.dispatchEvent(new CustomEvent("question:shown", { bubbles: true }));
});
