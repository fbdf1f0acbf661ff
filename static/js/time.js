// How long it still takes at one's own pace, and until when the place is kept. What is away from the page is no work.

// As the server counts: analytics/work/working_time.py.
const MOST_SECONDS = 300;
const LAST_ANSWERS = 10;
const FEWEST_ANSWERS = 3;
// The first warning comes early only where that is not before half of the time.
const EARLY_MINUTES = 10;
const SOON_MINUTES = 5;
const LAST_MINUTES = 2;
const TICK_MS = 5000;
const left = document.querySelector("[data-left]");
const until = document.querySelector("[data-until]");
const word = document.querySelector("[data-word]");
const progress = document.querySelector("[data-progress]");
const own = left?.dataset.own ? left.dataset.own.split(",").map(Number) : [];
const estimate = left?.dataset.estimate ? Number(left.dataset.estimate) : null;
const limit = Number(until?.dataset.limit ?? 0);
const warnedAt = [limit < 2 * EARLY_MINUTES ? SOON_MINUTES : EARLY_MINUTES, LAST_MINUTES].filter((each) => each < limit);
const warned = new Set();
let endsAt = until ? Date.now() + Number(until.dataset.until) * 1000 : Infinity;
let moment = until ? new Date(until.dataset.moment) : null;
let answered = Number(progress?.value ?? 0);
let inSight = 0;
let inSightSince = document.hidden ? null : performance.now();

const secondsInSight = () =>
  Math.min((inSight + (inSightSince === null ? 0 : performance.now() - inSightSince)) / 1000, MOST_SECONDS);

function startOver() {
  inSight = 0;
  inSightSince = document.hidden ? null : performance.now();
}

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function showTimeLeft() {
  if (!left) return;
  const each = own.length >= FEWEST_ANSWERS ? median(own.slice(-LAST_ANSWERS)) : estimate;
  const questions = progress.max - answered;
  if (each === null || questions <= 0) left.textContent = "";
  else {
    const seconds = each * questions - Math.min(secondsInSight(), each);
    const minutes = Math.round(seconds / 60);
    const number = minutes.toLocaleString(document.documentElement.lang);
    left.textContent = minutes ? left.dataset.text.replace("{minutes}", number) : left.dataset.textLast;
  }
}

// In the reader's own time zone, from 00:00 to 23:59 with the language's digits; with the day where it is another one.
function clock() {
  const day = moment.toDateString() === new Date().toDateString() ? {} : { day: "numeric", month: "short" };
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return moment.toLocaleString(document.documentElement.lang, { ...day, ...time });
}

function say(name) {
  word.textContent = word.getAttribute(`data-text-${name}`).replace("{time}", clock());
  until.dataset.says = name;
}

function sayNothing() {
  word.textContent = "";
  delete until.dataset.says;
}

function warn() {
  const minutes = (endsAt - Date.now()) / 60000;
  const due = warnedAt.filter((each) => minutes <= each);
  const last = due.at(-1);
  if (last === undefined || warned.has(last) || minutes <= 0) return;
  for (const each of due) warned.add(each);
  say(last);
  const more = until.querySelector("[data-more]");
  if (more) more.hidden = false;
}

function sayHalf() {
  if (until.dataset.says === "half") sayNothing();
  if (until.dataset.half === String(answered) && !until.dataset.says) say("half");
}

function showMoment() {
  for (const words of document.querySelectorAll("[data-until-words]")) words.textContent = clock();
}

async function askForMore(form) {
  const response = await fetch(form.action, { method: "POST", headers: { Accept: "application/json" } });
  const reply = await response.json();
  if (!response.ok || reply.seconds === undefined) throw new Error("The place is kept no longer.");
  endsAt = Date.now() + reply.seconds * 1000;
  moment = new Date(reply.moment);
  warned.clear();
  form.remove();
  showMoment();
  say("more");
}

document.addEventListener("question:shown", startOver);
document.addEventListener("answer:given", () => {
  own.push(secondsInSight());
  answered += 1;
  showTimeLeft();
  if (until) sayHalf();
});
document.addEventListener("visibilitychange", () => {
  if (inSightSince !== null) inSight += performance.now() - inSightSince;
  inSightSince = document.hidden ? null : performance.now();
});
until?.querySelector("[data-more]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  // Answers on their way need not arrive first.
  event.stopPropagation();
  try {
    await askForMore(event.target);
  } catch {
    // The page that follows the form says where the session is.
    event.target.submit();
  }
});

showTimeLeft();
if (left) setInterval(showTimeLeft, TICK_MS);
if (until) {
  showMoment();
  sayHalf();
  warn();
  setInterval(warn, TICK_MS);
}
