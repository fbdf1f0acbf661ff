// Any other page of a session, whole. What this browser has still to send is sent from it too.

import "./bar.js";
import "./comfort.js";
import "./here.js";
import { openOutbox } from "./outbox.js";
import { showNotices, tellOfRefused } from "./told.js";

const { session } = document.body.dataset;
// A page that shows where the session is knows nothing of an answer that arrives after it. A page with a form to fill
// in stays.
const showsSession = window.location.pathname === session;
let isBehind = false;

document.addEventListener("answer:refused", ({ detail: { answer, reply } }) => tellOfRefused(answer, reply));
document.addEventListener("answer:saved", ({ detail: { reply } }) => {
  isBehind = showsSession;
  if (reply.notices) showNotices(reply.notices);
});
document.addEventListener("outbox:empty", () => isBehind && window.location.replace(session));
window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());
openOutbox();
