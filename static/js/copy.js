// Copies a field or a code: <button data-copies="id of it">. Without a clipboard the text is selected instead.

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copies]");
  if (!button) {
    return;
  }
  const source = document.getElementById(button.dataset.copies);
  const text = source.value ?? source.textContent;
  const status = document.querySelector("[data-copied]");
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = "Copied.";
    button.dataset.done = "";
    setTimeout(() => delete button.dataset.done, 2000);
  } catch {
    select(source);
    status.textContent = "Selected: copy it with your keyboard.";
  }
});

function select(source) {
  if (source.select) {
    source.select();
  } else {
    getSelection().selectAllChildren(source);
  }
}
