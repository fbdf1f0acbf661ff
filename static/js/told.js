// What has to be said about an answer whose question is no longer on the page: at the top, or on the page that follows.

const key = `lineup:told:${document.body.dataset.session}`;

export function say(text) {
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  document.getElementById("main").prepend(notice);
  // Said after it is there, so that it is read aloud.
  notice.textContent = text;
}

export function sayOnTheNextPage(text) {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    say(text);
  }
}

try {
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  if (text) say(text);
} catch {
  // Nothing was left to be said where nothing can be kept.
}
