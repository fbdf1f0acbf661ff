// Behind the annotators' pages, for when there is no line: keeps the page of questions of each open sitting and the files
// that it consists of. The server puts FILES and RELEASE in front (annotation/views/offline.py). Pages come from the
// network whenever it has them; only a page that the server marks as one of questions is kept, and as soon as the server
// says that the sitting is elsewhere, it is gone. Pictures are in the browser's own cache for good.

const PAGES = "lineup-pages";
const SHELL = `lineup-shell-${RELEASE}`;
const PATIENCE_MS = 10000;
// Of a sitting that nobody came back to.
const LONGEST_MS = 3 * 24 * 60 * 60 * 1000;
// What something on the way says when it cannot reach the server, or the server when it cannot work.
const IS_AWAY = new Set([502, 503, 504]);

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(SHELL).then((shell) => shell.addAll(FILES)));
  self.skipWaiting();
});

async function takeOver() {
  for (const name of await caches.keys()) if (name.startsWith("lineup-shell-") && name !== SHELL) await caches.delete(name);
  await self.clients.claim();
}

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

async function forgetOld(pages) {
  for (const request of await pages.keys()) {
    const page = await pages.match(request);
    if (Date.now() - Date.parse(page.headers.get("Date")) > LONGEST_MS) await pages.delete(request);
  }
}

// Where there is no room for it, the page is shown all the same.
async function keep(response) {
  try {
    await keepOrDelete(response);
  } catch (error) {
    console.warn("This page is not kept for later.", error);
  }
}

async function keepOrDelete(response) {
  const pages = await caches.open(PAGES);
  const { pathname } = new URL(response.url);
  // Any other page of a sitting says that it has ended, or is not at its questions.
  if (response.headers.get("Lineup-Page") === "work") await pages.put(pathname, response);
  else if (response.headers.has("Lineup-Page")) await pages.delete(pathname);
  await forgetOld(pages);
}

// The page learns that it is not new: what was answered since is not asked again.
async function asKept(response) {
  const headers = new Headers(response.headers);
  for (const name of ["Content-Encoding", "Content-Length"]) headers.delete(name);
  return new Response((await response.text()).replace("<body ", "<body data-kept "), { headers });
}

async function showPage(event) {
  const pages = await caches.open(PAGES);
  const found = await pages.match(new URL(event.request.url).pathname);
  const asked = fetch(event.request);
  if (!found) {
    event.waitUntil(asked.then((response) => keep(response.clone()), () => {}));
    return asked;
  }
  const inTime = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  const response = await Promise.race([asked, inTime]).catch(() => undefined);
  if (!response || IS_AWAY.has(response.status)) return asKept(found);
  event.waitUntil(keep(response.clone()));
  return response;
}

// A file of this release is what its name says; any other is asked for.
async function showFile(request) {
  const shell = await caches.open(SHELL);
  try {
    return await fetch(request);
  } catch (error) {
    const found = await shell.match(request);
    if (found) return found;
    throw error;
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate" && /^\/s\/[^/]+\/$/.test(pathname)) event.respondWith(showPage(event));
  else if (FILES.includes(pathname)) event.respondWith(showFile(request));
});
