// The last page, whole.

import "./end.js";
import { openOutbox } from "./outbox.js";
import { showNotices, tellOfRefused } from "./told.js";
import { leaveNothingBehind } from "./offline.js";

// There is no question left to bring back.
document.addEventListener("answer:refused", ({ detail: { answer, reply } }) => tellOfRefused(answer, reply));
document.addEventListener("answer:saved", ({ detail: { reply } }) => reply.notices && showNotices(reply.notices));
document.addEventListener("outbox:empty", leaveNothingBehind, { once: true });
openOutbox();
