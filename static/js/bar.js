// What the bar on top opens and shows: dialogs (links that work as anchors without this), and the time so far.

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) {
    event.preventDefault();
    document.getElementById(opener.dataset.opens).showModal();
    return;
  }
  const dialog = event.target.closest("dialog");
  if (!dialog?.open) return;
  // A click on the dialog element itself, outside all it holds, is a click on its backdrop or padding.
  const bounds = dialog.getBoundingClientRect();
  const outside =
    event.target === dialog &&
    (event.clientX < bounds.left || event.clientX > bounds.right || event.clientY < bounds.top || event.clientY > bounds.bottom);
  if (outside || event.target.closest("[data-closes]")) {
    event.preventDefault();
    dialog.close();
  }
});

const clock = document.querySelector("[data-clock]");
if (clock) {
  const showMinutes = () => {
    const seconds = Number(clock.dataset.clock) + performance.now() / 1000;
    clock.querySelector("[data-minutes]").textContent = Math.floor(seconds / 60);
  };
  showMinutes();
  setInterval(showMinutes, 5000);
}
