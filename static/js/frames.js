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
