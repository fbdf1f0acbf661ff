// What a browser that is started again without a line has to know beyond the page that it kept (worker.js): which
// questions came after the page, and how far the sitting was.

const key = `lineup:sitting:${document.body.dataset.session}`;
let known = { page: "", held: [], answered: 0 };

try {
  known = { ...known, ...JSON.parse(localStorage.getItem(key)) };
} catch {
  // Without a storage every page is a new one.
}

function remember(more) {
  known = { ...known, ...more };
  try {
    localStorage.setItem(key, JSON.stringify(known));
  } catch {
    // Then a restart without a line brings back less.
  }
}

// Every page that the server makes has a number of its own. One that has been open before comes from what was kept.
export function hasBeenOpen(page) {
  if (page === known.page) return true;
  remember({ page, held: [], answered: 0 });
  return false;
}

export const questionsHeld = () => known.held.map(([, html]) => html);
export const answeredSoFar = () => known.answered;
export const rememberAnswered = (answered) => remember({ answered });

export function rememberQuestion(slot, html, isGiven) {
  remember({ held: [...known.held.filter(([other]) => other !== slot && !isGiven(other)), [slot, html]] });
}

export function forgetQuestions() {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
