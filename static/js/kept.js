// Answers on their way are kept in two places until the server has them: in the local storage, which has them at once and
// shows them to every tab, one entry for each, so that tabs cannot write over each other; and on the disk (disk.js).

import { readAll, write } from "./disk.js";
import { noteGiven, SITTING } from "./sitting.js";

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

export function unsent() {
  const stored = keysOf(ANSWER).map(read).filter(Boolean);
  const answers = new Map([...stored, ...own.values()].map((answer) => [answer.submission, answer]));
  return [...answers.values()].filter(({ submission }) => !done.has(submission)).sort((one, other) => one.at - other.at);
}

// The numbers of the answers to one question that were sent from this browser, whichever tab it was.
export const earlier = (slot) => read(GIVEN + slot) ?? [];

function noteAsEarlier({ slot, submission }) {
  const submissions = [...earlier(slot), submission].slice(-MOST_EARLIER);
  attempt(() => localStorage.setItem(GIVEN + slot, JSON.stringify(submissions)));
}

// Resolves once the answer is on the disk, if the browser has one for it. A question is never noted there as answered
// without its answer.
export function keep(given) {
  const answer = { ...given, session, at: Math.max(Date.now(), 1 + (unsent().at(-1)?.at ?? 0)) };
  own.set(answer.submission, answer);
  attempt(() => localStorage.setItem(ANSWER + answer.submission, JSON.stringify(answer)));
  noteAsEarlier(answer);
  return write(["answers", ...SITTING], (on) => {
    on("answers").put(answer);
    noteGiven(on, answer.slot);
  });
}

export function forget({ submission }) {
  done.add(submission);
  own.delete(submission);
  attempt(() => localStorage.removeItem(ANSWER + submission));
  write(["answers"], (on) => on("answers").delete(submission));
}

// Takes back what only the disk still has, because the browser was killed; resolves to how many answers that are.
export async function recover() {
  const found = await readAll("answers");
  const present = new Set([...done, ...unsent().map(({ submission }) => submission)]);
  const lost = found.filter((answer) => answer.session === session && !present.has(answer.submission));
  for (const answer of lost) {
    own.set(answer.submission, answer);
    noteAsEarlier(answer);
  }
  return lost.length;
}

export function forgetAnswers() {
  const all = [ANSWER, GIVEN, OLDER, ARRIVED, ORDER, DRAFT, WRITTEN].flatMap(keysOf);
  for (const key of all) attempt(() => localStorage.removeItem(key));
}

for (const [place, answer] of (read(OLDER) ?? []).entries()) own.set(answer.submission, { ...answer, session, at: place });
attempt(() => {
  for (const answer of own.values()) localStorage.setItem(ANSWER + answer.submission, JSON.stringify(answer));
  localStorage.removeItem(OLDER);
});
