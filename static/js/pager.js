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
