// The search of the frame: / and Ctrl K go to it, unless somebody is typing. What it finds stands below it while somebody
// types; arrows choose, Enter opens, Escape closes and then leads back.

const field = document.querySelector("[data-search]");
const form = field?.closest("form");
const list = form?.querySelector("[role='listbox']");
// Says how many were found; on the page from the first time that somebody is in the field.
const count = document.createElement("p");
count.setAttribute("role", "status");
count.className = "visually-hidden";
let cameFrom = null;

const isTyping = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
const options = () => [...list.querySelectorAll("[role='option']")];
const chosen = () => list.querySelector("[aria-selected='true']");

const choose = (option) => {
  chosen()?.setAttribute("aria-selected", "false");
  if (option) {
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", option.id);
  } else {
    field.removeAttribute("aria-activedescendant");
  }
};

const show = (isOpen) => {
  list.hidden = !isOpen;
  field.setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) {
    choose(null);
    count.textContent = "";
  }
};

const step = (by) => {
  const all = options();
  const at = all.indexOf(chosen()) + by;
  // Before the first and after the last is the field itself.
  choose(by < 0 && !chosen() ? all.at(-1) : all[at]);
};

if (field) {
  for (const [name, value] of [
    ["role", "combobox"],
    ["aria-autocomplete", "list"],
    ["aria-controls", list.id],
    ["aria-expanded", "false"],
  ]) {
    field.setAttribute(name, value);
  }
  field.addEventListener("focus", () => form.append(count), { once: true });
  list.addEventListener("htmx:afterSwap", () => {
    const found = options().filter((option) => !("all" in option.dataset)).length;
    show(options().length > 0 && field.value.trim() !== "" && document.activeElement === field);
    if (!list.hidden) {
      count.textContent = found === 0 ? "Nothing found" : `${found} ${found === 1 ? "result" : "results"}`;
    }
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) {
      return;
    }
    if (event.key === "Escape") {
      event.preventDefault();
      if (!list.hidden) {
        show(false);
      } else if (cameFrom?.isConnected) {
        cameFrom.focus();
      } else {
        field.blur();
      }
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && options().length && field.value.trim()) {
      event.preventDefault();
      show(true);
      step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && !list.hidden && chosen()) {
      event.preventDefault();
      chosen().click();
    }
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) {
      show(false);
    }
  });
}

document.addEventListener("keydown", (event) => {
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
  const isControlK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
  if (field && (isSlash || isControlK)) {
    event.preventDefault();
    if (document.activeElement !== field) {
      cameFrom = document.activeElement === document.body ? null : document.activeElement;
    }
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
