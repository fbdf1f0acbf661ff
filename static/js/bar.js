// What the bar on top opens and shows: dialogs (links that work as anchors without this), and the time so far.

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) {
    event.preventDefault();
    document.getElementById(opener.dataset.opens).showModal();
    return;
  }
  const dialog = event.target.closest("[data-closes]")?.closest("dialog");
  if (!dialog?.open) return;
  event.preventDefault();
  dialog.close();
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
