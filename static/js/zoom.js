// One image as large as the window, and the others of the question in the same place behind it to flip through.

const dialog = document.getElementById("zoom");
const title = dialog.querySelector("[data-zoom-title]");
const stage = dialog.querySelector("[data-zoom-stage]");
const choose = dialog.querySelector("[data-zoom-choose]");
const label = dialog.querySelector("[data-zoom-label]");
let links = [];
let current = 0;

const optionOf = (link) => link.closest("[data-option]");
const inputOf = (link) => optionOf(link)?.querySelector("[name=choice]");

// Whoever opened it by mouse goes on with the keys where the choice is, so that Enter sends.
const focusChosen = () => document.querySelector("[data-stage] [name=choice]:checked")?.focus({ preventScroll: true });

function enlarge(link) {
  const small = link.querySelector("img");
  const image = new Image();
  image.src = small.currentSrc;
  image.alt = small.alt;
  // `width` of the markup is the original's; where the page shows a smaller rendition, the full one takes its place.
  if (Number(small.getAttribute("width")) > small.naturalWidth) {
    const full = new Image();
    full.src = link.href;
    full.decode().then(() => (image.src = full.src), () => {});
  }
  return image;
}

function showCurrent() {
  const link = links[current];
  [...stage.children].forEach((image, index) => {
    image.toggleAttribute("data-current", index === current);
    image.setAttribute("aria-hidden", index !== current);
  });
  title.textContent = link.querySelector("img").alt;
  for (const step of dialog.querySelectorAll("[data-zoom-step]")) step.hidden = links.length < 2;
  const input = inputOf(link);
  choose.hidden = !input;
  if (!input) return;
  choose.setAttribute("aria-pressed", input.checked);
  label.textContent = input.checked ? label.dataset.textChosen : label.dataset.textChoose;
  dialog.querySelector("[data-zoom-digit]").textContent = optionOf(link).dataset.digit;
}

function open(link, byPointer) {
  const form = link.closest("[data-question]");
  links = [...form.querySelectorAll("[data-zoom]")];
  current = links.indexOf(link);
  stage.replaceChildren(...links.map(enlarge));
  dialog.querySelector("[data-zoom-caption]").textContent = form.querySelector("[data-caption]")?.textContent ?? "";
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
    open(link, event.detail > 0);
    return;
  }
  const step = event.target.closest("[data-zoom-step]");
  if (step) {
    current = (current + Number(step.dataset.zoomStep) + links.length) % links.length;
    showCurrent();
  } else if (choose.contains(event.target)) {
    inputOf(links[current]).click();
  } else if (stage.contains(event.target)) {
    dialog.close();
  }
});

document.addEventListener("change", ({ target }) => {
  if (!dialog.open || target.name !== "choice") return;
  const chosen = links.findIndex((link) => optionOf(link)?.contains(target));
  if (chosen >= 0) current = chosen;
  showCurrent();
});

dialog.addEventListener("close", () => {
  stage.replaceChildren();
  if (dialog.hasAttribute("data-by-pointer")) focusChosen();
});
