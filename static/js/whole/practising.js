// Made of static/js/practising.js and what it imports, by: python -m scripts.join_modules

// gated.js
(() => {
// First among the modules of a page with questions: those after it are not run when the page has gone on without them,
// because an answer may be on its way as a plain form.

if (document.documentElement.dataset.scripts !== "starting") {
  throw new Error("The page has gone on without its scripts.");
}
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

// bar.js
(() => {
// What the bar on top opens: dialogs, links that lead to pages without this.

function open(opener, event) {
  const dialog = document.getElementById(opener.dataset.opens);
  if (!dialog) return;
  event.preventDefault();
  // One at a time: what a menu opens takes its place.
  opener.closest("dialog")?.close();
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) return open(opener, event);
  const dialog = event.target.closest("[data-closes]")?.closest("dialog");
  if (!dialog?.open) return;
  event.preventDefault();
  dialog.close();
});
})();

// comfort.js
(() => {
// Colours, contrast and text size as wished, remembered on this device; early.js sets them on the pages that follow.

const KEY = "lineup:comfort";
const root = document.documentElement;
const settings = [...document.querySelectorAll("[data-comfort] [data-setting]")];

for (const field of settings) field.checked = field.value === (root.dataset[field.dataset.setting] ?? "");

document.addEventListener("change", ({ target }) => {
  if (!settings.includes(target)) return;
  const { setting } = target.dataset;
  if (target.value) root.dataset[setting] = target.value;
  else delete root.dataset[setting];
  const { theme, contrast, text } = root.dataset;
  try {
    localStorage.setItem(KEY, JSON.stringify({ theme, contrast, text }));
  } catch {
    // Kept for as long as the page is open.
  }
});
})();

// here.js
(() => {
// Gives a sign every minute that the page is open. Before the first answer its place would be given to others without.

const EVERY_MS = 60_000;
const { here } = document.body.dataset;

async function giveSign() {
  try {
    const response = await fetch(here, { method: "POST", headers: { Accept: "application/json" } });
    if (!(await response.json()).again) return;
  } catch {
    // No line, or not the server's answer: the next sign may arrive.
  }
  setTimeout(giveSign, EVERY_MS);
}

if (here) setTimeout(giveSign, EVERY_MS);
})();

// images.js
(() => {
// Loads and decodes the images of the question shown, and once they are there, a few at a time and in their order, those
// of the questions held ahead. A load that fails is tried again for as long as the page is open; how often and how long
// is sent with the answer.

const AHEAD_AT_ONCE = 3;
const LONGEST_PAUSE_MS = 10000;
const records = new WeakMap();
const loads = new WeakMap();
const held = [];
let shown = null;
let isSeen = false;
let loadingAhead = 0;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const imagesOf = (form) => [...form.querySelectorAll("[data-zoom] img")];
const frameOf = (image) => image.closest("[data-zoom]");

// Whoever turns their phone meanwhile has the browser let go of one size and fetch another: what it goes on with, or has,
// has not failed.
async function tryOnce(image, turns = 10) {
  try {
    await image.decode();
    return true;
  } catch {
    const hasFailed = image.complete && !image.naturalWidth;
    return turns > 0 && !hasFailed && tryOnce(image, turns - 1);
  }
}

// The sizes that the browser may choose from: their addresses and widths in pixels.
const sizesOf = (image) => [...image.srcset.matchAll(/(\S+) (\d+)w/g)].map(([, address, width]) => ({ address, width: Number(width) }));
const isChosen = (image, { address }) => image.currentSrc.split("?")[0].endsWith(address);

async function goOnTrying(image, sizes, firstTry, askedAt) {
  const record = records.get(image);
  const address = image.src;
  let others;
  for (let came = await firstTry; !came; came = await tryOnce(image)) {
    record.failed_loads += 1;
    frameOf(image).dataset.failed = record.failed_loads;
    image.dispatchEvent(new CustomEvent("image:failed", { bubbles: true }));
    await pause(Math.min(LONGEST_PAUSE_MS, 300 * 2 ** record.failed_loads));
    // Without a line the browser may have another size, from another window.
    others ??= sizes.filter((size) => !isChosen(image, size));
    const again = new URL(address);
    again.searchParams.set("try", record.failed_loads);
    for (const name of ["srcset", "sizes"]) image.removeAttribute(name);
    image.src = others.pop()?.address ?? again;
  }
  record.loaded_ms = Math.round(performance.now() - askedAt);
  for (const mark of ["data-loading", "data-failed"]) frameOf(image).removeAttribute(mark);
}

// `tried` resolves after the first attempt, `loaded` once the image is there.
function load(image, askedAt, priority) {
  if (loads.has(image)) return loads.get(image);
  records.set(image, { loaded_ms: null, failed_loads: 0 });
  image.fetchPriority = priority;
  image.loading = "eager";
  const tried = tryOnce(image);
  const sizes = sizesOf(image);
  loads.set(image, { tried, sizes, loaded: goOnTrying(image, sizes, tried, askedAt) });
  return loads.get(image);
}

// One that fails keeps no place from those after it.
async function loadNextAhead() {
  const next = held.flatMap(imagesOf).find((image) => !loads.has(image));
  if (!isSeen || !next || loadingAhead >= AHEAD_AT_ONCE) return;
  loadingAhead += 1;
  const { tried } = load(next, performance.now(), "low");
  loadNextAhead();
  await tried;
  loadingAhead -= 1;
  loadNextAhead();
}

document.addEventListener("question:held", ({ target }) => {
  for (const image of imagesOf(target)) frameOf(image).toggleAttribute("data-loading", true);
  held.push(target);
  loadNextAhead();
});

document.addEventListener("question:shown", async ({ target }) => {
  // The images of the first question were asked for with the page itself.
  const askedAt = held.includes(target) ? performance.now() : 0;
  if (held.includes(target)) held.splice(held.indexOf(target), 1);
  else for (const image of imagesOf(target)) frameOf(image).toggleAttribute("data-loading", (records.get(image)?.loaded_ms ?? null) === null);
  shown = target;
  isSeen = false;
  await Promise.all(imagesOf(target).map((image) => load(image, askedAt, "high").loaded));
  // Decoded once already: this waits only where the browser has dropped the pixels meanwhile.
  await Promise.allSettled(imagesOf(target).map((image) => image.decode()));
  if (shown !== target || !target.isConnected) return;
  isSeen = true;
  target.dispatchEvent(new CustomEvent("question:seen", { bubbles: true }));
  loadNextAhead();
});

// Where a browser chose from several sizes, it says only how large they all are on the page.
function pixelsOf(image) {
  const width = loads.get(image).sizes.find((size) => isChosen(image, size))?.width ?? image.naturalWidth;
  return [width, Math.round((width * image.naturalHeight) / image.naturalWidth)];
}

function paintedSize(image) {
  const scale = Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight);
  return [image.naturalWidth, image.naturalHeight].map((side) => Math.round(side * scale));
}

document.addEventListener("formdata", ({ target, formData }) => {
  if (!target.matches("[data-question]")) return;
  const seen = imagesOf(target).map((image) => ({
    value: image.closest("[data-option]")?.dataset.option ?? image.closest("[data-shown]")?.dataset.shown ?? "image",
    natural: pixelsOf(image),
    shown: paintedSize(image),
    ...records.get(image),
  }));
  formData.set("images", JSON.stringify(seen));
});
})();

// frames.js
(() => {
// Several images in one place, to flip through by arrows, slider or thumbnails, and one of them beside the marked one.
// All lie over each other and stay painted, so that a flip is a change of opacity and nothing else.

const SWIPE = 50;
// To where reading goes on: from right to left a swipe to the right brings what comes after.
const FORWARD = document.documentElement.dir === "rtl" ? -1 : 1;
const stage = document.querySelector("[data-stage]");
let touched = null;

const part = (form, name) => form.querySelector(`[data-frame-${name}]`);
const framesOf = (form) => [...form.querySelectorAll("[data-one-frame]")];
const currentOf = (frames) => Math.max(0, frames.findIndex((frame) => frame.dataset.current !== undefined));
const isBeside = (form) => part(form, "beside").getAttribute("aria-pressed") === "true";
const pictureOf = (frame) => frame.querySelector("img");

function thumbnail(frame, index) {
  const button = document.createElement("button");
  const small = new Image();
  const name = document.createElement("span");
  small.src = pictureOf(frame).currentSrc || pictureOf(frame).src;
  small.alt = "";
  name.textContent = frame.dataset.marked === undefined ? index + 1 : "★";
  button.append(small, name);
  button.type = "button";
  button.className = "thumb";
  button.dataset.frameTo = index;
  button.toggleAttribute("data-marked", frame.dataset.marked !== undefined);
  button.setAttribute("aria-label", pictureOf(frame).alt);
  return button;
}

function show(form, index, { aloud = true } = {}) {
  const frames = framesOf(form);
  const beside = isBeside(form);
  for (const [place, frame] of frames.entries()) {
    const isShown = place === index || (beside && frame.dataset.marked !== undefined);
    frame.toggleAttribute("data-current", place === index);
    frame.inert = !isShown;
  }
  for (const [place, button] of [...part(form, "strip").children].entries()) {
    if (place === index) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  const slider = part(form, "slider");
  slider.value = index + 1;
  slider.setAttribute("aria-valuetext", pictureOf(frames[index]).alt);
  form.querySelector("[data-frames]").toggleAttribute("data-beside", beside);
  if (aloud) part(form, "said").textContent = pictureOf(frames[index]).alt;
}

// Beside the marked one stands another one, never itself.
function step(form, by) {
  const frames = framesOf(form);
  let next = currentOf(frames);
  do next = (next + by + frames.length) % frames.length;
  while (isBeside(form) && frames[next].dataset.marked !== undefined);
  show(form, next);
}

function toggleBeside(form) {
  const button = part(form, "beside");
  button.setAttribute("aria-pressed", !isBeside(form));
  const frames = framesOf(form);
  const current = currentOf(frames);
  if (isBeside(form) && frames[current].dataset.marked !== undefined) step(form, 1);
  else show(form, current);
}

function showMarked(form) {
  part(form, "beside").setAttribute("aria-pressed", "false");
  show(form, framesOf(form).findIndex((frame) => frame.dataset.marked !== undefined));
}

function goTo(form, index) {
  if (isBeside(form) && framesOf(form)[index].dataset.marked !== undefined) showMarked(form);
  else show(form, index);
}

// A question that came back as it was left stays at the image that it was left at.
document.addEventListener("question:shown", ({ target: form }) => {
  const frames = framesOf(form);
  if (!frames.length || part(form, "strip").firstElementChild) return;
  part(form, "strip").append(...frames.map(thumbnail));
  const marked = frames.findIndex((frame) => frame.dataset.marked !== undefined);
  show(form, Math.max(0, marked), { aloud: false });
});

stage?.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-frame-step], [data-frame-to], [data-frame-target], [data-frame-beside]");
  const form = button?.closest("[data-question]");
  if (!form) return;
  const { frameStep, frameTo, frameTarget } = button.dataset;
  if (frameStep) step(form, Number(frameStep));
  else if (frameTo) goTo(form, Number(frameTo));
  else if (frameTarget !== undefined) showMarked(form);
  else toggleBeside(form);
});

stage?.addEventListener("input", ({ target }) => {
  if (target.matches("[data-frame-slider]")) goTo(target.closest("[data-question]"), Number(target.value) - 1);
});

stage?.addEventListener("pointerdown", ({ target, pointerType, isPrimary, clientX, clientY }) => {
  touched = pointerType !== "mouse" && isPrimary && target.closest("[data-one-frame]") ? { clientX, clientY } : null;
});

stage?.addEventListener("pointerup", ({ target, clientX, clientY }) => {
  const form = touched && target.closest("[data-question]");
  if (!form) return;
  const [across, down] = [clientX - touched.clientX, clientY - touched.clientY];
  if (Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(down)) step(form, across * FORWARD < 0 ? 1 : -1);
});
})();

// writing.js
(() => {
// A text that is written as the answer: how long it is, and whether it may be sent.

const fieldOf = (form) => form.querySelector("[data-writing]");

// As the server counts it: on one line.
const lengthOf = (text) => [...text.trim().replace(/\s+/g, " ")].length;

function whatIsMissing({ dataset, value, form }) {
  const length = lengthOf(value);
  const isLeft = form.elements.not_possible?.checked;
  if (isLeft) return length ? dataset.textBoth : "";
  if (!length) return dataset.textEmpty;
  if (length < dataset.fewest) return dataset.textShort.replace("{missing}", dataset.fewest - length);
  return length > dataset.most ? dataset.textLong.replace("{more}", length - dataset.most) : "";
}

function look(form) {
  const field = form && fieldOf(form);
  if (!field) return;
  field.setCustomValidity(whatIsMissing(field));
  const shown = form.querySelector("[data-length]");
  shown.textContent = lengthOf(field.value).toLocaleString(document.documentElement.lang);
  shown.closest(".length").toggleAttribute("data-over", lengthOf(field.value) > field.dataset.most);
}

document.addEventListener("question:shown", ({ target }) => look(target));
for (const sign of ["input", "change"]) document.addEventListener(sign, ({ target }) => look(target.closest("[data-question]")));
})();

// question.js
const $question = (() => {
// The question that is shown: when it may be sent, and what is measured about answering it.

const stage = document.querySelector("[data-stage]");
let form = null;
let seen = false;
let measured = null;

const isAnswered = () => form.matches(":valid");
// What the question's fields say so far, whatever it asks for.
const chosenFields = () => [...form.querySelectorAll("[name]:checked, textarea[name]")].filter(({ value }) => value);
const hiddenSoFar = () => measured.hidden + (measured.hiddenSince === null ? 0 : performance.now() - measured.hiddenSince);

function showWhetherReady() {
  const hint = form.querySelector("[data-hint]");
  const error = form.querySelector("[data-error]");
  const failed = form.querySelector("[data-failed]");
  const state = form.dataset.final !== undefined ? "final" : failed ? "failed" : !seen ? "loading" : !isAnswered() ? "choose" : "ready";
  // What is written says itself what is missing.
  const missing = state === "choose" && form.querySelector("[data-writing]")?.validationMessage;
  const sentence = missing || stage.getAttribute(`data-text-${state}`);
  // What was said aloud about the state before is true no more, and nothing is said twice.
  if (error.dataset.said && error.textContent === error.dataset.said) error.textContent = "";
  hint.textContent = sentence;
  form.querySelector("[data-send]").disabled = state !== "ready";
}

document.addEventListener("question:shown", ({ target }) => {
  form = target;
  seen = false;
  const now = performance.now();
  measured = { shownAt: now, firstChoice: null, changes: 0, hidden: 0, hiddenSince: document.hidden ? now : null };
  measured.said = new Map(chosenFields().map(({ name, value }) => [name, value]));
  showWhetherReady();
});

document.addEventListener("question:seen", ({ target }) => {
  if (target !== form) return;
  seen = true;
  form.toggleAttribute("data-seen", true);
  showWhetherReady();
});

document.addEventListener("image:failed", ({ target }) => {
  if (form?.contains(target)) showWhetherReady();
});

document.addEventListener("change", ({ target }) => {
  if (!target.name || !form?.contains(target)) return;
  measured.firstChoice ??= performance.now() - measured.shownAt;
  if ((measured.said.get(target.name) ?? target.value) !== target.value) measured.changes += 1;
  measured.said.set(target.name, target.value);
  form.querySelector("[data-error]").textContent = "";
  showWhetherReady();
});

// A text is ready to be sent while its field still has the focus.
document.addEventListener("input", ({ target }) => {
  if (target.name && form?.contains(target)) showWhetherReady();
});

// Whoever sends too early is told why, aloud, in the place of the quiet line.
document.addEventListener("send:early", ({ target }) => {
  if (target !== form) return;
  const hint = form.querySelector("[data-hint]");
  const error = form.querySelector("[data-error]");
  if (!hint.textContent) return;
  error.textContent = error.dataset.said = hint.textContent;
  hint.textContent = "";
});

document.addEventListener("visibilitychange", () => {
  if (!measured) return;
  measured.hidden = hiddenSoFar();
  measured.hiddenSince = document.hidden ? performance.now() : null;
});

document.addEventListener("formdata", ({ target, formData }) => {
  if (target !== form) return;
  if (measured.firstChoice !== null) formData.set("first_choice_ms", Math.round(measured.firstChoice));
  formData.set("send_ms", Math.round(performance.now() - measured.shownAt));
  formData.set("hidden_ms", Math.round(hiddenSoFar()));
  formData.set("changes_of_mind", measured.changes);
  formData.set("window_width", window.innerWidth);
  formData.set("window_height", window.innerHeight);
  formData.delete("unmeasured");
});

function showFirst() {
  const first = document.querySelector("[data-stage] [data-question]");
  if (first && first !== form) first.dispatchEvent(new CustomEvent("question:shown", { bubbles: true }));
}
return { showFirst };
})();

// pager.js
(() => {
// What stands in pages where a window is too small for all of it at once: which of it is in sight, and the ways to the
// rest. The pages themselves are made by the style sheet, and can be swiped without this.

const SEEN_MS = 250;
const stage = document.querySelector("[data-stage]");

const pagesShown = () => stage.querySelector("[data-pages]");
const isPaged = (pages) => pages.scrollWidth > pages.clientWidth + 1;

// From 0; of a part that lies half outside the middle decides.
function inSight(pages) {
  const { left, right } = pages.getBoundingClientRect();
  const places = [...pages.children].map((part) => part.getBoundingClientRect());
  const seen = places.map((box) => (box.left + box.right) / 2 > left && (box.left + box.right) / 2 < right);
  return [seen.indexOf(true), seen.lastIndexOf(true)];
}

function show() {
  const pages = pagesShown();
  const pager = stage.querySelector("[data-pager]");
  if (!pages || !pager) return;
  pager.hidden = !isPaged(pages);
  if (pager.hidden) return;
  const [first, last] = inSight(pages);
  // From left to right in every language.
  const range = `\u2066${first + 1}–${last + 1}\u2069`;
  const shown = first === last ? first + 1 : range;
  const total = pages.children.length;
  pager.querySelector("[data-page]").textContent = pager.dataset.text.replace("{shown}", shown).replace("{total}", total);
  pager.querySelector("[data-page-step='-1']").disabled = first === 0;
  pager.querySelector("[data-page-step='1']").disabled = last === total - 1;
}

function bring(part) {
  part.scrollIntoView({ block: "nearest", inline: "start" });
}

stage.addEventListener("click", ({ target, detail }) => {
  const pages = pagesShown();
  const step = target.closest("[data-page-step]");
  if (step) {
    const [first, last] = inSight(pages);
    bring(pages.children[step.dataset.pageStep === "1" ? last + 1 : Math.max(0, first - (last - first + 1))]);
  }
  // By a hand, not by the arrow keys of somebody who is still choosing.
  if (!detail || !target.matches("[data-pages] [data-group] input") || !isPaged(pages)) return;
  const next = [...pages.children].find((group) => !group.querySelector(":checked"));
  if (next) setTimeout(() => bring(next), SEEN_MS);
});

// What a key chooses comes into sight.
stage.addEventListener("change", ({ target }) => {
  target.closest("[data-pages] > *")?.scrollIntoView({ block: "nearest", inline: "nearest" });
});

stage.addEventListener("scroll", show, { capture: true, passive: true });
document.addEventListener("question:shown", show);
new ResizeObserver(show).observe(stage);
})();

// send_here.js
(() => {
// Send once more, on the picture that is chosen, so that a hand with a mouse has no way to go. Keys and screen readers have
// Send itself.

const LEAST_GAP = 8;
const stage = document.querySelector("[data-stage]");
const here = document.createElement("button");
here.type = "button";
here.className = "send-here";
here.tabIndex = -1;
here.ariaHidden = "true";
let wasSent = false;

function place() {
  const option = stage.querySelector(".option:has(:checked)");
  if (!option) return here.remove();
  here.textContent = stage.querySelector("[data-send]").firstChild.textContent.trim();
  here.hidden = false;
  option.append(here);
  here.hidden = isOver(option.querySelector(".choice > span"));
}

// A narrow card has no room for it beside its name.
function isOver(name) {
  const [one, other] = [here, name].map((element) => element.getBoundingClientRect());
  return one.left < other.right + LEAST_GAP && other.left < one.right + LEAST_GAP;
}

here.addEventListener("click", () => {
  const send = stage.querySelector("[data-send]");
  if (send.disabled) return;
  wasSent = true;
  send.form.requestSubmit(send);
});

// The second click of a double click falls on a picture of the next question: it chooses nothing.
document.addEventListener(
  "click",
  (event) => {
    if (event.detail < 2) wasSent = false;
    else if (wasSent) {
      event.preventDefault();
      event.stopPropagation();
    }
  },
  true,
);

document.addEventListener("change", place);
document.addEventListener("question:shown", place);
window.addEventListener("resize", place);
})();

// skip.js
(() => {
// A way on when an image cannot be shown: offered after it has failed often, taken back when it comes after all.

const shownForm = () => document.querySelector("[data-stage] [data-question]");

function offer() {
  const form = shownForm();
  const after = Number(form?.querySelector("[data-skip]")?.dataset.after);
  if (!after) return;
  const failures = [...form.querySelectorAll("[data-failed]")].map((frame) => Number(frame.dataset.failed));
  // Without a connection every image fails, and none is to blame.
  const isOffered = navigator.onLine && Math.max(0, ...failures) >= after;
  for (const part of form.querySelectorAll("[data-skip-offer]")) part.hidden = !isOffered;
}

for (const sign of ["question:shown", "question:seen", "image:failed"]) document.addEventListener(sign, offer);
for (const sign of ["online", "offline"]) window.addEventListener(sign, offer);

// Without a storage the page that follows knows nothing of answers that are still on their way.
function answersArrived() {
  if (document.body.dataset.unsent === undefined) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("outbox:empty", resolve, { once: true }));
}

// Resolves to where to go, or to why not. Only the server says either.
async function skip(button, body) {
  const unreached = { error: button.dataset.textUnreached };
  try {
    const response = await fetch(button.formAction, { method: "POST", body, headers: { Accept: "application/json" } });
    const reply = await response.json();
    return reply.go || reply.error ? reply : unreached;
  } catch {
    return unreached;
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-skip]");
  if (!button) return;
  event.preventDefault();
  if (button.disabled) return;
  const { form } = button;
  button.disabled = true;
  await answersArrived();
  const { go, error } = await skip(button, new URLSearchParams(new FormData(form)));
  if (go) window.location.replace(go);
  button.disabled = false;
  form.querySelector("[data-error]").textContent = error ?? "";
});
})();

// zoom.js
(() => {
// One image as large as the window, and the others of the question in the same place behind it to flip through; or one
// that stays, and the others beside it.

const ALWAYS_KEY = "lineup:enlarged";
const LONG_PRESS_MS = 450;
const LONG_PRESS_SLACK = 10;
const dialog = document.getElementById("zoom");
const title = dialog.querySelector("[data-zoom-title]");
const stage = dialog.querySelector("[data-zoom-stage]");
const strip = dialog.querySelector("[data-zoom-strip]");
const choose = dialog.querySelector("[data-zoom-choose]");
const label = dialog.querySelector("[data-zoom-label]");
const said = dialog.querySelector("[data-zoom-said]");
const besideButton = dialog.querySelector("[data-zoom-beside]");
const always = dialog.querySelector("[data-zoom-always]");
let frames = [];
let current = 0;
// The image that stays while others are shown beside it.
let kept = null;
let pressing = null;

const shownForm = () => document.querySelector("[data-stage] [data-question]");
const letterOf = (frame) => frame.closest("[data-letter]")?.dataset.letter;
const pictureOf = (frame) => frame.querySelector("img");
const optionOf = (frame) => frame.closest("[data-option]");
const inputOf = (frame) => optionOf(frame)?.querySelector("[name=choice]");
const fullOf = (frame) => (frame.href ? frame : optionOf(frame)?.querySelector("[data-enlarge]"))?.href;
const frameOf = (link) => link.closest("[data-zoom]") ?? link.closest("[data-option]").querySelector("[data-zoom]");

function enlarge(frame, index) {
  const place = document.createElement("div");
  const name = document.createElement("span");
  name.ariaHidden = "true";
  // As the page calls it; a picture that is no answer may have a letter too.
  name.textContent = letterOf(frame) ?? index + 1;
  const small = pictureOf(frame);
  const image = new Image();
  image.src = small.currentSrc || small.src;
  image.alt = small.alt;
  image.draggable = false;
  // `width` of the markup is the original's; where the page shows a smaller rendition, the full one takes its place.
  if (Number(small.getAttribute("width")) > small.naturalWidth && fullOf(frame)) {
    const full = new Image();
    full.src = fullOf(frame);
    full.decode().then(() => (image.src = full.src), () => {});
  }
  place.append(image, name);
  return place;
}

function thumbnail(frame, index) {
  const button = document.createElement("button");
  const small = new Image();
  small.src = pictureOf(frame).currentSrc || pictureOf(frame).src;
  small.alt = "";
  const name = document.createElement("span");
  name.textContent = letterOf(frame) ?? index + 1;
  button.append(small, name);
  button.type = "button";
  button.className = "thumb";
  button.dataset.zoomTo = index;
  button.setAttribute("aria-label", pictureOf(frame).alt);
  return button;
}

// The one that stays is shown already.
function go(by) {
  const next = (from) => (from + by + frames.length) % frames.length;
  current = next(current) === kept ? next(next(current)) : next(current);
}

function showCurrent() {
  if (kept === current) go(1);
  stage.toggleAttribute("data-beside", kept !== null);
  besideButton.setAttribute("aria-pressed", kept !== null);
  [...stage.children].forEach((place, index) => {
    place.toggleAttribute("data-current", index === current);
    place.toggleAttribute("data-kept", index === kept);
    place.setAttribute("aria-hidden", index !== current && index !== kept);
  });
  [...strip.children].forEach((button, index) => {
    if (index === current) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
    button.toggleAttribute("data-chosen", Boolean(inputOf(frames[index])?.checked));
  });
  title.textContent = [kept, current].filter((one) => one !== null).map((one) => pictureOf(frames[one]).alt).join(" | ");
  for (const part of [strip, besideButton, ...dialog.querySelectorAll("[data-zoom-step]")]) part.hidden = frames.length < 2;
  const input = inputOf(frames[current]);
  choose.hidden = !input;
  if (!input) return;
  choose.setAttribute("aria-pressed", input.checked);
  label.textContent = input.checked ? label.dataset.textChosen : label.dataset.textChoose;
  dialog.querySelector("[data-zoom-digit]").textContent = optionOf(frames[current]).dataset.digit;
}

// Whoever opened it by mouse goes on with the keys where the choice is, so that Enter sends.
function focusQuestion() {
  const form = shownForm();
  (form?.querySelector("input:checked") ?? form?.querySelector("[data-heading]"))?.focus({ preventScroll: true });
}

function open(frame, byPointer = false) {
  const form = frame.closest("[data-question]");
  frames = [...form.querySelectorAll("[data-zoom]")];
  current = frames.indexOf(frame);
  kept = null;
  stage.replaceChildren(...frames.map(enlarge));
  strip.replaceChildren(...frames.map(thumbnail));
  said.textContent = "";
  dialog.querySelector("[data-zoom-caption]").textContent = form.querySelector("[data-caption]")?.textContent ?? "";
  dialog.toggleAttribute("data-by-pointer", byPointer);
  showCurrent();
  if (!dialog.open) dialog.showModal();
  dialog.dispatchEvent(new CustomEvent("zoom:opened"));
  title.focus();
}

function send() {
  const form = shownForm();
  const button = form.querySelector("[data-send]");
  if (button.disabled) said.textContent = form.querySelector("[data-hint]").textContent;
  else form.requestSubmit(button);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-stage] [data-enlarge]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(frameOf(link), event.detail > 0);
});

dialog.addEventListener("click", (event) => {
  const step = event.target.closest("[data-zoom-step]");
  const to = event.target.closest("[data-zoom-to]");
  if (step) go(Number(step.dataset.zoomStep));
  else if (to) current = Number(to.dataset.zoomTo);
  else if (besideButton.contains(event.target)) kept = kept === null ? current : null;
  else if (choose.contains(event.target)) inputOf(frames[current]).click();
  else if (event.target.closest("[data-zoom-send]")) return send();
  showCurrent();
  // A button that was clicked does not keep the keys to itself: Enter sends.
  if (dialog.open && event.detail > 0 && event.target.closest("button")) title.focus();
});

document.addEventListener("change", ({ target }) => {
  if (!dialog.open || !shownForm()?.contains(target)) return;
  const chosen = frames.findIndex((frame) => inputOf(frame) === target);
  if (chosen >= 0) current = chosen;
  said.textContent = chosen >= 0 ? "" : `✓ ${target.labels?.[0]?.querySelector("span")?.textContent ?? ""}`;
  showCurrent();
});

// What follows an answer is shown by the page; the next question enlarged too, where that is wished.
document.addEventListener("submit", () => dialog.close(), { capture: true });

document.addEventListener("question:shown", ({ target }) => {
  const first = target.querySelector("[data-zoom]");
  if (always.checked && first) open(first);
});

// What the page has to say about it stands under the dialog.
for (const trouble of ["answer:refused", "image:failed"])
  document.addEventListener(trouble, () => setTimeout(() => dialog.close()));

dialog.addEventListener("close", () => {
  // The event comes late: the next question may be open already.
  if (dialog.open) return;
  stage.replaceChildren();
  strip.replaceChildren();
  if (dialog.hasAttribute("data-by-pointer")) focusQuestion();
});

// A finger that rests on a picture enlarges it.
function stopPressing() {
  clearTimeout(pressing?.timer);
  pressing = null;
}

document.addEventListener("pointerdown", ({ target, pointerType, clientX, clientY }) => {
  stopPressing();
  const frame = target.closest("[data-stage] [data-zoom]");
  if (!frame || pointerType === "mouse") return;
  pressing = { clientX, clientY, timer: setTimeout(() => open(frame, true), LONG_PRESS_MS) };
});

document.addEventListener("pointermove", ({ clientX, clientY }) => {
  if (!pressing) return;
  if (Math.hypot(clientX - pressing.clientX, clientY - pressing.clientY) > LONG_PRESS_SLACK) stopPressing();
});

for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, stopPressing);

document.addEventListener("contextmenu", (event) => {
  if (event.pointerType === "touch" && event.target.closest("[data-stage] [data-zoom]")) event.preventDefault();
});

try {
  always.checked = localStorage.getItem(ALWAYS_KEY) === "on";
  always.addEventListener("change", () => localStorage.setItem(ALWAYS_KEY, always.checked ? "on" : "off"));
} catch {
  // A browser that stores nothing keeps the wish for as long as the page is open.
}
})();

// magnify.js
(() => {
// Closer to the enlarged image and over it: wheel, two fingers, a double click, buttons and keys. All images of the
// question are moved alike, so that a flip compares the same region.

const CLOSEST = 8;
const STEP = 1.5;
const DOUBLE_CLICK = 2.5;
const SWIPE = 60;
// To where reading goes on: from right to left a swipe to the right brings what comes after.
const FORWARD = document.documentElement.dir === "rtl" ? -1 : 1;
const KEY_SHARE = 0.2;
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const dialog = document.getElementById("zoom");
const stage = dialog.querySelector("[data-zoom-stage]");
const percent = dialog.querySelector("[data-zoom-percent]");
const pointers = new Map();
let view = { closer: 1, x: 0, y: 0 };
let gesture = null;

// Where a point of the window lies from the middle of the stage.
function fromMiddle(clientX, clientY) {
  const { left, top, width, height } = stage.getBoundingClientRect();
  return [clientX - left - width / 2, clientY - top - height / 2];
}

function show(closer, x, y) {
  const scale = Math.min(CLOSEST, Math.max(1, closer));
  const within = (value, side) => Math.max(-1, Math.min(1, value / ((side * (scale - 1)) / 2 || 1))) * ((side * (scale - 1)) / 2);
  view = { closer: scale, x: within(x, stage.clientWidth), y: within(y, stage.clientHeight) };
  stage.style.setProperty("--closer", view.closer);
  stage.style.setProperty("--x", `${view.x}px`);
  stage.style.setProperty("--y", `${view.y}px`);
  stage.toggleAttribute("data-closer", scale > 1);
  percent.textContent = `${Math.round(scale * 100)} %`;
}

// What lies under the point stays under it.
function scaleTo(closer, [x, y] = [0, 0]) {
  const scale = Math.min(CLOSEST, Math.max(1, closer));
  const ratio = scale / view.closer;
  show(scale, x - (x - view.x) * ratio, y - (y - view.y) * ratio);
}

function spread() {
  const [one, two] = [...pointers.values()];
  return {
    length: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY),
    middle: fromMiddle((one.clientX + two.clientX) / 2, (one.clientY + two.clientY) / 2),
  };
}

stage.addEventListener(
  "wheel",
  (event) => {
    event.preventDefault();
    scaleTo(view.closer * Math.exp(-event.deltaY / (event.ctrlKey ? 100 : 400)), fromMiddle(event.clientX, event.clientY));
  },
  { passive: false },
);

stage.addEventListener("pointerdown", (event) => {
  stage.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  gesture = { from: event, moved: false, pinched: pointers.size > 1 };
});

stage.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const was = pointers.size === 2 ? spread() : null;
  pointers.set(event.pointerId, event);
  if (was) {
    const now = spread();
    view.x += now.middle[0] - was.middle[0];
    view.y += now.middle[1] - was.middle[1];
    scaleTo((view.closer * now.length) / (was.length || 1), now.middle);
  } else if (view.closer > 1) {
    show(view.closer, view.x + event.clientX - before.clientX, view.y + event.clientY - before.clientY);
  }
  gesture.moved ||= Math.hypot(event.clientX - gesture.from.clientX, event.clientY - gesture.from.clientY) > 5;
});

for (const end of ["pointerup", "pointercancel"]) {
  stage.addEventListener(end, (event) => {
    if (!pointers.delete(event.pointerId) || pointers.size || gesture.pinched || end === "pointercancel") return;
    const [across, down] = [event.clientX - gesture.from.clientX, event.clientY - gesture.from.clientY];
    if (view.closer === 1 && Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(down))
      dialog.querySelector(`[data-zoom-step='${across * FORWARD < 0 ? 1 : -1}']`).click();
  });
}

// One click brings what is under it into the middle, for whoever cannot drag; two go closer, or back to the whole.
stage.addEventListener("click", ({ clientX, clientY, detail }) => {
  if (gesture?.moved) return;
  const [x, y] = fromMiddle(clientX, clientY);
  if (detail === 2) return view.closer > 1 ? show(1, 0, 0) : scaleTo(DOUBLE_CLICK, [x, y]);
  if (detail === 1 && view.closer > 1) show(view.closer, view.x - x, view.y - y);
});

dialog.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-zoom-scale]");
  if (!button) return;
  const way = Number(button.dataset.zoomScale);
  scaleTo(way ? view.closer * STEP ** way : 1);
});

dialog.addEventListener("keydown", (event) => {
  const arrow = ARROWS[event.key];
  if (!arrow || !event.shiftKey) return;
  event.preventDefault();
  show(view.closer, view.x + arrow[0] * KEY_SHARE * stage.clientWidth, view.y + arrow[1] * KEY_SHARE * stage.clientHeight);
});

dialog.addEventListener("zoom:opened", () => {
  pointers.clear();
  show(1, 0, 0);
});
})();

// keys.js
(() => {
// Single keys press what is on the page; the page's own listeners do the rest.

const SWITCH_KEY = "lineup:keys";
// The image after lies where reading goes on.
const [AFTER, BEFORE] = document.documentElement.dir === "rtl" ? ["arrowleft", "arrowright"] : ["arrowright", "arrowleft"];
const ZOOM_KEYS = {
  z: "[data-closes]",
  [BEFORE]: "[data-zoom-step='-1']",
  [AFTER]: "[data-zoom-step='1']",
  "+": "[data-zoom-scale='1']",
  "=": "[data-zoom-scale='1']",
  "-": "[data-zoom-scale='-1']",
  0: "[data-zoom-scale='0']",
  s: "[data-zoom-beside]:not([hidden])",
  enter: "[data-zoom-send]",
};
const zoom = document.getElementById("zoom");
const keysSwitch = document.querySelector("[data-keys-switch]");
let enterIsDown = false;

// What steps through images may be held down.
const STEPS = { [BEFORE]: "[data-frame-step='-1']", [AFTER]: "[data-frame-step='1']" };

const isTyping = (target) =>
  target.isContentEditable || target.matches("textarea, select, input:not([type=radio], [type=checkbox])");

// Digits by their place on the keyboard, so that they work where a digit needs Shift; letters by their place where
// the alphabet is another one.
function nameOf({ key, code, shiftKey }) {
  if (key === "?") return "?";
  if (!shiftKey && code.startsWith("Digit")) return code.slice(5);
  if (key.length === 1 && key > "~" && code.startsWith("Key")) return code.slice(3).toLowerCase();
  return key.toLowerCase();
}

// A question may ask for several answers, each from a group of options: keys answer the one that has the focus, else
// the first that has no answer yet.
function groupFor(form) {
  const groups = [...form.querySelectorAll("[data-group]")];
  const focused = groups.find((group) => group.contains(document.activeElement));
  return focused ?? groups.find((group) => !group.querySelector(":checked")) ?? groups.at(-1) ?? form;
}

function optionFor(group, name) {
  if (name === "n") return group.querySelector("[data-option][data-none]");
  return [...group.querySelectorAll("[data-option]")].find(
    ({ dataset }) => dataset.digit === name || (/^[a-j]$/.test(name) && dataset.letter?.toLowerCase() === name),
  );
}

// The focus stays outside the groups for whoever answers one after another by digits.
function choose(form, group, option) {
  const input = option.querySelector("input");
  input.click();
  if (group === form || group.contains(document.activeElement)) return input.focus({ preventScroll: true });
  const next = groupFor(form);
  (next.querySelector(":checked") ? form.querySelector("[data-send]") : next).scrollIntoView({ block: "nearest" });
}

function send(form) {
  const button = form.querySelector("[data-send]");
  if (button.disabled) form.dispatchEvent(new CustomEvent("send:early", { bubbles: true }));
  else form.requestSubmit(button);
}

function enlarge(form) {
  const focused = document.activeElement.closest(".option, [data-current]")?.querySelector("[data-enlarge]");
  const under = (state) => form.querySelector(`.option${state} [data-enlarge]`);
  const current = form.querySelector("[data-current] [data-enlarge]");
  (focused ?? under(":hover") ?? under(":has(:checked)") ?? current ?? form.querySelector("[data-enlarge]"))?.click();
}

function pressInZoom(name, target) {
  const button = ZOOM_KEYS[name] && zoom.querySelector(ZOOM_KEYS[name]);
  // Enter presses the button that has the focus, where that would do something.
  if (name === "enter" && target.closest("button:not([aria-pressed=true])")) return false;
  button?.click();
  return Boolean(button);
}

// To the answer before: the last one, or from there the one before it.
function goBack() {
  (document.querySelector("[data-earlier]") ?? document.querySelector("[data-change]:not([hidden])"))?.click();
}

// From one image to the next, where several lie over each other, and into the field of the answer.
function pressAmongImages(form, name) {
  const pressed = { ...STEPS, s: "[data-frame-beside]", m: "[data-frame-target]" }[name];
  const button = pressed && form.querySelector(pressed);
  const field = name === "t" && form.querySelector("[data-writing]");
  button?.click();
  if (field) field.focus();
  return Boolean(button || field);
}

// Out of a text: with Escape to the question's other keys, with Enter and Ctrl to what comes next.
function pressInText(event) {
  const { target, key, ctrlKey, metaKey, repeat, isComposing } = event;
  const form = target.closest("[data-stage] [data-question]");
  if (!form || !target.matches("textarea") || isComposing) return;
  if (key === "Escape") form.querySelector("[data-heading]").focus({ preventScroll: true });
  else if (key === "Enter" && (ctrlKey || metaKey) && keysSwitch.checked) {
    if (!repeat) send(form);
  } else return;
  event.preventDefault();
}

function pressOnPage(form, name, target) {
  if (name === "enter" && !target.closest("a, button, summary")) send(form);
  else if (name === "z") enlarge(form);
  else if (name === "i") document.querySelector("[data-opens=instructions]").click();
  else if (name === "u") goBack();
  else if (name === "f") document.querySelector("[data-opens=report]")?.click();
  else if (name === "?") document.querySelector("[data-opens=keys]").click();
  else return pressAmongImages(form, name);
  return true;
}

// A key that is held chooses and sends once: what comes next is looked at before it is answered. Some keyboards at a
// distance repeat without saying so, which is why Enter has to come up between two.
function isHeld(event) {
  const again = event.repeat || (event.key === "Enter" && enterIsDown);
  if (event.key === "Enter") enterIsDown = true;
  return again;
}

document.addEventListener("keyup", ({ key }) => {
  if (key === "Enter") enterIsDown = false;
});

window.addEventListener("blur", () => (enterIsDown = false));

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (isTyping(target)) return pressInText(event);
  const form = document.querySelector("[data-stage] [data-question]");
  const dialog = document.querySelector("dialog[open]");
  const step = !dialog && STEPS[event.key.toLowerCase()];
  if (!(step && form?.querySelector(step)) && isHeld(event)) {
    // The browser itself sends a form, and presses a button, as often as a held Enter repeats.
    if (event.key === "Enter") event.preventDefault();
    return;
  }
  if (event.defaultPrevented || event.isComposing || !keysSwitch.checked) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (!form || (dialog && dialog !== zoom)) return;
  const name = nameOf(event);
  const group = groupFor(form);
  const option = optionFor(group, name);
  if (option) choose(form, group, option);
  else if (!(dialog ? pressInZoom(name, target) : pressOnPage(form, name, target))) return;
  event.preventDefault();
});

try {
  keysSwitch.checked = localStorage.getItem(SWITCH_KEY) !== "off";
  keysSwitch.addEventListener("change", () => localStorage.setItem(SWITCH_KEY, keysSwitch.checked ? "on" : "off"));
} catch {
  // A browser that stores nothing keeps the switch for as long as the page is open.
}
})();

// time.js
(() => {
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
})();

// practice.js
(() => {
// Practice in place: the question that was answered turns right or wrong where it stands, and Enter goes on.

const stage = document.querySelector("[data-stage]");
let onward = null;

function mark(option, verdict, text) {
  option.dataset.verdict = verdict;
  const sign = document.createElement("span");
  const words = document.createElement("span");
  sign.className = "mark";
  sign.textContent = verdict === "right" ? "✓" : "✗";
  words.className = "mark-words";
  words.textContent = ` ${text}`;
  sign.append(words);
  (option.querySelector(".choice") ?? option).append(sign);
}

function tell(form, reply) {
  const panel = new DOMParser().parseFromString(reply.told, "text/html").querySelector("[data-verdict-panel]");
  const { textRight, textOwn } = panel.dataset;
  const isRight = reply.own === reply.right;
  for (const option of form.querySelectorAll("[data-option]")) {
    const value = option.dataset.option;
    if (value === reply.right) mark(option, "right", isRight ? textOwn : textRight);
    else if (value === reply.own) mark(option, "wrong", textOwn);
  }
  for (const field of form.elements) if (field.name) field.disabled = true;
  const send = form.querySelector(".send") ?? form.querySelector("[data-send]");
  send.hidden = true;
  // Live regions speak of what changes in them, so the panel is filled where it stands.
  const place = document.createElement("div");
  place.className = "told";
  form.append(place);
  place.append(panel);
  onward = panel.querySelector("[data-onward]");
  onward.focus({ preventScroll: true });
  panel.scrollIntoView({ block: "nearest" });
  history.replaceState(null, "", reply.address);
}

async function ask(form) {
  const response = await fetch(form.action, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    headers: { Accept: "application/json" },
  });
  const reply = await response.json();
  if (reply.told) return tell(form, reply);
  if (reply.go) return window.location.replace(reply.go);
  form.querySelector("[data-error]").textContent = reply.error;
}

stage.addEventListener("submit", async (event) => {
  const form = event.target;
  if (event.submitter?.hasAttribute("formaction")) return;
  event.preventDefault();
  if (form.dataset.asked !== undefined || form.querySelector("[data-send]").disabled) return;
  form.dataset.asked = "";
  try {
    await ask(form);
  } catch {
    // Without an answer that can be read, the page that follows the form says the same.
    form.submit();
  } finally {
    delete form.dataset.asked;
  }
});

// Before the keys of the question are: it is answered, and all they could do now is to go on. A held Enter does nothing.
document.addEventListener(
  "keydown",
  (event) => {
    if (!onward || document.querySelector("dialog[open]") || event.target.closest("header, button, summary")) return;
    const isEnter = event.key === "Enter";
    if (!isEnter && !/^[0-9a-dn]$/i.test(event.key)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    if (isEnter && !event.repeat) onward.click();
  },
  { capture: true },
);
})();

// The page with a practice question, whole.

const { showFirst } = $question;

showFirst();
document.documentElement.dataset.scripts = "running";
