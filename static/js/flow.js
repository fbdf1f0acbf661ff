// From one question to the next without waiting for the server: what is held ahead is shown, and the answer is given
// to the outbox, which brings the questions after those held.

import { earlier } from "./kept.js";
import { isServed } from "./offline.js";
import { isKeptPage, rememberGiven, rememberQuestion, restored } from "./sitting.js";
import { hearTabs, tellTabs } from "./tabs.js";
import { showNotices, tellOfRefused } from "./told.js";

const LOOK_AGAIN_MS = 5000;
const stage = document.querySelector("[data-stage]");
const ahead = document.querySelector("[data-ahead]");
const waiting = document.querySelector("[data-waiting]");
const elsewhere = document.querySelector("[data-elsewhere]");
const given = new Map();
// The slots that other tabs have sent an answer for.
const givenElsewhere = new Set();
let goTo = null;
let stopping = null;

const announce = (form, what) => form.dispatchEvent(new CustomEvent(what, { bubbles: true }));
const isGiven = (slot) => given.has(slot);

function showWhetherGivenElsewhere() {
  const slot = stage.querySelector("[data-question]")?.dataset.slot;
  elsewhere.hidden = !givenElsewhere.has(slot);
}

function show(form) {
  stage.replaceChildren(form);
  showWhetherGivenElsewhere();
  waiting.hidden = true;
  const heading = form.querySelector("[data-heading]");
  document.title = document.title.replace(/^[^·]*/, `${heading.textContent.trim()} `);
  announce(form, "question:shown");
  heading.focus({ preventScroll: true });
}

function advance() {
  // What was said of the question that has just been answered is not said of the next.
  document.querySelector("main > p.notice:not([data-elsewhere])")?.remove();
  const next = ahead.firstElementChild;
  if (next) return show(next);
  stage.replaceChildren();
  showWhetherGivenElsewhere();
  waiting.hidden = false;
  waiting.firstElementChild.focus();
}

function hold(form) {
  const { slot } = form.dataset;
  if (isGiven(slot) || document.querySelector(`[data-question][data-slot="${CSS.escape(slot)}"]`)) return;
  rememberQuestion(slot, form.outerHTML);
  for (const image of form.querySelectorAll("img")) image.loading = "lazy";
  ahead.append(form);
  announce(form, "question:held");
  if (!stage.firstElementChild) advance();
}

const holdAll = (html) => new DOMParser().parseFromString(html, "text/html").querySelectorAll("[data-question]").forEach(hold);

function showAnswered(answered) {
  document.querySelector("[data-answered]").textContent = answered;
  document.querySelector("[data-progress]").value = answered;
}

// Whoever stops while answers are on their way has them counted first.
function holdBack(event) {
  if (document.body.dataset.unsent === undefined) return;
  event.preventDefault();
  stopping = event.target;
  stopping.closest("dialog")?.close();
}

// Every press of Send has a number of its own: what was sent before under the page's may have arrived.
function newNumber() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!stage.contains(form)) return holdBack(event);
  event.preventDefault();
  if (form.querySelector("[data-send]").disabled) return;
  const fields = new FormData(form);
  const { slot } = form.dataset;
  const submission = newNumber();
  fields.set("submission", submission);
  // What this browser had sent before, for an answer whose number the server does not know.
  if (form.elements.replaces) fields.set("after", earlier(slot).join());
  given.set(slot, form);
  const heading = form.querySelector("[data-heading]").textContent.trim();
  const answer = { slot, submission, heading, action: form.action, body: `${new URLSearchParams(fields)}` };
  advance();
  tellTabs({ given: slot });
  document.dispatchEvent(new CustomEvent("answer:given", { detail: answer }));
});

hearTabs((message) => {
  if (message.given) givenElsewhere.add(message.given);
  if (message.refused) givenElsewhere.delete(message.refused);
  showWhetherGivenElsewhere();
});

function leaveOut(slots) {
  for (const slot of slots) if (!isGiven(slot)) given.set(slot, null);
  for (const form of ahead.querySelectorAll("[data-question]")) if (slots.includes(form.dataset.slot)) form.remove();
  const shown = stage.querySelector("[data-question]");
  if (shown && slots.includes(shown.dataset.slot) && !shown.elements.replaces) advance();
}

// An answer that was given before a reload or a crash and is still on its way is not asked for again.
document.addEventListener("outbox:opened", ({ detail: { slots } }) => leaveOut(slots));

document.addEventListener("answer:saved", ({ detail: { answer, reply } }) => {
  // Only that it was given is remembered, so that a long survey does not fill the memory with pictures.
  given.set(answer.slot, null);
  if (reply.answered !== undefined) {
    showAnswered(reply.answered);
    rememberGiven(answer.slot, reply.answered);
  }
  document.querySelector("[data-change]").hidden = false;
  if (reply.notices) showNotices(reply.notices);
  if (reply.next) holdAll(reply.next);
  goTo = reply.go ?? goTo;
});

// What the server cannot take comes back as it was left, with the reason.
document.addEventListener("answer:refused", ({ detail: { answer, reply } }) => {
  const form = given.get(answer.slot);
  given.delete(answer.slot);
  tellTabs({ refused: answer.slot });
  if (!form) {
    tellOfRefused(answer, reply);
    goTo = document.body.dataset.session;
    return;
  }
  ahead.prepend(...stage.children);
  show(form);
  form.querySelector("[data-error]").textContent = reply.error;
  // Whoever wrote something goes on writing.
  form.querySelector("textarea[name]")?.focus({ preventScroll: true });
});

// A page that the browser has kept would bring itself again, for as long as the server cannot be reached.
async function leave() {
  if (isKeptPage && !(await isServed(document.body.dataset.session))) return setTimeout(leave, LOOK_AGAIN_MS);
  window.location.replace(goTo);
}

document.addEventListener("outbox:empty", () => {
  if (stopping) return stopping.submit();
  if (goTo === null && !stage.firstElementChild) goTo = document.body.dataset.session;
  if (goTo !== null) leave();
});

// Nobody is told that something is being fetched where nothing can be.
function showWhatIsWaitedFor(name) {
  const heading = waiting.firstElementChild;
  const what = name.startsWith("offline") || name === "kept" ? name.replace("-saved", "") : "fetching";
  heading.textContent = heading.getAttribute(`data-text-${what}`);
}

document.addEventListener("outbox:state", ({ detail: { name } }) => showWhatIsWaitedFor(name));

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

export async function openSitting() {
  for (const form of ahead.querySelectorAll("[data-question]")) announce(form, "question:held");
  if (!isKeptPage) return;
  const sitting = await restored();
  for (const slot of sitting.given) given.set(slot, null);
  for (const html of sitting.questions) holdAll(html);
  leaveOut(sitting.given);
  showAnswered(Math.max(sitting.answered, Number(document.querySelector("[data-answered]").textContent)));
}
