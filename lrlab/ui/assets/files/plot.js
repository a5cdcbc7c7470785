// One Plotly figure that stays where it is: every update goes through Plotly.react on the same node, so that zoom,
// hidden series and the place of the slider are kept. Colors of text follow the page.

const NARROW = 560;
// Plotly says what was clicked so long after the button is up, at most.
const CLICK_MS = 100;

// Modules beside this one, with its version; in a notebook they are not on a server.
const beside = (name) => window.lrlabFiles?.[name] ?? new URL(name + new URL(import.meta.url).search, import.meta.url);

// What the page sends once: the address of the library, and the template of all figures.
let start;
const started = new Promise((resolve) => (start = resolve));
// The template, as soon as there is a library to draw with.
let shared;
let loading = null;

function library() {
  loading ??= load().catch((error) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function load() {
  const { address, template } = await started;
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = () => reject(new Error("plotly.min.js could not be loaded"));
    document.head.appendChild(script);
  });
  shared = { template: JSON.parse(template) };
}

// Arrays of numbers arrive as bytes; see lrlab/figures/build.py.
const KINDS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

// Numbers as a list.
function listed(values) {
  if (!values?.dtype) return values ?? [];
  const bytes = Uint8Array.from(atob(values.bdata), (letter) => letter.charCodeAt(0));
  return Array.from(new KINDS[values.dtype](bytes.buffer));
}

function pageColors(node) {
  const css = getComputedStyle(node);
  const of = (name, otherwise) => css.getPropertyValue(name).trim() || otherwise;
  return { text: of("--st-text-color", "#7b7f88"), back: of("--st-background-color", "#ffffff"), font: of("--st-font", "") };
}

function themed(layout, node) {
  const { text, back, font } = pageColors(node);
  const label = { ...(layout.hoverlabel ?? {}), bgcolor: back, bordercolor: text, font: { color: text } };
  const own = { ...(layout.font ?? {}), color: text, ...(font && { family: font }) };
  const modebar = { bgcolor: "rgba(0, 0, 0, 0)", color: "#9297a1", activecolor: text };
  return { ...layout, template: shared.template, font: own, hoverlabel: label, modebar };
}

// The colors of curves on a dark page, by those that figures have.
function tonesOf(node) {
  const light = (text) => {
    const hex = text.match(/^#(..)(..)(..)$/)?.slice(1).map((part) => parseInt(part, 16));
    return (hex ?? text.match(/[\d.]+/g) ?? [255]).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
  };
  const { text, back } = pageColors(node);
  const { colorway, meta } = shared.template.layout;
  return new Map(light(back) < light(text) ? colorway.map((color, k) => [color, meta.dark[k]]) : []);
}

function toned(value, tones) {
  if (!tones?.size || value === null) return value;
  if (typeof value === "string") return tones.get(value) ?? value;
  if (Array.isArray(value)) return typeof value[0] === "string" ? value.map((one) => tones.get(one) ?? one) : value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toned(part, tones)]));
}

// A narrow figure shows ends of curves without their names, which stand at its right edge.
const NAMED = 440;
const unnamed = (one) => (one.meta === "end" ? { ...one, x: one.x.slice(0, 1), y: one.y.slice(0, 1), text: [""] } : one);

// The figure of the script of the page, or the newer one that came by the live channel, which has no frames.
function choose(state) {
  const part = window.lrlabLive?.shown[state.part];
  const grown = part && part.at > state.sent ? part.value : null;
  if (grown && state.frames) {
    state.control.stop();
    state.control.bar.hidden = true;
    state.frames = state.source = null;
    tell(state.link, undefined);
  }
  state.figure = grown ?? state.own;
}

// Until then no figure is drawn anew: drawings take half of the browser's time at most, the rest is for clicks. Messages
// that come faster than a slow machine draws would keep it from everything else.
let restsUntil = 0;

function rest() {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, restsUntil - performance.now())));
}

// One drawing at a time: Plotly fails when a second one meets a first that is not finished, as on a busy machine.
function draw(node) {
  const state = node.lrlab;
  if (!state) return Promise.resolve();
  state.wanted = true;
  state.drawing ??= (async () => {
    try {
      while (state.wanted) {
        if (state.ready) await rest();
        state.wanted = false;
        const began = performance.now();
        await paint(node, state);
        restsUntil = 2 * performance.now() - began;
      }
    } finally {
      state.drawing = null;
    }
  })();
  return state.drawing;
}

// The figure at a frame, with this layout. Frames are Plotly's own: name, traces, data, layout.
function framed({ figure, frames }, layout, at, width, tones) {
  const named = width >= NAMED || !figure.data.some((one) => one.meta === "end");
  const data = figure.data.map((one) => toned(named ? one : unnamed(one), tones));
  if (!named) layout = { ...layout, margin: { ...layout.margin, r: undefined } };
  const frame = frames?.[at];
  frame?.traces.forEach((index, k) => (data[index] = { ...data[index], ...toned(frame.data[k], tones) }));
  const notes = frame?.layout?.annotations ?? [];
  const annotations = layout.annotations?.map((note, k) => ({ ...note, ...notes[k] }));
  return { data, layout: annotations ? { ...layout, annotations } : layout };
}

// The figure of a state: in its width, at its frame.
async function paint(node, state) {
  if (!state.figure || !node.isConnected) return;
  const [narrow, at] = [node.clientWidth < NARROW, state.at];
  const { data, layout } = framed(state, themed((narrow && state.narrow) || state.figure.layout, node), at, node.clientWidth, tonesOf(node));
  mark(state, data);
  // A zoom stays where the axes grow with a run: Plotly would drop it for the new range.
  for (const [axis, range] of Object.entries(state.zoom ?? {})) layout[axis] = { ...layout[axis], range, autorange: false };
  const config = {
    displaylogo: false,
    responsive: true,
    displayModeBar: narrow ? false : "hover",
    // Nothing is sent anywhere: Plotly's own offer to share a chart uploads it.
    modeBarButtonsToRemove: ["sendChartToCloud", "toImage", "select2d", "lasso2d", "autoScale2d"],
  };
  // Plotly writes the user's zoom into the layout it is given; a copy keeps ours clean.
  await window.Plotly.react(node, data, structuredClone(layout), config);
  state.control?.say(at);
}

// A file shows what the page shows: the zoom, without the series that are hidden.
async function saved(node, format, millimeters) {
  const state = node.lrlab;
  const { save, INK, NARROW_FILE, PIXELS } = await import(beside("save.js"));
  const narrow = millimeters < NARROW_FILE;
  const chosen = (narrow && state.narrow) || state.figure.layout;
  const layout = { ...chosen, template: shared.template, font: { ...chosen.font, color: INK } };
  for (const [name, axis] of Object.entries(node.layout)) {
    const zoomed = /^[xy]axis\d*$/.test(name) && layout[name] && axis.autorange !== true;
    if (zoomed) layout[name] = { ...layout[name], range: axis.range };
  }
  const figure = framed(state, layout, state.at, millimeters * PIXELS);
  figure.data = figure.data.map((trace, k) => ({ ...trace, visible: node.data[k]?.visible }));
  await save(figure, { name: state.name, title: state.title, format, millimeters });
}

// Say which iteration, or second, the figures of a link show; none while there are no frames.
function tell(link, now) {
  window.lrlabFrames = { ...window.lrlabFrames, [link]: now };
  window.dispatchEvent(new CustomEvent("lrlab-frame", { detail: link }));
}

// What a linked figure shows, for one without frames.
const told = (state) => (state.frames ? undefined : window.lrlabFrames?.[state.link]);

// The runs' newest points at what a linked figure shows.
function mark(state, data) {
  const cursor = (state.marked = told(state));
  if (cursor === undefined) return;
  const runs = data.filter((trace) => trace.meta === "run");
  const points = runs.map((trace) => {
    const [x, y] = [listed(trace.x), listed(trace.y)];
    const k = x.findLastIndex((now) => now <= cursor);
    return [x[k], y[k]];
  });
  const [color, symbol] = [runs.map(({ line }) => line.color), runs.map(({ marker }) => marker.symbol)];
  const look = { size: 12, color, symbol, line: { width: 2, color: "#ffffff" } };
  const [x, y] = [0, 1].map((side) => points.map((point) => point[side]));
  data.push({ type: "scatter", mode: "markers", x, y, marker: look, showlegend: false, hoverinfo: "skip" });
}

// Take note of the ranges that a person chose, until a double click gives them up.
function zoomed(state, event) {
  for (const axis of ["xaxis", "yaxis"]) {
    const range = [event[`${axis}.range[0]`], event[`${axis}.range[1]`]];
    if (state.reset || event[`${axis}.autorange`]) delete state.zoom?.[axis];
    else if (range[0] !== undefined) state.zoom = { ...state.zoom, [axis]: range };
  }
  state.reset = false;
}

function clicked(node, event) {
  const point = event.points?.[0];
  if (!point || !node.lrlab.send) return;
  const value = { x: point.x, y: point.y, curve: point.curveNumber, index: point.pointIndex ?? point.pointNumber };
  const told = point.customdata ?? cellBelow(node, point);
  if (told !== undefined) value.customdata = Array.isArray(told) || ArrayBuffer.isView(told) ? Array.from(told) : [told];
  node.lrlab.send("click", value);
}

// A line that lies over a heat map is nearer to the mouse than its cell, which is what a click means.
function cellBelow(node, { x, y, xaxis, yaxis, data }) {
  const map = node.data.find((trace) => trace.type === "heatmap" && trace.customdata && (trace.xaxis ?? "x") === (data.xaxis ?? "x"));
  const nearest = (values, value, axis) => {
    const place = (each) => (axis.type === "log" ? Math.log(each) : each);
    const distances = listed(values).map((each) => Math.abs(place(each) - place(value)));
    return distances.indexOf(Math.min(...distances));
  };
  return map?.customdata[nearest(map.y, y, yaxis)]?.[nearest(map.x, x, xaxis)];
}

function scrubber(root, node) {
  const bar = root.querySelector(".lrlab-scrub");
  const [play, range, shown] = [bar.querySelector("button"), bar.querySelector("input"), bar.querySelector("output")];
  const state = node.lrlab;
  const stop = () => {
    clearInterval(state.timer);
    state.timer = null;
    play.textContent = "Play";
  };
  const show = (at) => {
    range.value = state.at = Math.max(0, Math.min(state.frames.length - 1, at));
    return draw(node);
  };
  // Once a frame is drawn, which takes a while on a busy machine: its name is not read beside another one.
  const say = (at) => {
    const frame = state.frames?.[at];
    if (!frame || frame === state.said) return;
    state.said = frame;
    shown.textContent = frame.name;
    range.setAttribute("aria-valuetext", shown.textContent);
    // The last frame is the end of every run; its second is rounded, and would come before.
    const last = at === state.frames.length - 1;
    if (state.link) tell(state.link, last ? Infinity : parseFloat(shown.textContent.replace(/^\D+/, "")));
  };
  const go = (milliseconds) => {
    if (state.at >= state.frames.length - 1) show(0);
    play.textContent = "Pause";
    state.timer = setInterval(() => {
      if (!node.isConnected || state.at >= state.frames.length - 1) return stop();
      show(state.at + 1);
    }, Math.max(40, Math.min(400, milliseconds / state.frames.length)));
  };
  // The whole run passes in about six seconds, however many iterates were kept.
  play.onclick = () => (state.timer ? stop() : go(6000));
  range.oninput = () => {
    stop();
    show(Number(range.value));
  };
  return { stop, show, say, go, bar, range };
}

function offerFiles(root, node) {
  const row = root.querySelector(".lrlab-files");
  const [width, failed] = [row.querySelector("select"), root.querySelector(".lrlab-failed")];
  for (const button of row.querySelectorAll("button")) {
    button.onclick = () => {
      failed.textContent = "The file is being made.";
      saved(node, button.dataset.format, Number(width.value)).then(
        () => (failed.textContent = ""),
        (error) => (failed.textContent = `The file could not be made: ${error.message}.`),
      );
    };
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  // Without a figure it fetches the library, while the page is still being written.
  if (!data.figure) {
    parentElement.querySelector(".lrlab-plot")?.remove();
    start(data);
    return void library();
  }
  const root = parentElement.querySelector(".lrlab-plot");
  const node = root.querySelector(".lrlab-figure");
  node.lrlab ??= { at: 0 };
  const state = node.lrlab;
  // The newest one: an older handle belongs to a run of the page that is over.
  state.send = setTriggerValue;
  Object.assign(state, { name: data.name, title: data.label, link: data.link, part: data.part, sent: data.sent });
  root.querySelector(".lrlab-scrub").dataset.slides = data.slides;
  root.setAttribute("aria-label", data.label);
  state.own = JSON.parse(data.figure);
  state.narrow = data.narrow ? JSON.parse(data.narrow) : null;
  node.style.minHeight = `${state.own.layout.height}px`;
  if (state.source !== data.frames) {
    state.source = data.frames;
    state.frames = data.frames ? JSON.parse(data.frames).frames : null;
    state.control ??= scrubber(root, node);
    state.control.stop();
    state.control.bar.hidden = !state.frames;
    if (data.slides && !state.frames) tell(state.link, undefined);
    if (state.frames) {
      state.control.range.max = state.frames.length - 1;
      state.at = state.frames.length - 1;
    }
    state.replays = data.replays && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  }
  choose(state);
  library()
    .then(() => (state.frames ? state.control.show(state.at) : draw(node)))
    .then(() => {
      root.querySelector(".lrlab-failed").textContent = "";
      if (state.replays) state.replays = state.control.go(3000);
      if (state.ready) return;
      state.ready = true;
      node.on("plotly_click", (event) => clicked(node, event));
      node.on("plotly_doubleclick", () => (state.reset = true));
      node.on("plotly_relayout", (event) => zoomed(state, event));
      offerFiles(root, node);
      const { signal } = (state.gone = new AbortController());
      const heard = (kind, answer) => window.addEventListener(kind, answer, { signal });
      heard("lrlab-frame", ({ detail }) => state.link === detail && !state.frames && draw(node));
      // It may have been told while it was drawn for the first time.
      if (state.marked !== told(state)) draw(node);
      heard("lrlab-live", ({ detail }) => {
        if (!detail.includes(state.part)) return;
        choose(state);
        if (!state.pressed) draw(node);
      });
      // A drawing forgets what is below the mouse: a click is of what was there when it began.
      node.addEventListener("pointerdown", (event) => {
        state.pressed = true;
        const subplot = event.target.dataset?.subplot;
        if (subplot) window.Plotly.Fx.hover(node, event, subplot);
      }, true);
      heard("pointerup", () => setTimeout(() => {
        if (state.pressed) draw(node);
        state.pressed = false;
      }, CLICK_MS));
      let wide = node.clientWidth >= NARROW;
      let hidden = !node.clientWidth;
      state.watch = new ResizeObserver(() => {
        // Drawn in a tab that was closed, it had no width to fill.
        if (hidden && node.clientWidth) {
          hidden = false;
          draw(node).then(() => window.Plotly.Plots.resize(node));
        }
        if (node.clientWidth >= NARROW !== wide) {
          wide = !wide;
          draw(node);
        }
      });
      state.watch.observe(node);
      // The page may change its colors without a new run; it does so on an element around the figure.
      state.text = pageColors(node).text;
      state.colors = new MutationObserver(() => {
        const text = pageColors(node).text;
        if (text !== state.text) {
          state.text = text;
          draw(node);
        }
      });
      for (let around = node; around; around = around.parentElement ?? around.getRootNode().host) {
        state.colors.observe(around, { attributes: true, attributeFilter: ["class", "style"] });
      }
    })
    .catch((error) => {
      root.querySelector(".lrlab-failed").textContent = `The figure could not be drawn: ${error.message}.`;
    });
  clearTimeout(state.leaving);
  // Streamlit may end a figure and begin it again on the very same node: its zoom is only lost when the node is gone.
  return () => {
    state.leaving = setTimeout(() => {
      if (node.isConnected) return;
      clearInterval(state.timer);
      state.watch?.disconnect();
      state.colors?.disconnect();
      state.gone?.abort();
      if (window.Plotly && state.ready) window.Plotly.purge(node);
      delete node.lrlab;
    }, 100);
  };
}
