// Tabs of one session tell each other what they send and what has been seen. A browser that lacks the channel goes on
// without it: the server decides by the numbers that come with the answers (gate.js).

const { session } = document.body.dataset;

function opened() {
  try {
    return new BroadcastChannel(`lineup:${session}`);
  } catch {
    return null;
  }
}

const channel = opened();

export const tellTabs = (message) => channel?.postMessage(message);

export const hearTabs = (listener) => channel?.addEventListener("message", ({ data }) => listener(data));
