// The page with questions, whole: what one of these files needs is there, or none of them runs (gate.js).

import "./gated.js";
import "./bar.js";
import "./comfort.js";
import "./here.js";
import "./images.js";
import "./drafts.js";
import "./frames.js";
import "./writing.js";
import "./how_written.js";
import { showFirst } from "./question.js";
import "./pager.js";
import "./send_here.js";
import "./skip.js";
import "./zoom.js";
import "./magnify.js";
import "./keys.js";
import "./time.js";
import "./report.js";
import "./one_action.js";
import { openSitting } from "./flow.js";
import { openOutbox } from "./outbox.js";
import { workOffline } from "./offline.js";

// What is kept for later waits until the line has brought what is asked now.
document.addEventListener("question:seen", workOffline, { once: true });
await openSitting();
openOutbox();
showFirst();
document.documentElement.dataset.scripts = "running";
