// Loads and decodes the images of the question shown and, a few at a time, of the questions held ahead. A load that
// fails is tried again for as long as the page is open; how often and how long is sent with the answer.

const AHEAD_AT_ONCE = 3;
const LONGEST_PAUSE_MS = 10000;
const records = new WeakMap();
const loading = new WeakMap();

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const imagesOf = (form) => [...form.querySelectorAll("[data-zoom] img")];
const frameOf = (image) => image.closest("[data-zoom]");

async function load(image, askedAt) {
  const record = { loaded_ms: null, failed_loads: 0 };
  const address = image.src;
  records.set(image, record);
  image.loading = "eager";
  for (;;) {
    try {
      await image.decode();
      break;
    } catch {
      record.failed_loads += 1;
      frameOf(image).dataset.failed = record.failed_loads;
      image.dispatchEvent(new CustomEvent("image:failed", { bubbles: true }));
      await pause(Math.min(LONGEST_PAUSE_MS, 300 * 2 ** record.failed_loads));
      const again = new URL(address);
      again.searchParams.set("try", record.failed_loads);
      image.src = again;
    }
  }
  record.loaded_ms = Math.round(performance.now() - askedAt);
  for (const mark of ["data-loading", "data-failed"]) frameOf(image).removeAttribute(mark);
}

// The images of the first question were asked for with the page itself, those held ahead when their turn came.
function loadAll(form, atOnce, isHeld) {
  for (const image of imagesOf(form)) frameOf(image).toggleAttribute("data-loading", true);
  const rest = imagesOf(form).values();
  const worker = async () => {
    for (const image of rest) await load(image, isHeld ? performance.now() : 0);
  };
  loading.set(form, Promise.all(Array.from({ length: atOnce }, worker)));
}

document.addEventListener("question:held", ({ target }) => loadAll(target, AHEAD_AT_ONCE, true));

document.addEventListener("question:shown", async ({ target }) => {
  if (!loading.has(target)) loadAll(target, imagesOf(target).length, false);
  await loading.get(target);
  // Decoded once already: this waits only where the browser has dropped the pixels meanwhile.
  await Promise.allSettled(imagesOf(target).map((image) => image.decode()));
  if (target.isConnected) target.dispatchEvent(new CustomEvent("question:seen", { bubbles: true }));
});

function paintedSize(image) {
  const scale = Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight);
  return [image.naturalWidth, image.naturalHeight].map((side) => Math.round(side * scale));
}

document.addEventListener("formdata", ({ target, formData }) => {
  if (!target.matches("[data-question]")) return;
  const seen = imagesOf(target).map((image) => ({
    value: image.closest("[data-option]")?.dataset.option ?? image.closest("[data-shown]")?.dataset.shown ?? "image",
    natural: [image.naturalWidth, image.naturalHeight],
    shown: paintedSize(image),
    ...records.get(image),
  }));
  formData.set("images", JSON.stringify(seen));
});
