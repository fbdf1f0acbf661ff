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
