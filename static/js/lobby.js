// Asks again and again whether there is a question by now, and goes there. Whoever asks is led on at once.

const AGAIN_MS = 2000;
const form = document.querySelector("[data-lobby]");
const longest = document.querySelector("[data-longest]");

async function look() {
  try {
    const response = await fetch(form.action, { method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams() });
    const reply = await response.json();
    if (reply.go) return window.location.replace(reply.go);
    // Read aloud only where it says something else.
    if (reply.longest && longest.textContent !== reply.longest) longest.textContent = reply.longest;
  } catch {
    // No line, or not the server's answer: it is asked again all the same.
  }
  setTimeout(look, AGAIN_MS);
}

setTimeout(look, AGAIN_MS);
