// The last page, whole.

import "./end.js";
import { openOutbox } from "./outbox.js";
import { say } from "./told.js";
import { leaveNothingBehind } from "./offline.js";

// There is no question left to bring back.
document.addEventListener("answer:refused", ({ detail: { reply } }) => say(reply.error));
document.addEventListener("outbox:empty", leaveNothingBehind, { once: true });
openOutbox();
