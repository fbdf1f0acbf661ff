// Send once more, on the picture that is chosen, so that a hand with a mouse has no way to go. Keys and screen readers have
// Send itself.

const LEAST_GAP = 8;
const stage = document.querySelector("[data-stage]");
const here = document.createElement("button");
here.type = "button";
here.className = "send-here";
here.tabIndex = -1;
here.ariaHidden = "true";
let wasSent = false;

function place() {
  const option = stage.querySelector(".option:has(:checked)");
  if (!option) return here.remove();
  here.textContent = stage.querySelector("[data-send]").firstChild.textContent.trim();
  here.hidden = false;
  option.append(here);
  here.hidden = isOver(option.querySelector(".choice > span"));
}

// A narrow card has no room for it beside its name.
function isOver(name) {
  const [one, other] = [here, name].map((element) => element.getBoundingClientRect());
  return one.left < other.right + LEAST_GAP && other.left < one.right + LEAST_GAP;
}

here.addEventListener("click", () => {
  const send = stage.querySelector("[data-send]");
  if (send.disabled) return;
  wasSent = true;
  send.form.requestSubmit(send);
});

// The second click of a double click falls on a picture of the next question: it chooses nothing.
document.addEventListener(
  "click",
  (event) => {
    if (event.detail < 2) wasSent = false;
    else if (wasSent) {
      event.preventDefault();
      event.stopPropagation();
    }
  },
  true,
);

document.addEventListener("change", place);
document.addEventListener("question:shown", place);
window.addEventListener("resize", place);
