// What a browser that is started again without a line has to know beyond the page that it kept (worker.js): which
// questions came after the page, which have been answered since, and how far the sitting was.

import { readAll, write } from "./disk.js";

const { session, kept } = document.body.dataset;
const OF_THE_SITTING = ["questions", "given"];
const whole = () => IDBKeyRange.bound([session], [session, []]);

export const isKeptPage = kept !== undefined;

// A page that comes from the server holds all that there is to know.
if (!isKeptPage) write("questions", (questions) => questions.delete(whole()));

export function rememberQuestion(slot, html) {
  write("questions", (questions) => questions.put({ session, slot, html, at: Date.now() }));
}

export function rememberGiven(slot, answered = 0) {
  write("given", (given) => given.put({ session, slot, answered }));
  write("questions", (questions) => questions.delete([session, slot]));
}

export async function restored() {
  const [questions, given] = await Promise.all(OF_THE_SITTING.map(readAll));
  const mine = (records) => records.filter((record) => record.session === session);
  return {
    questions: mine(questions).sort((one, other) => one.at - other.at).map(({ html }) => html),
    given: mine(given).map(({ slot }) => slot),
    answered: Math.max(0, ...mine(given).map(({ answered }) => answered)),
  };
}

export function forgetSitting() {
  for (const name of OF_THE_SITTING) write(name, (records) => records.delete(whole()));
}
