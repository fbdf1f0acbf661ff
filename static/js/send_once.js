// A form is sent once: a second press that follows at once, as of a double click, sends it no second time.

const DOUBLE_MS = 1000;
const sent = new WeakMap();

// After the scripts of a form, which may send it in their own way.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (event.timeStamp - (sent.get(form) ?? -Infinity) < DOUBLE_MS) event.preventDefault();
  else sent.set(form, event.timeStamp);
});
