// The page with a practice question, whole.

import "./gated.js";
import "./told.js";
import "./bar.js";
import "./comfort.js";
import "./here.js";
import "./images.js";
import "./frames.js";
import "./writing.js";
import { showFirst } from "./question.js";
import "./pager.js";
import "./send_here.js";
import "./skip.js";
import "./zoom.js";
import "./magnify.js";
import "./keys.js";
import "./time.js";
import "./practice.js";

showFirst();
document.documentElement.dataset.scripts = "running";
