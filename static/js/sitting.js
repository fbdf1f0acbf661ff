// What a browser that is started again without a line has to know beyond the page that it kept (worker.js): which
// questions came after the page, and how far the sitting was.

const key = `lineup:sitting:${document.body.dataset.session}`;
let known = { held: [], answered: 0 };

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

// A page that comes from the server holds all that there is to know.
export const isKeptPage = document.body.dataset.kept !== undefined;
if (!isKeptPage) remember({ held: [], answered: 0 });

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
