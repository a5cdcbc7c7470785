// The tab's end of the live channel: one connection for all figures, words and sliders of the page. What the server
// has sent of each part is in `shown`, by its name: { at, value }; a part draws the newer one of this and of what the
// script of the page has drawn. A message has whole parts, and a new connection receives all of them.

// After somebody has left for another page: its script has begun before that, or it never came.
const LEAVE_MS = 15_000;
const LOOK_MS = 1000;
// After a click or a key: Streamlit forgets a click where another request comes before its script has begun.
const ACT_MS = 500;
const RETRY_MS = [250, 500, 1000, 2000, 4000];
const live = (window.lrlabLive ??= { shown: {}, dragged: null, tries: 0, leftAt: -Infinity, actedAt: -Infinity });

const running = () => document.querySelector("[data-test-script-state=running]");
const pageOf = (address) => new URL(address, document.baseURI).pathname.split("/").pop();
const leaves = (page) => live.goal !== page && performance.now() < live.leftAt + LEAVE_MS;

// The page that somebody goes to, by a link or by Back. What the page before has sent in the same moment, as a value of
// a number field, would bring it back, at once or a while after the other one has come, for the server answers the last
// request: then the browser goes there again. Where its address was seen already, that of the page before follows it.
function leave(address) {
  [live.goal, live.leftAt] = [pageOf(address), performance.now()];
  clearInterval(live.leaving);
  const there = () => pageOf(location.href) === live.goal;
  let step = there() ? "replaceState" : "pushState";
  live.leaving = setInterval(() => {
    if (there()) step = "replaceState";
    else if (leaves(live.page) && !running()) go(address, step);
    if (performance.now() > live.leftAt + LEAVE_MS) clearInterval(live.leaving);
  }, LOOK_MS);
}
// A page that is visited again has no parameters in its address, and shows its last values. By Back it shows what it did
// before: that is written into the entry of the history that another one of the same page follows, or, where that one
// came before this script, when Back leads to it.
const push = history.pushState.bind(history);
history.pushState = (state, title, address) => {
  const same = !location.search && pageOf(address) === pageOf(location.href);
  if (same) history.replaceState(history.state, "", `${location.pathname}?start=1`);
  push(state, title, address);
};
addEventListener("popstate", () => {
  const bare = !location.search && !location.hash && pageOf(location.href) === live.page;
  // It is this event once more.
  if (bare) go(`${location.pathname}?start=1`, "replaceState");
  else leave(location.href);
});
for (const kind of ["pointerdown", "click", "keydown"]) {
  addEventListener(kind, () => live.send({ act: (live.actedAt = performance.now()) }), true);
}
addEventListener("click", (event) => {
  const link = event.composedPath().find(({ tagName }) => tagName === "A");
  // What Streamlit has not taken is a link to elsewhere.
  if (link?.href && event.defaultPrevented) leave(link.href);
});

// As a link does, in one step of the browser's history; the page is Streamlit's to show.
function go(address, step = "pushState") {
  history[step](null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}

function open() {
  const url = new URL(live.address, document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = (live.socket = new WebSocket(url));
  socket.onopen = () => (live.tries = 0);
  socket.binaryType = "arraybuffer";
  const inflated = new DecompressionStream("deflate-raw");
  const deflated = inflated.writable.getWriter();
  socket.onmessage = ({ data }) => deflated.write(data);
  read(inflated.readable.pipeThrough(new TextDecoderStream()).getReader());
  socket.onclose = () => {
    if (live.socket !== socket) return;
    setTimeout(() => live.socket === socket && open(), RETRY_MS[Math.min(live.tries++, RETRY_MS.length - 1)]);
  };
}

async function read(reader) {
  for (let rest = "", next = await reader.read(); !next.done; next = await reader.read()) {
    const lines = (rest + next.value).split("\n");
    rest = lines.pop();
    for (const line of lines) take(JSON.parse(line));
  }
}

live.send = (frame) => {
  if (live.socket?.readyState === WebSocket.OPEN) live.socket.send(JSON.stringify(frame));
};

// While a slider is dragged, what it shows is drawn and nothing else; when it rests, what the script of the page draws.
// A mouse moves faster than a busy server answers: a position waits for the answer to the one before, or so long.
const HELD_MS = 100;
const drags = new Set();
live.drag = (stream, value) => {
  live.dragged = stream;
  drags.add(stream);
  live.held = { drag: stream, value };
  if (!live.waits) tell();
};
function tell() {
  clearTimeout(live.waits);
  live.waits = live.held && setTimeout(tell, HELD_MS);
  if (live.held) live.send(live.held);
  live.held = null;
}
live.rest = () => (live.dragged = live.held = null);

function take({ stream, at, page, parts }) {
  if (stream === live.dragged) tell();
  if (live.dragged ? stream !== live.dragged : drags.has(stream)) return;
  for (const [name, value] of Object.entries(parts)) live.shown[name] = { at, value };
  window.dispatchEvent(new CustomEvent("lrlab-live", { detail: Object.keys(parts) }));
  document.querySelectorAll("[data-live]").forEach(write);
  if (page !== null) live.over(stream, page, performance.now() + LEAVE_MS);
}

// Words with a live part are HTML of the page, which the script of the page replaces at every run.
function write(place) {
  const { at = 0, value } = live.shown[place.dataset.live] ?? {};
  if (at <= place.dataset.sent || place.written === value) return;
  place.innerHTML = place.written = value;
}

export default function ({ data, setTriggerValue }) {
  // A page before has no part any more that could be drawn alone.
  if (live.page !== data.page) [live.page, window.lrlabRedraw] = [data.page, null];
  live.over = (stream, page, until) => {
    const now = performance.now();
    if (page !== live.page && now > until) return;
    // The request for another page that somebody has just made would be replaced by one for this page.
    const waits = page !== live.page || leaves(page) || running() || now < live.actedAt + ACT_MS;
    if (waits) setTimeout(() => live.over(stream, page, until), 50);
    else (window.lrlabRedraw ?? setTriggerValue)("over", stream);
  };
  if (data.went > (live.went ?? 0)) {
    live.went = data.went;
    go(data.to);
  }
  if (live.address === data.address) return;
  live.address = data.address;
  live.socket?.close();
  open();
}
