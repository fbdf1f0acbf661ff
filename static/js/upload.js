// Sends the files of a form in pieces before the form itself: <form data-upload="where an upload begins">. A line that
// breaks costs the piece that was on its way; the server says how much of each file it has, and sending goes on there.

// A piece gets larger while all goes well, and smaller when the line breaks, so that some get through on any line.
const SMALLEST = 1 << 15;
const LARGEST = 1 << 22;
const QUICK = 2000;
const AT_ONCE = 3;
const MOST_TABLES = 30;
const LONGEST_WAIT = 8000;
// The record at the end of a zip, with the longest comment.
const LONGEST_END_OF_ZIP = 22 + 65535;
const LONGEST_SILENCE = 120000;
const NOTHING_TO_IMPORT = "None of these files can be imported. Drop CSV, TSV, JSON, JSONL, Parquet, zip or image files.";

let piece = 1 << 18;

class Refused extends Error {}
// No answer of ours, as after the session has ended: the page says how to sign in and go on.
class NotTaken extends Refused {}

// Files that were dropped onto a form, by their names in the upload.
const dropped = new WeakMap();
// Files that this page has begun to send into an upload that had others before.
const begunHere = new Set();

for (const form of document.querySelectorAll("form[data-upload]")) {
  takeDrops(form);
  form.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if ("withoutFiles" in (button?.dataset ?? {})) {
      for (const field of form.querySelectorAll("input[type=file]")) {
        field.disabled = true;
      }
      return;
    }
    if (form.elements.upload.value) {
      return;
    }
    event.preventDefault();
    const sending = form.querySelector("[data-sending]");
    const told = sending.querySelector("[role=status]");
    const signedOut = form.querySelector("[data-signed-out]");
    signedOut.hidden = true;
    const files = filesOf(form);
    const missing = await problemWith(form, files);
    const nothing = form.querySelector("[data-nothing]");
    nothing.textContent = missing;
    nothing.hidden = !missing;
    if (missing) {
      nothing.focus();
      return;
    }
    sending.hidden = false;
    const names = new Set();
    const twice = files.find(({ part, name }) => names.size === names.add(`${part}/${name}`).size);
    if (twice) {
      told.textContent = `Two files are called ${twice.name}. Choose one of them.`;
      return;
    }
    setBusy(form, true);
    try {
      form.elements.upload.value = await send(form, files, (done, total, note) => {
        sending.querySelector("progress").value = total ? done / total : 1;
        told.textContent = `${size(done)} of ${size(total)} sent. ${note}`;
      });
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      told.textContent = error.message;
      sending.hidden = error instanceof NotTaken;
      signedOut.hidden = !sending.hidden;
      form.toggleAttribute("data-refused", true);
      setBusy(form, false);
      return;
    }
    told.textContent = "All files are uploaded.";
    setBusy(form, false);
    for (const field of form.querySelectorAll("input[type=file]")) {
      field.disabled = true;
    }
    form.requestSubmit(button);
  });
}

// Says before anything is sent what the chosen files lack; "" if nothing. What was chosen stays chosen.
async function problemWith(form, files) {
  if ("into" in form.dataset) {
    return files.some(({ part }) => part === "images") ? "" : "You chose no images. Choose a zip, files or a folder.";
  }
  if (!files.length) {
    return "You chose no files. Choose the data file with your rows, and the images that it names.";
  }
  const zips = files.filter(({ name }) => /\.zip$/i.test(name));
  const hasRows = files.some(({ part }) => part === "rows");
  if (!hasRows && !(await Promise.all(zips.map(({ file }) => mayHaveTable(file)))).includes(true)) {
    return "You chose images, but no data file. Choose the file with your rows too. Your images stay chosen.";
  }
  return "";
}

// Whether a zip contains a table, by its list of files; true where that list cannot be read, so that the server says.
async function mayHaveTable(file) {
  try {
    const end = new DataView(await file.slice(-LONGEST_END_OF_ZIP).arrayBuffer());
    let at = end.byteLength - 22;
    while (end.getUint32(at, true) !== 0x06054b50) {
      at -= 1;
    }
    const [length, start] = [end.getUint32(at + 12, true), end.getUint32(at + 16, true)];
    const list = new DataView(await file.slice(start, start + length).arrayBuffer());
    for (let entry = 0; entry < length; ) {
      const [name, extra, comment] = [28, 30, 32].map((place) => list.getUint16(entry + place, true));
      if (TABLE.test(new TextDecoder().decode(list.buffer.slice(entry + 46, entry + 46 + name)))) {
        return true;
      }
      entry += 46 + name + extra + comment;
    }
    return false;
  } catch {
    return true;
  }
}

// Returns the upload's id once all of it is there; `tell` hears how many bytes of how many, and what is the matter.
async function send(form, files, tell) {
  if (form.hasAttribute("data-refused")) {
    await renewToken(form);
  }
  const token = form.elements.csrfmiddlewaretoken.value;
  const key = `upload ${form.dataset.upload}`;
  const { into, id } = form.dataset;
  const { upload, address, have } = into
    ? { upload: id, address: into, have: await alreadySent(into, tell) }
    : await begun(form.dataset.upload, token, key, digestOf(files), tell);
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  let done = 0;
  const waiting = [];
  for (const entry of files) {
    const there = have[entry.part][entry.name] ?? 0;
    if (into && there && there !== entry.file.size && !begunHere.has(entry.name)) {
      throw new Refused(`You sent a file called ${entry.name} before. Rename it, or leave it out.`);
    }
    begunHere.add(entry.name);
    entry.from = Math.min(there, entry.file.size);
    done += entry.from;
    if (there !== entry.file.size || there === 0) {
      waiting.push(entry);
    }
  }
  tell(done, total, "");
  const refused = new AbortController();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      await sendFile(entry, address, token, (bytes, note) => {
        // Once a file is refused the others end with their next piece, and tell nothing over what is said of it.
        refused.signal.throwIfAborted();
        done += bytes;
        tell(done, total, note);
      });
    }
  });
  try {
    await Promise.all(workers);
  } catch (error) {
    refused.abort();
    throw error;
  }
  sessionStorage.removeItem(key);
  return upload;
}

// Whoever has signed in again has another token, which this page gets without losing what was chosen.
async function renewToken(form) {
  const response = await fetch(location.href);
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const renewed = page.querySelector("form[data-upload] [name=csrfmiddlewaretoken]");
  if (!renewed) {
    throw new NotTaken();
  }
  form.elements.csrfmiddlewaretoken.value = renewed.value;
}

// The files to send: images, and the tables that are ticked, or would be.
function filesOf(form) {
  const takesRows = !("into" in form.dataset);
  const found = filesFound(form).filter(({ part }) => takesRows || part === "images");
  const ticks = new Map([...form.querySelectorAll("[data-tables] input")].map((box) => [box.value, box.checked]));
  return found.filter((entry) => !entry.isFound || entry.part !== "rows" || (ticks.get(entry.name) ?? entry.isTaken));
}

function filesFound(form) {
  const found = [...(dropped.get(form) ?? [])];
  for (const field of form.querySelectorAll("input[type=file]")) {
    const files = [...field.files];
    if ("folder" in field.dataset) {
      found.push(...tellApart(files.map((file) => ({ name: belowFolder(file.webkitRelativePath), file, inFolder: true }))));
    } else {
      found.push(...files.map((file) => ({ part: field.name, name: file.name, file })));
    }
  }
  // Tables among the images of a folder are not meant where somebody chose the file with the rows.
  const isChosen = found.some(({ part, inFolder }) => part === "rows" && !inFolder);
  return found.map((entry) => (isChosen && entry.inFolder ? { ...entry, isTaken: false } : entry));
}

// Of several tables somebody says which have the rows. Those that are likely are ticked.
function showTables(form) {
  const box = form.querySelector("[data-tables]");
  if (!box) {
    return;
  }
  const tables = filesFound(form).filter(({ part, isFound }) => part === "rows" && isFound);
  const own = new Map([...box.querySelectorAll("[data-own]")].map((input) => [input.value, input.checked]));
  box.hidden = tables.length < 2 && tables.every(({ isTaken }) => isTaken);
  const lines = tables.slice(0, box.hidden ? 0 : MOST_TABLES).map(({ name, isTaken }) => {
    const line = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { type: "checkbox", value: name });
    input.checked = own.get(name) ?? isTaken;
    input.toggleAttribute("data-own", own.has(name));
    input.addEventListener("change", () => input.toggleAttribute("data-own", true));
    line.className = "tick";
    line.append(input, ` ${name}`);
    return line;
  });
  const rest = tables.slice(MOST_TABLES);
  const more = rest.length ? `${rest.filter(({ isTaken }) => isTaken).length} of ${rest.length} more are taken too.` : "";
  box.querySelector("div").replaceChildren(...lines, more);
}

// Of a folder, the first of these that it has are its rows: those of a Hugging Face dataset before any other.
const TABLES = [/\.(parquet|arrow)$/i, /(^|\/)metadata\.(csv|jsonl)$/i, /\.(csv|tsv|jsonl?|ya?ml)$/i];
// What `datasets` writes beside the rows.
const BESIDE = /(^|\/)(dataset_infos?|dataset_dict|state)\.json$/i;
const TABLE = /\.(parquet|arrow|csv|tsv|jsonl?|ya?ml)$/i;
const IMAGE = /\.(zip|jpe?g|png|webp|gif|bmp|tiff?)$/i;

const belowFolder = (path) => path.split("/").slice(1).join("/");

// Tells rows from images by the names of files, and leaves out what is neither. Of a folder, not all tables are taken.
function tellApart(files) {
  const inFolder = files.filter((entry) => entry.inFolder);
  const ofFolder = TABLES.find((name) => inFolder.some((entry) => name.test(entry.name)));
  const isTaken = (entry) => !entry.inFolder || ofFolder.test(entry.name);
  // A browser lists a folder in any order.
  const tables = files.filter((entry) => TABLE.test(entry.name)).sort((one, other) => (one.name < other.name ? -1 : 1));
  return [
    ...tables
      .map((entry) => ({ ...entry, part: "rows", isFound: true, isTaken: isTaken(entry) }))
      .filter((entry) => entry.isTaken || !BESIDE.test(entry.name)),
    ...files.filter((entry) => IMAGE.test(entry.name)).map((entry) => ({ ...entry, part: "images" })),
  ];
}

function takeDrops(form) {
  form.addEventListener("change", ({ target }) => target.type === "file" && showTables(form));
  const told = form.querySelector("[data-dropped]");
  if (!told) {
    return;
  }
  form.addEventListener("dragover", (event) => {
    event.preventDefault();
    form.toggleAttribute("data-over", true);
  });
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) {
      form.toggleAttribute("data-over", false);
    }
  });
  form.addEventListener("drop", async (event) => {
    event.preventDefault();
    form.toggleAttribute("data-over", false);
    // After this turn the list of what was dropped is empty.
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    const entries = items.map((item) => item.webkitGetAsEntry()).filter(Boolean);
    const found = (await Promise.all(entries.map((entry) => filesBelow(entry)))).flat();
    // The names in the rows begin inside a folder that was dropped alone.
    const isAlone = entries.length === 1 && entries[0].isDirectory;
    const taken = tellApart(found.map((entry) => (isAlone ? { ...entry, name: belowFolder(entry.name) } : entry)));
    const known = new Map();
    for (const entry of [...(dropped.get(form) ?? []), ...taken]) {
      known.set(`${entry.part}/${entry.name}`, entry);
    }
    dropped.set(form, [...known.values()]);
    told.nextElementSibling.hidden = !known.size;
    told.textContent = taken.length ? listed([...known.values()]) : NOTHING_TO_IMPORT;
    showTables(form);
  });
}

// Returns the files of a dropped file or folder; their names begin with that of the folder.
async function filesBelow(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    const name = entry.fullPath.slice(1);
    return [{ name, file, inFolder: name.includes("/") }];
  }
  const reader = entry.createReader();
  const found = [];
  // A reader gives a large folder in parts, and nothing after the last.
  for (let part = [entry]; part.length; found.push(...part)) {
    part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  }
  return (await Promise.all(found.map((each) => filesBelow(each)))).flat();
}

function listed(files) {
  const names = (wanted) => files.filter(({ part, isTaken = true }) => part === wanted && isTaken).map(({ name }) => name);
  const images = names("images");
  return `Dropped: ${[...names("rows"), ...(images.length > 3 ? [`${images.length} images`] : images)].join(", ")}.`;
}

// A number for the chosen files, by their names, sizes and times.
function digestOf(files) {
  const lines = files.map(({ part, name, file }) => `${part}/${name}/${file.size}/${file.lastModified}`);
  let digest = 0;
  for (const character of lines.sort().join("\n")) {
    digest = (Math.imul(digest, 31) + character.codePointAt(0)) | 0;
  }
  return digest;
}

// What an upload has, to which a form adds files.
async function alreadySent(address, tell) {
  const response = await patiently(() => fetch(address), (text) => tell(0, 0, text));
  if (!response.ok || !isJson(response)) {
    throw new NotTaken();
  }
  return response.json();
}

// The upload of the same files that this tab was at before, if the server still knows it; else a new one.
async function begun(where, token, key, digest, tell) {
  const note = (text) => tell(0, 0, text);
  const known = JSON.parse(sessionStorage.getItem(key) ?? "null");
  if (known?.digest === digest) {
    const response = await patiently(() => fetch(known.address), note);
    if (response.ok && isJson(response)) {
      return { ...known, have: await response.json() };
    }
  }
  const response = await patiently(
    () => fetch(where, { method: "POST", headers: { "X-CSRFToken": token } }),
    note,
  );
  if (!response.ok || !isJson(response)) {
    throw new NotTaken();
  }
  const made = { ...(await response.json()), digest };
  sessionStorage.setItem(key, JSON.stringify(made));
  return { ...made, have: { rows: {}, images: {} } };
}

async function sendFile({ part, name, file, from }, address, token, tell) {
  let at = from;
  do {
    const begin = at;
    const asked = performance.now();
    const where = `${address}${part}/?name=${encodeURIComponent(name)}&offset=${begin}`;
    const response = await patiently(
      // Asked again after the line broke, the server has some of it already, and answers where to go on.
      async () =>
        fetch(where, {
          method: "POST",
          headers: { "X-CSRFToken": token },
          body: await bytesOf(file, name, begin),
          // A line can also be dead without breaking.
          signal: AbortSignal.timeout(LONGEST_SILENCE),
        }),
      (note) => {
        piece = Math.max(piece / 2, SMALLEST);
        tell(0, note);
      },
    );
    if (response.ok && performance.now() - asked < QUICK) {
      piece = Math.min(piece * 2, LARGEST);
    }
    const answer = isJson(response) ? await response.json() : {};
    if (answer.problem || !("have" in answer)) {
      throw answer.problem ? new Refused(answer.problem) : new NotTaken();
    }
    at = answer.have;
    if (response.status === 409 && at === begin) {
      // The server still holds on to the line that broke.
      await pause(500);
    }
    tell(at - begin, "");
  } while (at < file.size);
}

// Reads a piece before it is sent: a browser reports a file that it cannot read as a line that broke.
async function bytesOf(file, name, begin) {
  try {
    return await file.slice(begin, begin + piece).arrayBuffer();
  } catch {
    throw new Refused(`${name} cannot be read: it was changed, moved or deleted since you chose it. Choose it again.`);
  }
}

// Fetches until there is an answer that a retry would not change.
async function patiently(fetching, note) {
  for (let wait = 250; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      const response = await fetching();
      if (response.status < 500) {
        return response;
      }
    } catch (error) {
      if (error instanceof Refused) {
        throw error;
      }
      // The line broke.
    }
    note("The connection was lost. The upload continues automatically.");
    await pause(wait);
  }
}

// Whoever is not signed in any more is led to a page.
function isJson(response) {
  return response.headers.get("Content-Type")?.startsWith("application/json") ?? false;
}

function setBusy(form, busy) {
  for (const button of form.querySelectorAll("button")) {
    button.disabled = busy;
  }
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
