// Keeps the page for when there is no line, and clears it away at the end (worker.js). Where a browser knows no workers,
// or the site is not served safely, the page works as long as it is open.

import { forgetAnswers } from "./kept.js";
import { forgetSitting } from "./sitting.js";

const CACHE = "lineup-pages";

// Tells whether the server itself would show the page now.
export async function isServed(address) {
  try {
    const { ok, headers } = await fetch(address, { method: "HEAD", cache: "no-store" });
    return ok && headers.has("Lineup-Page");
  } catch {
    return false;
  }
}

export function workOffline() {
  const { worker } = document.body.dataset;
  if (!worker || !navigator.serviceWorker) return;
  const scope = worker.replace(/[^/]*$/, "");
  // A browser that refuses, or has no room left, goes on without.
  navigator.serviceWorker.register(worker, { scope }).then(keepThisPage).catch(() => {});
}

// The first page of a sitting came before there was a worker to keep it.
async function keepThisPage() {
  await navigator.serviceWorker.ready;
  const { session } = document.body.dataset;
  const pages = await caches.open(CACHE);
  if (await pages.match(session)) return;
  const page = await fetch(session).catch(() => null);
  if (page?.headers.get("Lineup-Page") === "work") await pages.put(session, page);
}

export async function leaveNothingBehind() {
  forgetAnswers();
  forgetSitting();
  if (!window.caches) return;
  const pages = await caches.open(CACHE);
  await pages.delete(document.body.dataset.session);
}
