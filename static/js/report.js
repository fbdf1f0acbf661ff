// Reporting the question that is shown, in a dialog: nothing that was chosen is lost by it.

const dialog = document.getElementById("report");
const form = dialog?.querySelector("[data-report]");
const thanks = form?.querySelector("[data-thanks]");
const error = form?.querySelector("[data-report-error]");
const shown = () => document.querySelector("[data-stage] [data-question]");

function renew() {
  const { slot } = shown()?.dataset ?? {};
  thanks.textContent = "";
  error.textContent = "";
  if (form.elements.slot.value === slot) return;
  form.reset();
  form.elements.slot.value = slot ?? "";
}

// What is asked of the server about a question comes after the answers before it.
function answersArrived() {
  if (document.body.dataset.unsent === undefined) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("outbox:empty", resolve, { once: true }));
}

async function send() {
  await answersArrived();
  try {
    const body = new URLSearchParams(new FormData(form));
    const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    return await response.json();
  } catch {
    return { error: form.dataset.textUnreached };
  }
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  event.stopPropagation();
  const button = form.querySelector("button");
  if (button.disabled) return;
  button.disabled = true;
  const reply = await send();
  button.disabled = false;
  if (reply.go) window.location.replace(reply.go);
  error.textContent = reply.error ?? "";
  thanks.textContent = reply.thanks ?? "";
});

// However it is opened, it is about the question that is shown then.
document.addEventListener(
  "click",
  ({ target }) => {
    if (form && target.closest("[data-opens=report]")) renew();
  },
  { capture: true },
);
