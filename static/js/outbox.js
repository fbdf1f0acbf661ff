// Answers on their way: kept in the browser until the server has acknowledged them, sent one at a time in their order,
// tried again until they arrive. The server knows a submission it already has, so sending one twice is harmless.

const TIMEOUT_MS = 20000;
const PAUSES_MS = [1000, 2000, 4000, 8000, 15000];
const SAVING_SHOWN_AFTER_MS = 400;
const key = `lineup:outbox:${document.body.dataset.session}`;
const arrivedKey = `lineup:arrived:${document.body.dataset.session}`;
const ARRIVED_KEPT = 20;
const state = document.querySelector("[data-saved]");
const trouble = document.querySelector("[data-trouble]");
const done = new Set();
const own = [];
let sending = false;
let failures = 0;
let timer;

const tell = (what, detail) => document.dispatchEvent(new CustomEvent(what, { detail }));

function stored() {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

// The browser may refuse to store (`own` still has what this page was given), and another tab may store too.
function unsent() {
  const answers = new Map([...stored(), ...own].map((answer) => [answer.submission, answer]));
  return [...answers.values()].filter((answer) => !done.has(answer.submission));
}

function store() {
  const answers = unsent();
  document.body.toggleAttribute("data-unsent", answers.length > 0);
  try {
    if (answers.length) localStorage.setItem(key, JSON.stringify(answers));
    else localStorage.removeItem(key);
  } catch {
    // A full or forbidden storage costs only the protection against a crash.
  }
}

// The slots whose answers arrived last, for the page after a reload: it may have been asked for before an answer arrived
// and come after, and would ask the same once more. Taken out when read, so that a page can be wrong only once.
function rememberArrived(slot) {
  try {
    const slots = [...(JSON.parse(sessionStorage.getItem(arrivedKey)) ?? []), slot];
    sessionStorage.setItem(arrivedKey, JSON.stringify(slots.slice(-ARRIVED_KEPT)));
  } catch {
    // Without a storage the question is asked again, and the first answer counts.
  }
}

function takeArrived() {
  try {
    const slots = JSON.parse(sessionStorage.getItem(arrivedKey)) ?? [];
    sessionStorage.removeItem(arrivedKey);
    return slots;
  } catch {
    return [];
  }
}

function showState(name) {
  if (!state) return;
  state.dataset.state = name;
  state.textContent = state.getAttribute(`data-text-${name}`);
  trouble.textContent = name === "kept" ? state.textContent : "";
}

function furthestHeld() {
  return [...document.querySelectorAll("[data-stage] [data-question], [data-ahead] [data-question]")].at(-1)?.dataset.slot ?? "";
}

// Resolves to what the server said, or null when it could not be reached or could not answer.
async function post(answer) {
  const body = new URLSearchParams(answer.body);
  body.set("have", furthestHeld());
  try {
    const response = await fetch(answer.action, {
      method: "POST",
      body,
      headers: { Accept: "application/json" },
      keepalive: true,
      signal: AbortSignal.timeout?.(TIMEOUT_MS),
    });
    const reply = await response.json();
    if (response.ok || (response.status < 500 && reply.error)) return { isSaved: response.ok, reply };
  } catch {
    // No connection, too slow, or something between here and the server answered in its place.
  }
  return null;
}

async function sendAll() {
  if (sending) return;
  sending = true;
  clearTimeout(timer);
  const showSaving = setTimeout(() => failures || showState("saving"), SAVING_SHOWN_AFTER_MS);
  let outcome;
  for (let answer; (answer = unsent()[0]); ) {
    outcome = await post(answer);
    if (outcome === null) break;
    failures = 0;
    done.add(answer.submission);
    if (outcome.isSaved) rememberArrived(answer.slot);
    store();
    tell(outcome.isSaved ? "answer:saved" : "answer:refused", { answer, reply: outcome.reply });
  }
  clearTimeout(showSaving);
  sending = false;
  if (outcome === null) {
    showState("kept");
    timer = setTimeout(sendAll, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]);
    failures += 1;
    return;
  }
  if (outcome) showState("saved");
  tell("outbox:empty");
}

document.addEventListener("answer:given", ({ detail }) => {
  own.push(detail);
  // One that was refused before may come again, changed.
  done.delete(detail.submission);
  store();
  sendAll();
});

window.addEventListener("online", () => {
  failures = 0;
  sendAll();
});

tell("outbox:opened", { slots: [...takeArrived(), ...unsent().map((answer) => answer.slot)] });
store();
sendAll();
