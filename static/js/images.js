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
