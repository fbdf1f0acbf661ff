// From one question to the next without waiting for the server: what is held ahead is shown, and the answer is given
// to the outbox, which brings the question after the one held.

const stage = document.querySelector("[data-stage]");
const ahead = document.querySelector("[data-ahead]");
const waiting = document.querySelector("[data-waiting]");
const given = new Map();
let goTo = null;
let stopping = null;

const announce = (form, what) => form.dispatchEvent(new CustomEvent(what, { bubbles: true }));

function show(form) {
  stage.replaceChildren(form);
  waiting.hidden = true;
  const heading = form.querySelector("[data-heading]");
  document.title = document.title.replace(/^[^·]*/, `${heading.textContent.trim()} `);
  announce(form, "question:shown");
  heading.focus({ preventScroll: true });
}

function advance() {
  // What was said of the question that has just been answered is not said of the next.
  document.querySelector("main > .notice")?.remove();
  const next = ahead.firstElementChild;
  if (next) return show(next);
  stage.replaceChildren();
  waiting.hidden = false;
  waiting.firstElementChild.focus();
}

function hold(html) {
  const form = new DOMParser().parseFromString(html, "text/html").querySelector("[data-question]");
  const slot = form?.dataset.slot;
  if (!slot || given.has(slot) || document.querySelector(`[data-question][data-slot="${CSS.escape(slot)}"]`)) return;
  for (const image of form.querySelectorAll("img")) image.loading = "lazy";
  ahead.append(form);
  announce(form, "question:held");
  if (!stage.firstElementChild) advance();
}

// Whoever stops while answers are on their way has them counted first.
function holdBack(event) {
  if (document.body.dataset.unsent === undefined) return;
  event.preventDefault();
  stopping = event.target;
  stopping.closest("dialog")?.close();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!stage.contains(form)) return holdBack(event);
  event.preventDefault();
  if (form.querySelector("[data-send]").disabled) return;
  const fields = new FormData(form);
  const { slot } = form.dataset;
  given.set(slot, form);
  const answer = { slot, submission: fields.get("submission"), action: form.action, body: `${new URLSearchParams(fields)}` };
  advance();
  document.dispatchEvent(new CustomEvent("answer:given", { detail: answer }));
});

// An answer that was given before a reload or a crash and is still on its way is not asked for again.
document.addEventListener("outbox:opened", ({ detail: { slots } }) => {
  for (const slot of slots) if (!given.has(slot)) given.set(slot, null);
  for (const form of ahead.querySelectorAll("[data-question]")) if (slots.includes(form.dataset.slot)) form.remove();
  const shown = stage.querySelector("[data-question]");
  if (shown && slots.includes(shown.dataset.slot) && !shown.elements.replaces) advance();
});

document.addEventListener("answer:saved", ({ detail: { answer, reply } }) => {
  // Only that it was given is remembered, so that a long survey does not fill the memory with pictures.
  given.set(answer.slot, null);
  if (reply.answered !== undefined) {
    document.querySelector("[data-answered]").textContent = reply.answered;
    document.querySelector("[data-progress]").value = reply.answered;
  }
  document.querySelector("[data-change]").hidden = false;
  if (reply.next) hold(reply.next);
  goTo = reply.go ?? goTo;
});

// What the server cannot take comes back as it was left, with the reason.
document.addEventListener("answer:refused", ({ detail: { answer, reply } }) => {
  const form = given.get(answer.slot);
  given.delete(answer.slot);
  if (!form) {
    goTo = document.body.dataset.session;
    return;
  }
  ahead.prepend(...stage.children);
  show(form);
  form.querySelector("[data-error]").textContent = reply.error;
});

document.addEventListener("outbox:empty", () => {
  if (stopping) return stopping.submit();
  if (goTo === null && !stage.firstElementChild) goTo = document.body.dataset.session;
  if (goTo !== null) window.location.replace(goTo);
});

// The last answer can be changed only once it has arrived; until then the link waits for it.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-change]");
  if (!link || document.body.dataset.unsent === undefined) return;
  event.preventDefault();
  goTo = link.href;
});

window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});

for (const form of ahead.querySelectorAll("[data-question]")) announce(form, "question:held");
