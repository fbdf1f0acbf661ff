// Browsers leave a link of the graph that gets the focus half out of sight if a part of it is in sight. A press of the
// mouse must not move what it is on, so only links reached by a key are brought into sight.

const graph = document.querySelector("[data-pipeline]");

graph?.addEventListener("focusin", ({ target }) => {
  if (target.matches("a:focus-visible")) target.scrollIntoView({ block: "nearest", inline: "nearest" });
});
