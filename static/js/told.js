// What the page says of answers that do not stand: the server's notices, and the reasons why it refused an answer whose
// question has left the page. Each stays, in all tabs, until it is dismissed.

import { hearTabs, tellTabs } from "./tabs.js";

const KEY = `lineup:told:${document.body.dataset.session}`;
const main = document.getElementById("main");
const refused = document.querySelector("[data-refused]");
const own = new Map();

const shownNotices = () => document.querySelector("[data-notices]");

function place(html) {
  const notices = new DOMParser().parseFromString(html, "text/html").querySelector("[data-notices]");
  shownNotices()?.remove();
  if (!notices) return;
  // Set after it is there, so that it is read aloud.
  const list = notices.querySelector("ul");
  const items = [...list.children];
  list.replaceChildren();
  list.setAttribute("role", "alert");
  main.prepend(notices);
  list.append(...items);
}

export function showNotices(html) {
  place(html);
  tellTabs({ notices: html });
}

function stored() {
  try {
    return Object.entries(JSON.parse(localStorage.getItem(KEY)) ?? {});
  } catch {
    return [];
  }
}

const told = () => new Map([...stored(), ...own]);

function store(reasons) {
  try {
    if (reasons.size) localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(reasons)));
    else localStorage.removeItem(KEY);
  } catch {
    // Said for as long as this page is open.
  }
}

function showRefused() {
  const reasons = [...told().values()];
  refused.hidden = !reasons.length;
  const items = reasons.map((text) => Object.assign(document.createElement("li"), { textContent: text }));
  refused.querySelector("ul").replaceChildren(...items);
}

// `heading` names the question, for it is no longer on the page.
export function tellOfRefused({ submission, heading }, { error }) {
  own.set(submission, heading ? `${heading}: ${error}` : error);
  store(told());
  showRefused();
}

function dismissRefused() {
  own.clear();
  store(new Map());
  showRefused();
}

async function dismiss(form) {
  const body = new URLSearchParams(new FormData(form));
  // What the server does not hear of comes back with the next page.
  form.remove();
  main.focus({ preventScroll: true });
  try {
    const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true });
    const { notices } = await response.json();
    if (notices !== undefined) showNotices(notices);
  } catch {
    // No connection.
  }
}

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!form.matches("[data-notices]")) return;
    event.preventDefault();
    // It waits for no answer that is on its way.
    event.stopPropagation();
    dismiss(form);
  },
  { capture: true },
);

refused.querySelector("[data-dismiss]").addEventListener("click", dismissRefused);
hearTabs(({ notices }) => notices !== undefined && place(notices));
window.addEventListener("storage", ({ key }) => key === KEY && showRefused());
showRefused();
