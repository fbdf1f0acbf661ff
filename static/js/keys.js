// Single keys press what is on the page; the page's own listeners do the rest.

const SWITCH_KEY = "lineup:keys";
const ZOOM_KEYS = { z: "[data-closes]", arrowleft: "[data-zoom-step='-1']", arrowright: "[data-zoom-step='1']" };
const zoom = document.getElementById("zoom");
const keysSwitch = document.querySelector("[data-keys-switch]");

const isTyping = (target) =>
  target.isContentEditable || target.matches("textarea, select, input:not([type=radio], [type=checkbox])");

// Digits by their place on the keyboard, so that they work where a digit needs Shift; letters by their place where
// the alphabet is another one.
function nameOf({ key, code, shiftKey }) {
  if (key === "?") return "?";
  if (!shiftKey && code.startsWith("Digit")) return code.slice(5);
  if (key.length === 1 && key > "~" && code.startsWith("Key")) return code.slice(3).toLowerCase();
  return key.toLowerCase();
}

function optionFor(form, name) {
  if (name === "n") return form.querySelector("[data-option][data-none]");
  return [...form.querySelectorAll("[data-option]")].find(
    ({ dataset }) => dataset.digit === name || (/^[a-d]$/.test(name) && dataset.letter?.toLowerCase() === name),
  );
}

function choose(option) {
  const input = option.querySelector("[name=choice]");
  input.click();
  input.focus({ preventScroll: true });
}

function send(form) {
  const button = form.querySelector("[data-send]");
  if (button.disabled) form.dispatchEvent(new CustomEvent("send:early", { bubbles: true }));
  else form.requestSubmit(button);
}

function enlarge(form) {
  const focused = document.activeElement.closest(".option")?.querySelector("[data-zoom]");
  const under = (state) => form.querySelector(`.option${state} [data-zoom]`);
  (focused ?? under(":hover") ?? under(":has(:checked)") ?? form.querySelector("[data-zoom]"))?.click();
}

function pressInZoom(name) {
  const button = ZOOM_KEYS[name] && zoom.querySelector(ZOOM_KEYS[name]);
  button?.click();
  return Boolean(button);
}

function pressOnPage(form, name, target) {
  if (name === "enter" && !target.closest("a, button, summary")) send(form);
  else if (name === "z") enlarge(form);
  else if (name === "i") document.querySelector("[data-opens=instructions]").click();
  else if (name === "f") document.querySelector("[data-opens=report]")?.click();
  else if (name === "?") document.querySelector("[data-opens=keys]").click();
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.defaultPrevented || event.isComposing || event.repeat || !keysSwitch.checked) return;
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(target)) return;
  const form = document.querySelector("[data-stage] [data-question]");
  const dialog = document.querySelector("dialog[open]");
  if (!form || (dialog && dialog !== zoom)) return;
  const name = nameOf(event);
  const option = optionFor(form, name);
  if (option) choose(option);
  else if (!(dialog ? pressInZoom(name) : pressOnPage(form, name, target))) return;
  event.preventDefault();
});

try {
  keysSwitch.checked = localStorage.getItem(SWITCH_KEY) !== "off";
  keysSwitch.addEventListener("change", () => localStorage.setItem(SWITCH_KEY, keysSwitch.checked ? "on" : "off"));
} catch {
  // A browser that stores nothing keeps the switch for as long as the page is open.
}
