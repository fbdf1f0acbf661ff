// How a text came about, in numbers, where the study records it and its consent said so: never which keys were pressed.

const PAUSE_MS = 2000;
const PASTES_NOTED = 20;
// Of several characters each, but pressed: on the keyboards of phones, and for accents.
const KEYS = ["Backspace", "Delete", "Enter", "Unidentified", "Process", "Dead"];
const WRITTEN = `lineup:written:${document.body.dataset.session}:`;
let form = null;
let counted = null;
let lastKeyAt = null;

const nothingYet = () => ({ keys: 0, pastes: 0, pasted: [], focus_losses: 0, pauses: 0, paused_ms: 0, begunAt: null });
const isField = (target) => form?.contains(target) && target.matches("textarea");

// What was counted before a reload goes on.
function read(slot) {
  try {
    return JSON.parse(localStorage.getItem(WRITTEN + slot)) ?? nothingYet();
  } catch {
    return nothingYet();
  }
}

function keep() {
  try {
    if (form && counted.begunAt !== null) localStorage.setItem(WRITTEN + form.dataset.slot, JSON.stringify(counted));
  } catch {
    // Counted for as long as the page is open.
  }
}

document.addEventListener("question:shown", ({ target }) => {
  form = target.dataset.recordsWriting === undefined ? null : target;
  counted = form && read(form.dataset.slot);
  lastKeyAt = null;
});

document.addEventListener("keydown", ({ target, key, repeat, ctrlKey, metaKey, isComposing }) => {
  if (!isField(target) || repeat || ctrlKey || metaKey || (key.length > 1 && !KEYS.includes(key) && !isComposing)) return;
  const now = Date.now();
  counted.keys += 1;
  counted.begunAt ??= now;
  if (lastKeyAt !== null && now - lastKeyAt > PAUSE_MS) {
    counted.pauses += 1;
    counted.paused_ms += now - lastKeyAt;
  }
  lastKeyAt = now;
});

function notePaste(target, text) {
  if (!isField(target)) return;
  counted.begunAt ??= Date.now();
  counted.pastes += 1;
  if (counted.pasted.length < PASTES_NOTED) counted.pasted.push(text?.length ?? 0);
}

document.addEventListener("paste", ({ target, clipboardData }) => notePaste(target, clipboardData?.getData("text")));
document.addEventListener("drop", ({ target, dataTransfer }) => notePaste(target, dataTransfer?.getData("text")));

window.addEventListener("blur", () => {
  if (form && counted.begunAt !== null) counted.focus_losses += 1;
});

document.addEventListener("visibilitychange", keep);
window.addEventListener("pagehide", keep);
document.addEventListener("input", ({ target }) => isField(target) && keep());

document.addEventListener("formdata", ({ target, formData }) => {
  if (!form || target !== form) return;
  const { begunAt, ...numbers } = counted;
  const from_first_key_ms = begunAt === null ? null : Math.max(0, Date.now() - begunAt);
  formData.set("writing", JSON.stringify({ ...numbers, from_first_key_ms }));
});

document.addEventListener("answer:saved", ({ detail: { answer } }) => {
  try {
    localStorage.removeItem(WRITTEN + answer.slot);
  } catch {
    // There was nowhere to keep it.
  }
});
