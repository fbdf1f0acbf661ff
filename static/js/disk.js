// What is on the disk as soon as it says so: a browser that is killed forgets what it wrote to its local storage in the
// last seconds, or the last minute. Where a browser has no such database, or refuses it, all of it is empty.

// Some browsers' databases say neither yes nor no.
const PATIENCE_MS = 3000;

const opened = new Promise((resolve) => {
  setTimeout(resolve, PATIENCE_MS, null);
  try {
    const opening = indexedDB.open("lineup", 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore("answers", { keyPath: "submission" });
      for (const name of ["questions", "given"]) opening.result.createObjectStore(name, { keyPath: ["session", "slot"] });
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = opening.onblocked = () => resolve(null);
  } catch {
    resolve(null);
  }
});

// What is written to several stores is there whole or not at all. Resolves once it is on the disk, or will never be.
export async function write(names, change) {
  const database = await opened;
  return new Promise((resolve) => {
    try {
      const transaction = database.transaction(names, "readwrite", { durability: "strict" });
      transaction.oncomplete = transaction.onerror = transaction.onabort = () => resolve();
      change((name) => transaction.objectStore(name));
      transaction.commit?.();
    } catch {
      // The answer is in memory and on its way all the same.
      resolve();
    }
  });
}

export async function readAll(name) {
  const database = await opened;
  return new Promise((resolve) => {
    try {
      const asked = database.transaction(name).objectStore(name).getAll();
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => resolve([]);
    } catch {
      resolve([]);
    }
  });
}
