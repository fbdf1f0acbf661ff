// Settling by keyboard: digits choose among the options of the question one is at, J and K go to the next one.

const questions = [...document.querySelectorAll("[data-asked]")];

const isTyping = (target) => target.matches("textarea, select, input:not([type=radio])");

// Where the focus is, otherwise the first question that is still to be seen.
function current() {
  const focused = document.activeElement.closest("[data-asked]");
  return focused ?? questions.find((one) => one.getBoundingClientRect().bottom > 0) ?? questions[0];
}

function choose(digit) {
  const input = current()?.querySelector(`[data-settle] [data-digit="${digit}"]`);
  if (!input) return false;
  input.checked = true;
  input.focus();
  return true;
}

function step(by) {
  const here = questions.indexOf(current());
  const atTop = !document.activeElement.closest("[data-asked]");
  const next = questions[atTop && by > 0 ? here : here + by];
  if (!next) return false;
  next.scrollIntoView({ block: "start" });
  next.querySelector("h2 a").focus({ preventScroll: true });
  return true;
}

document.addEventListener("keydown", (event) => {
  const { key, code, shiftKey, target } = event;
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || isTyping(target)) return;
  const name = !shiftKey && code.startsWith("Digit") ? code.slice(5) : key.toLowerCase();
  const done = /^[0-9]$/.test(name) ? choose(name) : name === "j" ? step(1) : name === "k" && step(-1);
  if (done) event.preventDefault();
});
