// One image as large as the window, and the others in the same place behind it to flip through.

const dialog = document.getElementById("zoom");
const title = dialog.querySelector("[data-zoom-title]");
const stage = dialog.querySelector("[data-zoom-stage]");
const choose = dialog.querySelector("[data-zoom-choose]");
const label = dialog.querySelector("[data-zoom-label]");
let options = [];
let current = 0;

const inputOf = (option) => option.querySelector("[name=choice]");

// Whoever opened it by mouse goes on with the keys where the choice is, so that Enter sends.
const focusChosen = () =>
  document.querySelector("[data-stage] [name=choice]:checked")?.focus({ preventScroll: true });

function enlarge(option) {
  const small = option.querySelector("img");
  const image = new Image();
  image.src = small.currentSrc;
  image.alt = small.alt;
  // `width` of the markup is the original's; where the page shows a smaller rendition, the full one takes its place.
  if (Number(small.getAttribute("width")) > small.naturalWidth) {
    const full = new Image();
    full.src = option.querySelector("[data-zoom]").href;
    full.decode().then(() => (image.src = full.src), () => {});
  }
  return image;
}

function showCurrent() {
  const option = options[current];
  [...stage.children].forEach((image, index) => {
    image.toggleAttribute("data-current", index === current);
    image.setAttribute("aria-hidden", index !== current);
  });
  const isChosen = inputOf(option).checked;
  title.textContent = option.querySelector("img").alt;
  choose.setAttribute("aria-pressed", isChosen);
  label.textContent = isChosen ? label.dataset.textChosen : label.dataset.textChoose;
  dialog.querySelector("[data-zoom-digit]").textContent = option.dataset.digit;
}

function open(option, byPointer) {
  const form = option.closest("[data-question]");
  options = [...form.querySelectorAll("[data-option]:has(img)")];
  current = options.indexOf(option);
  stage.replaceChildren(...options.map(enlarge));
  dialog.querySelector("[data-zoom-caption]").textContent = form.querySelector("[data-caption]").textContent;
  dialog.toggleAttribute("data-by-pointer", byPointer);
  if (byPointer) focusChosen();
  showCurrent();
  dialog.showModal();
  title.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-stage] [data-zoom]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    open(link.closest("[data-option]"), event.detail > 0);
    return;
  }
  const step = event.target.closest("[data-zoom-step]");
  if (step) {
    current = (current + Number(step.dataset.zoomStep) + options.length) % options.length;
    showCurrent();
  } else if (choose.contains(event.target)) {
    inputOf(options[current]).click();
  } else if (stage.contains(event.target)) {
    dialog.close();
  }
});

document.addEventListener("change", ({ target }) => {
  if (!dialog.open || target.name !== "choice") return;
  const index = options.indexOf(target.closest("[data-option]"));
  if (index >= 0) current = index;
  showCurrent();
});

dialog.addEventListener("close", () => {
  stage.replaceChildren();
  if (dialog.hasAttribute("data-by-pointer")) focusChosen();
});
