// Tells moments in the zone of whoever reads. The server writes them in UTC, which stays there as the title.

const DAY = { day: "numeric", month: "short" };
const MINUTE = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };
const FORMATS = {
  minute: new Intl.DateTimeFormat("en-GB", { ...DAY, year: "numeric", ...MINUTE }),
  second: new Intl.DateTimeFormat("en-GB", { ...DAY, year: "numeric", ...MINUTE, second: "2-digit" }),
  day: new Intl.DateTimeFormat("en-GB", { ...DAY, year: "numeric" }),
  short: new Intl.DateTimeFormat("en-GB", { ...DAY, ...MINUTE }),
};

function tell(within) {
  for (const time of within.querySelectorAll("time[data-moment]:not([title])")) {
    time.title = time.textContent;
    time.textContent = FORMATS[time.dataset.moment].format(new Date(time.dateTime));
  }
}

tell(document);
// What htmx brings later.
document.addEventListener("htmx:load", (event) => tell(event.target.parentElement ?? event.target));
