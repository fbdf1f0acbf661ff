// First among the modules of a page with questions: those after it are not run when the page has gone on without them,
// because an answer may be on its way as a plain form.

if (document.documentElement.dataset.scripts !== "starting") {
  throw new Error("The page has gone on without its scripts.");
}
