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
