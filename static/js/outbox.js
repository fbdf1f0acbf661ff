// Sends what is kept, one answer at a time in their order, again and again until the server itself says what became of
// it. The server knows a submission that it already has, so sending one twice is harmless.

import { forget, keep, recover, unsent } from "./kept.js";

const TIMEOUT_MS = 20000;
const PAUSES_MS = [1000, 2000, 4000, 8000, 15000];
const SAVING_SHOWN_AFTER_MS = 400;
// What a browser sends of a page that has gone is no longer than this.
const MOST_KEPT_ALIVE = 60000;
const arrivedKey = `lineup:arrived:${document.body.dataset.session}`;
const ARRIVED_KEPT = 20;
const state = document.querySelector("[data-saved]");
const trouble = document.querySelector("[data-trouble]");
let sending = false;
let failures = 0;
let timer;
let written = Promise.resolve();

const tell = (what, detail) => document.dispatchEvent(new CustomEvent(what, { detail }));

// When the last answers arrived, for pages that were asked for before and come after, here or in another tab: they would
// ask the same once more.
function arrivals() {
  try {
    return JSON.parse(localStorage.getItem(arrivedKey)) ?? [];
  } catch {
    return [];
  }
}

function rememberArrived(slot) {
  try {
    localStorage.setItem(arrivedKey, JSON.stringify([...arrivals(), { slot, at: Date.now() }].slice(-ARRIVED_KEPT)));
  } catch {
    // Without a storage the question is asked again, and the page names the answer that does not count.
  }
}

const arrivedSinceAskedFor = () => arrivals().filter(({ at }) => at >= performance.timeOrigin).map(({ slot }) => slot);

const isAway = () => navigator.onLine === false;

function showState(name) {
  const waiting = unsent().length;
  document.body.toggleAttribute("data-unsent", waiting > 0);
  if (!state) return;
  state.dataset.state = name;
  state.textContent = (state.getAttribute(`data-text-${name}`) ?? "").replace("{count}", waiting);
  const isTrouble = name === "kept" || name === "offline";
  // Read aloud once, and not again with every number.
  if (!isTrouble) trouble.textContent = "";
  else if (!trouble.textContent) trouble.textContent = state.textContent;
  tell("outbox:state", { name });
}

async function showWhereAnswersAre() {
  // An answer is called safe on this device once it is.
  await written;
  const isWaiting = unsent().length > 0;
  if (isAway()) showState(isWaiting ? "offline" : "offline-saved");
  else if (isWaiting) showState(failures ? "kept" : "saving");
  else if (state?.dataset.state) showState("saved");
}

const held = () =>
  [...document.querySelectorAll("[data-stage] [data-question], [data-ahead] [data-question]")].map(({ dataset }) => dataset.slot);

// Whatever stands between here and the server may answer in its place, with any status and any text.
const isTheServers = (reply, answer) => reply?.submission === answer.submission;

// Resolves to what the server said, or null when it could not be reached or could not answer.
async function post(answer) {
  const body = new URLSearchParams(answer.body);
  body.set("have", held().join());
  try {
    const response = await fetch(answer.action, {
      method: "POST",
      body,
      headers: { Accept: "application/json" },
      keepalive: `${body}`.length < MOST_KEPT_ALIVE,
      signal: AbortSignal.timeout?.(TIMEOUT_MS),
    });
    const reply = await response.json();
    if (!isTheServers(reply, answer)) return null;
    if (response.ok || (response.status < 500 && reply.error)) return { isTaken: response.ok, reply };
  } catch {
    // No connection, too slow, cut off, or no answer of the server's.
  }
  return null;
}

async function sendAll() {
  if (sending) return;
  sending = true;
  clearTimeout(timer);
  const showSaving = setTimeout(() => !failures && !isAway() && showState("saving"), SAVING_SHOWN_AFTER_MS);
  let outcome;
  let isSaved = false;
  for (let answer; (answer = unsent()[0]); ) {
    outcome = await post(answer);
    if (outcome === null) break;
    failures = 0;
    forget(answer);
    document.body.toggleAttribute("data-unsent", unsent().length > 0);
    const { isTaken, reply } = outcome;
    isSaved = isTaken && reply.saved;
    if (isSaved) rememberArrived(answer.slot);
    tell(isTaken ? "answer:saved" : "answer:refused", { answer, reply });
  }
  clearTimeout(showSaving);
  sending = false;
  if (outcome === null) {
    timer = setTimeout(sendAll, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
    failures += 1;
    return showWhereAnswersAre();
  }
  // Nothing is said of an answer that was not taken, or that another one stands for.
  if (isSaved) showState("saved");
  else if (outcome) showState("");
  tell("outbox:empty");
}

document.addEventListener("answer:given", ({ detail }) => {
  written = keep(detail);
  document.body.toggleAttribute("data-unsent", true);
  if (isAway() || failures) showWhereAnswersAre();
  sendAll();
});

window.addEventListener("online", () => {
  failures = 0;
  showWhereAnswersAre();
  sendAll();
});
window.addEventListener("offline", showWhereAnswersAre);

// Another tab may have taken what this one was about to say is on its way.
window.addEventListener("storage", () => {
  if (!sending && document.body.dataset.unsent !== undefined && !unsent().length) showWhereAnswersAre();
});

export function openOutbox() {
  const open = (arrived) => {
    tell("outbox:opened", { slots: [...arrived, ...unsent().map((answer) => answer.slot)] });
    if (unsent().length || isAway()) showWhereAnswersAre();
    // Only whoever knows what is on its way can say it.
    else if (state?.querySelector("noscript")) showState("saved");
    sendAll();
  };
  open(arrivedSinceAskedFor());
  recover().then((count) => count && open([]));
}
