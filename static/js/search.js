// The search of the frame: / and Ctrl K go to it, unless somebody is typing.

const field = document.querySelector("[data-search]");

const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

document.addEventListener("keydown", (event) => {
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
  const isControlK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (field && (isSlash || isControlK)) {
    event.preventDefault();
    field.focus();
    field.select();
  }
});

// A menu closes as menus do: by Escape, and by a click elsewhere.
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest("details.menu[open]");
  if (event.key === "Escape" && menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) {
      menu.open = false;
    }
  }
});
