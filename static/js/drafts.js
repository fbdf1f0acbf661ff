// What is written so far is kept on this device at once, and with the server every few seconds: it survives a reload, a
// lost line and a change of devices. It goes when its answer has arrived.

const SAVE_AFTER_MS = 2000;
const TRY_AGAIN_MS = 10000;
const TIMEOUT_MS = 20000;
// What a browser sends of a page that has gone is no longer than this.
const MOST_KEPT_ALIVE = 60000;
const DRAFT = `lineup:draft:${document.body.dataset.session}:`;
const own = new Map();
const given = new Set();
const timers = new Map();
const sending = new Set();

const shownForm = () => document.querySelector("[data-stage] [data-question][data-draft]");
const lengthOf = (fields) => Object.values(fields).join("").length;

function read(slot) {
  try {
    return JSON.parse(localStorage.getItem(DRAFT + slot)) ?? own.get(slot);
  } catch {
    return own.get(slot);
  }
}

function keep(slot, draft) {
  own.set(slot, draft);
  try {
    localStorage.setItem(DRAFT + slot, JSON.stringify(draft));
  } catch {
    // A browser that stores nothing keeps it for as long as the page is open; the server has it all the same.
  }
}

function forget(slot) {
  own.delete(slot);
  try {
    localStorage.removeItem(DRAFT + slot);
  } catch {
    // There was nowhere to keep it.
  }
}

const fieldsOf = (form) =>
  Object.fromEntries([...form.querySelectorAll("textarea[name], [name]:checked")].map(({ name, value }) => [name, value]));

function fill(form, fields) {
  for (const field of form.querySelectorAll("textarea[name], input[type=radio][name], input[type=checkbox][name]")) {
    if (field.matches("textarea")) field.value = fields[field.name] ?? "";
    else field.checked = fields[field.name] === field.value;
  }
}

// The page comes with what the server has. What this device has beside it is newer if the server has not got it yet: of
// two that were written on in two places without a line, the longer one stays.
function restore(form) {
  const { slot, draft, draftNumber } = form.dataset;
  const kept = draft && read(slot);
  if (!kept) return;
  const there = Number(draftNumber);
  const isLater = kept.number > there;
  const isUnsent = kept.isUnsent && (kept.number === there || lengthOf(kept.fields) > lengthOf(fieldsOf(form)));
  if (!isLater && !isUnsent) return forget(slot);
  fill(form, kept.fields);
  form.dataset.draftNumber = kept.number;
  if (kept.isUnsent) sendLater(form);
}

function sendLater(form, after = SAVE_AFTER_MS) {
  const { slot } = form.dataset;
  if (timers.has(slot) || given.has(slot)) return;
  timers.set(slot, setTimeout(send, after, form));
}

// Resolves to the number of the draft, null where nothing is to be kept any more, undefined where it did not get there.
async function post(form, fields) {
  const body = new URLSearchParams({ ...fields, slot: form.dataset.slot });
  try {
    const response = await fetch(form.dataset.draft, {
      method: "POST",
      body,
      headers: { Accept: "application/json" },
      keepalive: `${body}`.length < MOST_KEPT_ALIVE,
      signal: AbortSignal.timeout?.(TIMEOUT_MS),
    });
    if (response.status >= 400 && response.status < 500 && response.status !== 429) return null;
    const reply = await response.json();
    return String(reply.slot) === form.dataset.slot ? reply.number : undefined;
  } catch {
    return undefined;
  }
}

async function send(form) {
  const { slot } = form.dataset;
  clearTimeout(timers.get(slot));
  timers.delete(slot);
  const sent = read(slot);
  if (given.has(slot) || sending.has(slot) || !sent?.isUnsent) return;
  sending.add(slot);
  const number = await post(form, sent.fields);
  sending.delete(slot);
  const now = read(slot);
  if (number === undefined) return sendLater(form, TRY_AGAIN_MS);
  if (number === null || !now || given.has(slot)) return;
  const isUnsent = now.at !== sent.at;
  keep(slot, { ...now, number, isUnsent });
  form.dataset.draftNumber = number;
  if (isUnsent) sendLater(form);
}

function note({ target }) {
  const form = target.closest("[data-stage] [data-question][data-draft]");
  if (!form || !target.name) return;
  const { slot, draftNumber } = form.dataset;
  const before = read(slot);
  const fields = fieldsOf(form);
  if (before && JSON.stringify(before.fields) === JSON.stringify(fields)) return;
  keep(slot, { fields, number: Number(draftNumber), isUnsent: true, at: (before?.at ?? 0) + 1 });
  sendLater(form);
}

function sendNow() {
  const form = shownForm();
  if (form) send(form);
}

for (const sign of ["question:held", "question:shown"]) document.addEventListener(sign, ({ target }) => restore(target));
for (const sign of ["input", "change"]) document.addEventListener(sign, note);
document.addEventListener("visibilitychange", () => document.hidden && sendNow());
for (const sign of ["pagehide", "online"]) window.addEventListener(sign, sendNow);

document.addEventListener("answer:given", ({ detail: { slot } }) => {
  given.add(slot);
  clearTimeout(timers.get(slot));
  timers.delete(slot);
});

document.addEventListener("answer:refused", ({ detail: { answer } }) => given.delete(answer.slot));
document.addEventListener("answer:saved", ({ detail: { answer } }) => forget(answer.slot));
