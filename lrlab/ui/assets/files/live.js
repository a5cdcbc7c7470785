// The tab's end of the live channel: one connection for all figures, words and sliders of the page. What the server
// has sent of each part is in `shown`, by its name: { at, value }; a part draws the newer one of this and of what the
// script of the page has drawn. A message has whole parts, and a new connection receives all of them.

// After somebody has left for another page: its script has begun before that, or it never came.
const LEAVE_MS = 15_000;
const TYPED_MS = 2000;
// After a click or a key: Streamlit forgets a click where another request comes before its script has begun.
const ACT_MS = 500;
const RETRY_MS = [250, 500, 1000, 2000, 4000];
const live = (window.lrlabLive ??= { shown: {}, dragged: null, tries: 0, actedAt: -Infinity });

const running = () => document.querySelector("[data-test-script-state=running]");

for (const kind of ["pointerdown", "click", "keydown"]) {
  addEventListener(kind, () => live.send({ act: (live.actedAt = performance.now()) }), true);
}
// A field sends its value when it loses the focus, and the server answers the last request: a link that is followed in
// the same moment would be forgotten, or the value. So the link waits for the script that takes the value.
const FIELD = "input:not([type=range]), textarea";
let typed = false, left = false;
addEventListener("input", ({ target }) => (typed = target.matches(FIELD)), true);
addEventListener("keydown", ({ key }) => (typed &&= key !== "Enter"), true);
addEventListener("pointerdown", ({ target }) => {
  left = typed && target !== document.activeElement;
  typed &&= !left;
}, true);
addEventListener("click", async (event) => {
  const link = event.composedPath().find(({ tagName }) => tagName === "A");
  if (!link || !left || event.ctrlKey || event.metaKey) return;
  left = false;
  event.preventDefault();
  event.stopImmediatePropagation();
  await until(running);
  await until(() => !running());
  link.click();
}, true);

// Waits at most TYPED_MS: a value that is typed as it was begins no script.
async function until(condition) {
  for (const start = performance.now(); !condition() && performance.now() < start + TYPED_MS; ) {
    await new Promise((done) => setTimeout(done, 20));
  }
}

// As a link does; the page is Streamlit's to show.
function go(address, step) {
  history[step](null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}

// Streamlit may write the address of a page in two steps, without its values or on the page before: Back meets neither.
const { pushState } = history;
history.pushState = function (state, title, url) {
  const moves = new URL(url, document.baseURI).pathname !== location.pathname;
  const again = (moves || live.moved) && live.actedAt < live.pushedAt;
  [live.moved, live.pushedAt] = [moves, performance.now()];
  (again ? this.replaceState : pushState).call(this, state, title, url);
};

live.go = (address) => go(address, "pushState");

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

export default function ({ data, parentElement, setTriggerValue }) {
  // One button for the page shows what saves each of its figures.
  const exporting = parentElement.querySelector(".lrlab-export");
  exporting.onclick = () => (exporting.ariaPressed = exporting.ariaPressed !== "true");
  // Large type and thick lines, on every page until it is pressed again.
  const projector = parentElement.querySelector(".lrlab-projector");
  const { classList } = document.documentElement;
  projector.ariaPressed = classList.contains("lrlab-large");
  projector.onclick = () => {
    projector.ariaPressed = classList.toggle("lrlab-large");
    window.dispatchEvent(new Event("lrlab-large"));
  };
  // A page before has no part any more that could be drawn alone.
  if (live.page !== data.page) [live.page, window.lrlabRedraw] = [data.page, null];
  live.over = (stream, page, until) => {
    const now = performance.now();
    // The address names the page that somebody goes to before its script has begun.
    const left = location.pathname.split("/").pop() !== live.page;
    if ((page !== live.page || left) && now > until) return;
    // The request for another page that somebody has just made would be replaced by one for this page.
    const waits = page !== live.page || left || running() || now < live.actedAt + ACT_MS;
    if (waits) setTimeout(() => live.over(stream, page, until), 50);
    else (window.lrlabRedraw ?? setTriggerValue)("over", stream);
  };
  if (data.went > (live.went ?? 0)) {
    live.went = data.went;
    go(data.to, data.step);
  }
  if (live.address === data.address) return;
  live.address = data.address;
  live.socket?.close();
  open();
}
