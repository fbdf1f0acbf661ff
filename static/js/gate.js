// Holds Send back while the page's scripts are still on their way. All of them run, or none: when one does not come, or
// they take too long, the page goes on as it does without scripts, and its form says why nothing was measured. Runs
// before there is anything to press.

(() => {
  const LATE_MS = 20000;
  const page = document.documentElement;
  const forms = () => [...document.querySelectorAll("form[data-question]")];
  // Those held ahead are never fetched without scripts.
  const imagesAreThere = () => [...document.querySelectorAll("[data-question] img:not([loading=lazy])")].every((image) => image.complete);
  const isParsed = () => document.readyState !== "loading";

  function hold(form) {
    const hint = form.querySelector("[data-hint]");
    form.querySelector("[data-send]").disabled = true;
    hint.textContent = document.querySelector("[data-stage]").dataset.textStarting;
  }

  function release(form) {
    form.elements.unmeasured.value = page.dataset.scriptsLost;
    form.querySelector("[data-send]").disabled = false;
    form.querySelector("[data-hint]").textContent = "";
  }

  function sentFromHere() {
    try {
      return { ...localStorage };
    } catch {
      // A browser that stores nothing knows of none.
      return {};
    }
  }

  // Says where this answer stands among all that this browser sends. The number is the time, and always more than the
  // number before it, so that a clock that is put back changes no order. All tabs share it; where nothing can be stored,
  // each tab counts as a browser of its own.
  function storedOrder(key) {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  }

  function keepOrder(key) {
    try {
      localStorage.setItem(key, JSON.stringify(order));
    } catch {
      // The page itself remembers it for as long as it is open.
    }
  }

  const newBrowser = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  function readOrder() {
    const key = `lineup:order:${document.body.dataset.session}`;
    const stored = storedOrder(key);
    order = { browser: stored?.browser ?? order?.browser ?? newBrowser(), number: Math.max(stored?.number ?? 0, order?.number ?? 0) };
    keepOrder(key);
    return key;
  }

  function setField(form, name, value) {
    const field = form.elements[name] ?? Object.assign(document.createElement("input"), { type: "hidden", name });
    field.value = value;
    form.append(field);
  }

  function nameOrder(form) {
    const key = readOrder();
    order.number = Math.max(Date.now(), order.number + 1);
    keepOrder(key);
    setField(form, "browser", order.browser);
    setField(form, "send_number", order.number);
  }

  // What was sent about this question from this browser before (kept.js): a page that was made before an answer or a
  // change of one's own arrived is no other browser's. Whoever answers for the first time here saw the question again
  // after all that had been sent by then; what another tab has sent since, they may not know of.
  function nameEarlier(form) {
    const sent = form.elements.replaces ? sentFromHere() : sentBefore;
    const given = JSON.parse(sent[`lineup:given:${document.body.dataset.session}:${form.dataset.slot}`] ?? "[]");
    setField(form, "after", given.join());
  }

  function showState() {
    if (isParsed() && !order) readOrder();
    if (page.dataset.scripts === "running" || !isParsed()) return;
    const isOpen = page.dataset.scripts === "lost" && imagesAreThere();
    for (const form of forms()) (isOpen ? release : hold)(form);
  }

  function giveUp(why) {
    if (page.dataset.scripts !== "starting") return;
    page.dataset.scripts = "lost";
    page.dataset.scriptsLost = why;
    showState();
  }

  const sentBefore = sentFromHere();
  let order = null;
  page.dataset.scripts = "starting";
  document.addEventListener("readystatechange", showState);
  for (const sign of ["load", "error"]) document.addEventListener(sign, showState, true);

  // The file itself, one of those that it needs, or what they do while they start.
  window.addEventListener(
    "error",
    ({ target, filename }) => {
      const isEntry = target instanceof HTMLScriptElement && target.matches("[data-entry]");
      if (isEntry || (target === window && filename?.startsWith(window.location.origin))) giveUp("scripts_lost");
    },
    true,
  );
  setTimeout(() => giveUp("scripts_late"), LATE_MS);

  document.addEventListener(
    "submit",
    (event) => {
      if (!event.target.matches("[data-question]")) return;
      nameOrder(event.target);
      if (page.dataset.scripts === "running") return;
      // Where some scripts run and others do not, none of them has a say.
      event.stopImmediatePropagation();
      if (page.dataset.scripts === "lost" && imagesAreThere()) return nameEarlier(event.target);
      event.preventDefault();
      hold(event.target);
    },
    true,
  );
})();
