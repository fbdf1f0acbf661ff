// What the bar on top opens: dialogs, links that lead to pages without this.

function open(opener, event) {
  const dialog = document.getElementById(opener.dataset.opens);
  if (!dialog) return;
  event.preventDefault();
  // One at a time: what a menu opens takes its place.
  opener.closest("dialog")?.close();
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) return open(opener, event);
  const dialog = event.target.closest("[data-closes]")?.closest("dialog");
  if (!dialog?.open) return;
  event.preventDefault();
  dialog.close();
});
