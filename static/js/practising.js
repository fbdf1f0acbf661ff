// The page with a practice question, whole; its answer is posted as a form, because the next page tells what was right.

import "./gated.js";
import "./bar.js";
import "./images.js";
import { showFirst } from "./question.js";
import "./skip.js";
import "./zoom.js";
import "./keys.js";

showFirst();
document.documentElement.dataset.scripts = "running";
