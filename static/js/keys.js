// Single keys press what is on the page; the page's own listeners do the rest.

const SWITCH_KEY = "lineup:keys";
// The image after lies where reading goes on.
const [AFTER, BEFORE] = document.documentElement.dir === "rtl" ? ["arrowleft", "arrowright"] : ["arrowright", "arrowleft"];
const ZOOM_KEYS = {
  z: "[data-closes]",
  [BEFORE]: "[data-zoom-step='-1']",
  [AFTER]: "[data-zoom-step='1']",
  "+": "[data-zoom-scale='1']",
  "=": "[data-zoom-scale='1']",
  "-": "[data-zoom-scale='-1']",
  0: "[data-zoom-scale='0']",
  s: "[data-zoom-beside]:not([hidden])",
  enter: "[data-zoom-send]",
};
const zoom = document.getElementById("zoom");
const keysSwitch = document.querySelector("[data-keys-switch]");
let enterIsDown = false;

// What steps through images may be held down.
const STEPS = { [BEFORE]: "[data-frame-step='-1']", [AFTER]: "[data-frame-step='1']" };

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

// A question may ask for several answers, each from a group of options: keys answer the one that has the focus, else
// the first that has no answer yet.
function groupFor(form) {
  const groups = [...form.querySelectorAll("[data-group]")];
  const focused = groups.find((group) => group.contains(document.activeElement));
  return focused ?? groups.find((group) => !group.querySelector(":checked")) ?? groups.at(-1) ?? form;
}

function optionFor(group, name) {
  if (name === "n") return group.querySelector("[data-option][data-none]");
  return [...group.querySelectorAll("[data-option]")].find(
    ({ dataset }) => dataset.digit === name || (/^[a-j]$/.test(name) && dataset.letter?.toLowerCase() === name),
  );
}

// The focus stays outside the groups for whoever answers one after another by digits.
function choose(form, group, option) {
  const input = option.querySelector("input");
  input.click();
  if (group === form || group.contains(document.activeElement)) return input.focus({ preventScroll: true });
  const next = groupFor(form);
  (next.querySelector(":checked") ? form.querySelector("[data-send]") : next).scrollIntoView({ block: "nearest" });
}

function send(form) {
  const button = form.querySelector("[data-send]");
  if (button.disabled) form.dispatchEvent(new CustomEvent("send:early", { bubbles: true }));
  else form.requestSubmit(button);
}

function enlarge(form) {
  const focused = document.activeElement.closest(".option, [data-current]")?.querySelector("[data-enlarge]");
  const under = (state) => form.querySelector(`.option${state} [data-enlarge]`);
  const current = form.querySelector("[data-current] [data-enlarge]");
  (focused ?? under(":hover") ?? under(":has(:checked)") ?? current ?? form.querySelector("[data-enlarge]"))?.click();
}

function pressInZoom(name, target) {
  const button = ZOOM_KEYS[name] && zoom.querySelector(ZOOM_KEYS[name]);
  // Enter presses the button that has the focus, where that would do something.
  if (name === "enter" && target.closest("button:not([aria-pressed=true])")) return false;
  button?.click();
  return Boolean(button);
}

// To the answer before: the last one, or from there the one before it.
function goBack() {
  (document.querySelector("[data-earlier]") ?? document.querySelector("[data-change]:not([hidden])"))?.click();
}

// From one image to the next, where several lie over each other, and into the field of the answer.
function pressAmongImages(form, name) {
  const pressed = { ...STEPS, s: "[data-frame-beside]", m: "[data-frame-target]" }[name];
  const button = pressed && form.querySelector(pressed);
  const field = name === "t" && form.querySelector("[data-writing]");
  button?.click();
  if (field) field.focus();
  return Boolean(button || field);
}

// Out of a text: with Escape to the question's other keys, with Enter and Ctrl to what comes next.
function pressInText(event) {
  const { target, key, ctrlKey, metaKey, repeat, isComposing } = event;
  const form = target.closest("[data-stage] [data-question]");
  if (!form || !target.matches("textarea") || isComposing) return;
  if (key === "Escape") form.querySelector("[data-heading]").focus({ preventScroll: true });
  else if (key === "Enter" && (ctrlKey || metaKey) && keysSwitch.checked) {
    if (!repeat) send(form);
  } else return;
  event.preventDefault();
}

function pressOnPage(form, name, target) {
  if (name === "enter" && !target.closest("a, button, summary")) send(form);
  else if (name === "z") enlarge(form);
  else if (name === "i") document.querySelector("[data-opens=instructions]").click();
  else if (name === "u") goBack();
  else if (name === "f") document.querySelector("[data-opens=report]")?.click();
  else if (name === "?") document.querySelector("[data-opens=keys]").click();
  else return pressAmongImages(form, name);
  return true;
}

// A key that is held chooses and sends once: what comes next is looked at before it is answered. Some keyboards at a
// distance repeat without saying so, which is why Enter has to come up between two.
function isHeld(event) {
  const again = event.repeat || (event.key === "Enter" && enterIsDown);
  if (event.key === "Enter") enterIsDown = true;
  return again;
}

document.addEventListener("keyup", ({ key }) => {
  if (key === "Enter") enterIsDown = false;
});

window.addEventListener("blur", () => (enterIsDown = false));

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (isTyping(target)) return pressInText(event);
  const form = document.querySelector("[data-stage] [data-question]");
  const dialog = document.querySelector("dialog[open]");
  const step = !dialog && STEPS[event.key.toLowerCase()];
  if (!(step && form?.querySelector(step)) && isHeld(event)) {
    // The browser itself sends a form, and presses a button, as often as a held Enter repeats.
    if (event.key === "Enter") event.preventDefault();
    return;
  }
  if (event.defaultPrevented || event.isComposing || !keysSwitch.checked) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (!form || (dialog && dialog !== zoom)) return;
  const name = nameOf(event);
  const group = groupFor(form);
  const option = optionFor(group, name);
  if (option) choose(form, group, option);
  else if (!(dialog ? pressInZoom(name, target) : pressOnPage(form, name, target))) return;
  event.preventDefault();
});

try {
  keysSwitch.checked = localStorage.getItem(SWITCH_KEY) !== "off";
  keysSwitch.addEventListener("change", () => localStorage.setItem(SWITCH_KEY, keysSwitch.checked ? "on" : "off"));
} catch {
  // A browser that stores nothing keeps the switch for as long as the page is open.
}
