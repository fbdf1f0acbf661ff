// A way on when an image cannot be shown: offered after it has failed often, taken back when it comes after all.

const shownForm = () => document.querySelector("[data-stage] [data-question]");

function offer() {
  const form = shownForm();
  const after = Number(form?.querySelector("[data-skip]")?.dataset.after);
  if (!after) return;
  const failures = [...form.querySelectorAll("[data-failed]")].map((frame) => Number(frame.dataset.failed));
  // Without a connection every image fails, and none is to blame.
  const isOffered = navigator.onLine && Math.max(0, ...failures) >= after;
  for (const part of form.querySelectorAll("[data-skip-offer]")) part.hidden = !isOffered;
}

for (const sign of ["question:shown", "question:seen", "image:failed"]) document.addEventListener(sign, offer);
for (const sign of ["online", "offline"]) window.addEventListener(sign, offer);

// Without a storage the page that follows knows nothing of answers that are still on their way.
function answersArrived() {
  if (document.body.dataset.unsent === undefined) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("outbox:empty", resolve, { once: true }));
}

// Resolves to where to go, or to why not. Only the server says either.
async function skip(button, body) {
  const unreached = { error: button.dataset.textUnreached };
  try {
    const response = await fetch(button.formAction, { method: "POST", body, headers: { Accept: "application/json" } });
    const reply = await response.json();
    return reply.go || reply.error ? reply : unreached;
  } catch {
    return unreached;
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-skip]");
  if (!button) return;
  event.preventDefault();
  if (button.disabled) return;
  const { form } = button;
  button.disabled = true;
  await answersArrived();
  const { go, error } = await skip(button, new URLSearchParams(new FormData(form)));
  if (go) window.location.replace(go);
  button.disabled = false;
  form.querySelector("[data-error]").textContent = error ?? "";
});
