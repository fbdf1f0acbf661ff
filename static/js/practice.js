// Practice in place: the question that was answered turns right or wrong where it stands, and Enter goes on.

const stage = document.querySelector("[data-stage]");
let onward = null;

function mark(option, verdict, text) {
  option.dataset.verdict = verdict;
  const sign = document.createElement("span");
  const words = document.createElement("span");
  sign.className = "mark";
  sign.textContent = verdict === "right" ? "✓" : "✗";
  words.className = "mark-words";
  words.textContent = ` ${text}`;
  sign.append(words);
  (option.querySelector(".choice") ?? option).append(sign);
}

function tell(form, reply) {
  const panel = new DOMParser().parseFromString(reply.told, "text/html").querySelector("[data-verdict-panel]");
  const { textRight, textOwn } = panel.dataset;
  const isRight = reply.own === reply.right;
  for (const option of form.querySelectorAll("[data-option]")) {
    const value = option.dataset.option;
    if (value === reply.right) mark(option, "right", isRight ? textOwn : textRight);
    else if (value === reply.own) mark(option, "wrong", textOwn);
  }
  for (const field of form.elements) if (field.name) field.disabled = true;
  const send = form.querySelector(".send") ?? form.querySelector("[data-send]");
  send.hidden = true;
  // Live regions speak of what changes in them, so the panel is filled where it stands.
  const place = document.createElement("div");
  place.className = "told";
  form.append(place);
  place.append(panel);
  onward = panel.querySelector("[data-onward]");
  onward.focus({ preventScroll: true });
  panel.scrollIntoView({ block: "nearest" });
  history.replaceState(null, "", reply.address);
}

async function ask(form) {
  const response = await fetch(form.action, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    headers: { Accept: "application/json" },
  });
  const reply = await response.json();
  if (reply.told) return tell(form, reply);
  if (reply.go) return window.location.replace(reply.go);
  form.querySelector("[data-error]").textContent = reply.error;
}

stage.addEventListener("submit", async (event) => {
  const form = event.target;
  if (event.submitter?.hasAttribute("formaction")) return;
  event.preventDefault();
  if (form.dataset.asked !== undefined || form.querySelector("[data-send]").disabled) return;
  form.dataset.asked = "";
  try {
    await ask(form);
  } catch {
    // Without an answer that can be read, the page that follows the form says the same.
    form.submit();
  } finally {
    delete form.dataset.asked;
  }
});

// Before the keys of the question are: it is answered, and all they could do now is to go on. A held Enter does nothing.
document.addEventListener(
  "keydown",
  (event) => {
    if (!onward || document.querySelector("dialog[open]") || event.target.closest("header, button, summary")) return;
    const isEnter = event.key === "Enter";
    if (!isEnter && !/^[0-9a-dn]$/i.test(event.key)) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    if (isEnter && !event.repeat) onward.click();
  },
  { capture: true },
);
