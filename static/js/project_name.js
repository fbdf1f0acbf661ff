// The short name of a new project follows its name until somebody types one: the server says what it would be.

const form = document.querySelector("form[data-names]");
const { name, slug } = form.elements;
const hint = document.getElementById("slug-hint");
const WAIT_MS = 300;
let timer;
// What the field has without anybody having typed it.
let { followed } = slug.dataset;

name.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(follow, WAIT_MS);
});

async function follow() {
  if (slug.value !== followed) {
    return;
  }
  const asked = name.value;
  const response = await fetch(`${form.dataset.names}?${new URLSearchParams({ name: asked })}`);
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  if (!response.ok || !isJson || name.value !== asked || slug.value !== followed) {
    return;
  }
  const { slug: derived, reason } = await response.json();
  followed = derived;
  slug.value = followed;
  hint.textContent = reason || hint.dataset.follows;
}
