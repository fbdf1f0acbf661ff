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
