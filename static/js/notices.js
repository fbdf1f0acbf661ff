// Notices of jobs that ended: each is shown once in a browser, the latest two at a time, until somebody dismisses it.

const MOST_SHOWN = 2;
const MOST_REMEMBERED = 200;
const TOLD = "notices-told";
const notices = document.getElementById("job-notices");
const more = document.getElementById("more-notices");
let isOpen = false;

// Two tabs ask at the same time, and a page that is left early may miss the cookie of the answer.
function isTold(key) {
  try {
    const told = JSON.parse(localStorage.getItem(TOLD)) ?? [];
    if (told.includes(key)) return true;
    localStorage.setItem(TOLD, JSON.stringify([...told, key].slice(-MOST_REMEMBERED)));
  } catch {
    // Without storage the server alone knows what was told.
  }
  return false;
}

function arrange() {
  const all = [...notices.querySelectorAll("[data-notice]")];
  const folded = isOpen ? 0 : Math.max(0, all.length - MOST_SHOWN);
  for (const [index, notice] of all.entries()) notice.hidden = index < folded;
  more.hidden = folded === 0;
  more.firstElementChild.textContent = `and ${folded} more`;
}

if (notices) {
  new MutationObserver((changes) => {
    for (const change of changes) {
      for (const added of change.addedNodes) {
        if (added.dataset?.notice && isTold(added.dataset.notice)) added.remove();
      }
    }
    arrange();
  }).observe(notices, { childList: true });
  notices.addEventListener("click", ({ target }) => {
    const notice = target.closest("[data-dismiss]")?.closest("[data-notice]");
    if (!notice) return;
    const others = [...notices.querySelectorAll("[data-notice]:not([hidden])")];
    const next = others[others.indexOf(notice) + 1] ?? others[others.indexOf(notice) - 1];
    notice.remove();
    // By keyboard one goes on where one was.
    (next?.querySelector("[data-dismiss]") ?? document.getElementById("main")).focus();
  });
  more.addEventListener("click", () => {
    isOpen = true;
    arrange();
    notices.querySelector("[data-dismiss]").focus();
  });
}
