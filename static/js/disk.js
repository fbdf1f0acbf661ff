// What is on the disk as soon as it says so: a browser that is killed forgets what it wrote to its local storage in the
// last seconds, or the last minute. Where a browser has no such database, or refuses it, all of it is empty.

const opened = new Promise((resolve) => {
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

export async function write(name, change) {
  const database = await opened;
  try {
    const transaction = database.transaction(name, "readwrite", { durability: "strict" });
    change(transaction.objectStore(name));
    transaction.commit?.();
  } catch {
    // The answer is in memory and on its way all the same.
  }
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
