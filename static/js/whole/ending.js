// Made of static/js/ending.js and what it imports, by: python -m scripts.join_modules

// end.js
(() => {
// The last page: the way back opens by itself after a while, unless the person wants to stay or to write a comment.

const handover = document.querySelector("[data-redirect]");
const countdown = document.querySelector("[data-countdown]");
const comment = document.querySelector("[data-comment]");
let left = Number(handover?.dataset.redirect);
let timer;

function tick() {
  if (hasNotice()) return stay();
  countdown.hidden = false;
  countdown.querySelector("[data-seconds]").textContent = left;
  if (left <= 0) {
    stay();
    window.location.assign(handover.dataset.redirectTo);
  }
  left -= 1;
}

function stay() {
  clearInterval(timer);
  left = 0;
  if (countdown) countdown.hidden = true;
}

const hasNotice = () => document.querySelector(".answer-notices:not([hidden])") !== null;

// Nobody is sent away while an answer is still on its way from this browser, or before they know what became of one.
document.addEventListener(
  "outbox:empty",
  () => {
    if (!(left > 0) || hasNotice() || comment?.contains(document.activeElement)) return;
    tick();
    timer = setInterval(tick, 1000);
  },
  { once: true },
);

document.querySelector("[data-stay]")?.addEventListener("click", stay);
for (const sign of ["focusin", "input"]) comment?.addEventListener(sign, stay);

document.querySelector("[data-copy]")?.addEventListener("click", async ({ currentTarget }) => {
  const code = document.querySelector("[data-code]");
  window.getSelection().selectAllChildren(code);
  // The clipboard's newer door is closed on plain http.
  if (window.isSecureContext) await navigator.clipboard.writeText(code.textContent);
  else document.execCommand("copy");
  document.querySelector("[data-copied]").textContent = currentTarget.dataset.textCopied;
});
})();

// disk.js
const $disk = (() => {
// What is on the disk as soon as it says so: a browser that is killed forgets what it wrote to its local storage in the
// last seconds, or the last minute. Where a browser has no such database, or refuses it, all of it is empty.

// Some browsers' databases say neither yes nor no.
const PATIENCE_MS = 3000;

const opened = new Promise((resolve) => {
  setTimeout(resolve, PATIENCE_MS, null);
  try {
    const opening = indexedDB.open("lineup", 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore("answers", { keyPath: "submission" });
      for (const name of ["questions", "given"]) opening.result.createObjectStore(name, { keyPath: ["session", "slot"] });
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = opening.onblocked = () => resolve(null);
  } catch {
    resolve(null);
  }
});

// What is written to several stores is there whole or not at all. Resolves once it is on the disk, or will never be.
async function write(names, change) {
  const database = await opened;
  return new Promise((resolve) => {
    try {
      const transaction = database.transaction(names, "readwrite", { durability: "strict" });
      transaction.oncomplete = transaction.onerror = transaction.onabort = () => resolve();
      change((name) => transaction.objectStore(name));
      transaction.commit?.();
    } catch {
      // The answer is in memory and on its way all the same.
      resolve();
    }
  });
}

async function readAll(name) {
  const database = await opened;
  return new Promise((resolve) => {
    try {
      const asked = database.transaction(name).objectStore(name).getAll();
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => resolve([]);
    } catch {
      resolve([]);
    }
  });
}
return { write, readAll };
})();

// sitting.js
const $sitting = (() => {
// What a browser that is started again without a line has to know beyond the page that it kept (worker.js): which
// questions came after the page, which have been answered since, and how far the sitting was.

const { readAll, write } = $disk;

const { session, kept } = document.body.dataset;

const SITTING = ["questions", "given"];
const whole = () => IDBKeyRange.bound([session], [session, []]);

const isKeptPage = kept !== undefined;

// A page that comes from the server holds all that there is to know.
if (!isKeptPage) write(["questions"], (on) => on("questions").delete(whole()));

function rememberQuestion(slot, html) {
  write(["questions"], (on) => on("questions").put({ session, slot, html, at: Date.now() }));
}

function noteGiven(on, slot, answered = 0) {
  on("given").put({ session, slot, answered });
  on("questions").delete([session, slot]);
}

function rememberGiven(slot, answered) {
  write(SITTING, (on) => noteGiven(on, slot, answered));
}

async function restored() {
  const [questions, given] = await Promise.all(SITTING.map(readAll));
  const mine = (records) => records.filter((record) => record.session === session);
  return {
    questions: mine(questions).sort((one, other) => one.at - other.at).map(({ html }) => html),
    given: mine(given).map(({ slot }) => slot),
    answered: Math.max(0, ...mine(given).map(({ answered }) => answered)),
  };
}

function forgetSitting() {
  write(SITTING, (on) => SITTING.forEach((name) => on(name).delete(whole())));
}
return { SITTING, isKeptPage, rememberQuestion, noteGiven, rememberGiven, restored, forgetSitting };
})();

// kept.js
const $kept = (() => {
// Answers on their way are kept in two places until the server has them: in the local storage, which has them at once and
// shows them to every tab, one entry for each, so that tabs cannot write over each other; and on the disk (disk.js).

const { readAll, write } = $disk;
const { noteGiven, SITTING } = $sitting;

const session = document.body.dataset.session;
const ANSWER = `lineup:answer:${session}:`;
const GIVEN = `lineup:given:${session}:`;
// Where the version before this one kept them, all in one entry.
const OLDER = `lineup:outbox:${session}`;
const ARRIVED = `lineup:arrived:${session}`;
const ORDER = `lineup:order:${session}`;
// What is written so far, and how.
const DRAFT = `lineup:draft:${session}:`;
const WRITTEN = `lineup:written:${session}:`;
const MOST_EARLIER = 20;
const own = new Map();
const done = new Set();

// A browser may refuse to store, or have no room: `own` still has what this page was given.
function attempt(what) {
  try {
    return what();
  } catch {
    return undefined;
  }
}

const keysOf = (prefix) => attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(prefix))) ?? [];
const read = (key) => attempt(() => JSON.parse(localStorage.getItem(key)));

function unsent() {
  const stored = keysOf(ANSWER).map(read).filter(Boolean);
  const answers = new Map([...stored, ...own.values()].map((answer) => [answer.submission, answer]));
  return [...answers.values()].filter(({ submission }) => !done.has(submission)).sort((one, other) => one.at - other.at);
}

// The numbers of the answers to one question that were sent from this browser, whichever tab it was.
const earlier = (slot) => read(GIVEN + slot) ?? [];

function noteAsEarlier({ slot, submission }) {
  const submissions = [...earlier(slot), submission].slice(-MOST_EARLIER);
  attempt(() => localStorage.setItem(GIVEN + slot, JSON.stringify(submissions)));
}

// Resolves once the answer is on the disk, if the browser has one for it. A question is never noted there as answered
// without its answer.
function keep(given) {
  const answer = { ...given, session, at: Math.max(Date.now(), 1 + (unsent().at(-1)?.at ?? 0)) };
  own.set(answer.submission, answer);
  attempt(() => localStorage.setItem(ANSWER + answer.submission, JSON.stringify(answer)));
  noteAsEarlier(answer);
  return write(["answers", ...SITTING], (on) => {
    on("answers").put(answer);
    noteGiven(on, answer.slot);
  });
}

function forget({ submission }) {
  done.add(submission);
  own.delete(submission);
  attempt(() => localStorage.removeItem(ANSWER + submission));
  write(["answers"], (on) => on("answers").delete(submission));
}

// Takes back what only the disk still has, because the browser was killed; resolves to how many answers that are.
async function recover() {
  const found = await readAll("answers");
  const present = new Set([...done, ...unsent().map(({ submission }) => submission)]);
  const lost = found.filter((answer) => answer.session === session && !present.has(answer.submission));
  for (const answer of lost) {
    own.set(answer.submission, answer);
    noteAsEarlier(answer);
  }
  return lost.length;
}

function forgetAnswers() {
  const all = [ANSWER, GIVEN, OLDER, ARRIVED, ORDER, DRAFT, WRITTEN].flatMap(keysOf);
  for (const key of all) attempt(() => localStorage.removeItem(key));
}

for (const [place, answer] of (read(OLDER) ?? []).entries()) own.set(answer.submission, { ...answer, session, at: place });
attempt(() => {
  for (const answer of own.values()) localStorage.setItem(ANSWER + answer.submission, JSON.stringify(answer));
  localStorage.removeItem(OLDER);
});
return { unsent, earlier, keep, forget, recover, forgetAnswers };
})();

// outbox.js
const $outbox = (() => {
// Sends what is kept, one answer at a time in their order, again and again until the server itself says what became of
// it. The server knows a submission that it already has, so sending one twice is harmless.

const { forget, keep, recover, unsent } = $kept;

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

function openOutbox() {
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
return { openOutbox };
})();

// tabs.js
const $tabs = (() => {
// Tabs of one session tell each other what they send and what has been seen. A browser that lacks the channel goes on
// without it: the server decides by the numbers that come with the answers (gate.js).

const { session } = document.body.dataset;

function opened() {
  try {
    return new BroadcastChannel(`lineup:${session}`);
  } catch {
    return null;
  }
}

const channel = opened();

const tellTabs = (message) => channel?.postMessage(message);

const hearTabs = (listener) => channel?.addEventListener("message", ({ data }) => listener(data));
return { tellTabs, hearTabs };
})();

// told.js
const $told = (() => {
// What the page says of answers that do not stand: the server's notices, and the reasons why it refused an answer whose
// question has left the page. Each stays, in all tabs, until it is dismissed.

const { hearTabs, tellTabs } = $tabs;

const KEY = `lineup:told:${document.body.dataset.session}`;
const main = document.getElementById("main");
const refused = document.querySelector("[data-refused]");
const own = new Map();

const shownNotices = () => document.querySelector("[data-notices]");

function place(html) {
  const notices = new DOMParser().parseFromString(html, "text/html").querySelector("[data-notices]");
  shownNotices()?.remove();
  if (!notices) return;
  // Set after it is there, so that it is read aloud.
  const list = notices.querySelector("ul");
  const items = [...list.children];
  list.replaceChildren();
  list.setAttribute("role", "alert");
  main.prepend(notices);
  list.append(...items);
}

function showNotices(html) {
  place(html);
  tellTabs({ notices: html });
}

function stored() {
  try {
    return Object.entries(JSON.parse(localStorage.getItem(KEY)) ?? {});
  } catch {
    return [];
  }
}

const told = () => new Map([...stored(), ...own]);

function store(reasons) {
  try {
    if (reasons.size) localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(reasons)));
    else localStorage.removeItem(KEY);
  } catch {
    // Said for as long as this page is open.
  }
}

function showRefused() {
  const reasons = [...told().values()];
  refused.hidden = !reasons.length;
  const items = reasons.map((text) => Object.assign(document.createElement("li"), { textContent: text }));
  refused.querySelector("ul").replaceChildren(...items);
}

// `heading` names the question, for it is no longer on the page.
function tellOfRefused({ submission, heading }, { error }) {
  own.set(submission, heading ? `${heading}: ${error}` : error);
  store(told());
  showRefused();
}

function dismissRefused() {
  own.clear();
  store(new Map());
  showRefused();
}

async function dismiss(form) {
  const body = new URLSearchParams(new FormData(form));
  // What the server does not hear of comes back with the next page.
  form.remove();
  main.focus({ preventScroll: true });
  try {
    const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true });
    const { notices } = await response.json();
    if (notices !== undefined) showNotices(notices);
  } catch {
    // No connection.
  }
}

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!form.matches("[data-notices]")) return;
    event.preventDefault();
    // It waits for no answer that is on its way.
    event.stopPropagation();
    dismiss(form);
  },
  { capture: true },
);

refused.querySelector("[data-dismiss]").addEventListener("click", dismissRefused);
hearTabs(({ notices }) => notices !== undefined && place(notices));
window.addEventListener("storage", ({ key }) => key === KEY && showRefused());
showRefused();
return { showNotices, tellOfRefused };
})();

// offline.js
const $offline = (() => {
// Keeps the page for when there is no line, and clears it away at the end (worker.js). Where a browser knows no workers,
// or the site is not served safely, the page works as long as it is open.

const { forgetAnswers } = $kept;
const { forgetSitting } = $sitting;

const CACHE = "lineup-pages";

// Tells whether the server itself would show the page now.
async function isServed(address) {
  try {
    const { ok, headers } = await fetch(address, { method: "HEAD", cache: "no-store" });
    return ok && headers.has("Lineup-Page");
  } catch {
    return false;
  }
}

function workOffline() {
  const { worker } = document.body.dataset;
  if (!worker || !navigator.serviceWorker) return;
  const scope = worker.replace(/[^/]*$/, "");
  // A browser that refuses, or has no room left, goes on without.
  navigator.serviceWorker.register(worker, { scope }).then(keepThisPage).catch(() => {});
}

// The first page of a sitting came before there was a worker to keep it.
async function keepThisPage() {
  await navigator.serviceWorker.ready;
  const { session } = document.body.dataset;
  const pages = await caches.open(CACHE);
  if (await pages.match(session)) return;
  const page = await fetch(session).catch(() => null);
  if (page?.headers.get("Lineup-Page") === "work") await pages.put(session, page);
}

async function leaveNothingBehind() {
  forgetAnswers();
  forgetSitting();
  if (!window.caches) return;
  const pages = await caches.open(CACHE);
  await pages.delete(document.body.dataset.session);
}
return { isServed, workOffline, leaveNothingBehind };
})();

// The last page, whole.

const { openOutbox } = $outbox;
const { showNotices, tellOfRefused } = $told;
const { leaveNothingBehind } = $offline;

// There is no question left to bring back.
document.addEventListener("answer:refused", ({ detail: { answer, reply } }) => tellOfRefused(answer, reply));
document.addEventListener("answer:saved", ({ detail: { reply } }) => reply.notices && showNotices(reply.notices));
document.addEventListener("outbox:empty", leaveNothingBehind, { once: true });
openOutbox();
