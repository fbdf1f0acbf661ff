// The last page: the way back opens by itself after a while, unless the person wants to stay or to write a comment.

const handover = document.querySelector("[data-redirect]");
const countdown = document.querySelector("[data-countdown]");
const comment = document.querySelector("[data-comment]");
let left = Number(handover?.dataset.redirect);
let timer;

function tick() {
  if (hasNotice()) return stay();
  countdown.hidden = false;
  countdown.querySelector("[data-seconds]").textContent = left;
  if (left <= 0) {
    stay();
    window.location.assign(handover.dataset.redirectTo);
  }
  left -= 1;
}

function stay() {
  clearInterval(timer);
  left = 0;
  if (countdown) countdown.hidden = true;
}

const hasNotice = () => document.querySelector(".answer-notices:not([hidden])") !== null;

// Nobody is sent away while an answer is still on its way from this browser, or before they know what became of one.
document.addEventListener(
  "outbox:empty",
  () => {
    if (!(left > 0) || hasNotice() || comment?.contains(document.activeElement)) return;
    tick();
    timer = setInterval(tick, 1000);
  },
  { once: true },
);

document.querySelector("[data-stay]")?.addEventListener("click", stay);
for (const sign of ["focusin", "input"]) comment?.addEventListener(sign, stay);

document.querySelector("[data-copy]")?.addEventListener("click", async ({ currentTarget }) => {
  const code = document.querySelector("[data-code]");
  window.getSelection().selectAllChildren(code);
  // The clipboard's newer door is closed on plain http.
  if (window.isSecureContext) await navigator.clipboard.writeText(code.textContent);
  else document.execCommand("copy");
  document.querySelector("[data-copied]").textContent = currentTarget.dataset.textCopied;
});
