// Gives a sign every minute that the page is open. Before the first answer its place would be given to others without.

const EVERY_MS = 60_000;
const { here } = document.body.dataset;

async function giveSign() {
  try {
    const response = await fetch(here, { method: "POST", headers: { Accept: "application/json" } });
    if (!(await response.json()).again) return;
  } catch {
    // No line, or not the server's answer: the next sign may arrive.
  }
  setTimeout(giveSign, EVERY_MS);
}

if (here) setTimeout(giveSign, EVERY_MS);
