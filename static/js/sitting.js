// What a browser that is started again without a line has to know beyond the page that it kept (worker.js): which
// questions came after the page, which have been answered since, and how far the sitting was.

import { readAll, write } from "./disk.js";

const { session, kept } = document.body.dataset;

export const SITTING = ["questions", "given"];
const whole = () => IDBKeyRange.bound([session], [session, []]);

export const isKeptPage = kept !== undefined;

// A page that comes from the server holds all that there is to know.
if (!isKeptPage) write(["questions"], (on) => on("questions").delete(whole()));

export function rememberQuestion(slot, html) {
  write(["questions"], (on) => on("questions").put({ session, slot, html, at: Date.now() }));
}

export function noteGiven(on, slot, answered = 0) {
  on("given").put({ session, slot, answered });
  on("questions").delete([session, slot]);
}

export function rememberGiven(slot, answered) {
  write(SITTING, (on) => noteGiven(on, slot, answered));
}

export async function restored() {
  const [questions, given] = await Promise.all(SITTING.map(readAll));
  const mine = (records) => records.filter((record) => record.session === session);
  return {
    questions: mine(questions).sort((one, other) => one.at - other.at).map(({ html }) => html),
    given: mine(given).map(({ slot }) => slot),
    answered: Math.max(0, ...mine(given).map(({ answered }) => answered)),
  };
}

export function forgetSitting() {
  write(SITTING, (on) => SITTING.forEach((name) => on(name).delete(whole())));
}
