// Plotly figures that stay where they are: every update goes through Plotly.react on the same node, which keeps zoom,
// hidden series and the place of the slider over iterates. Text and curves have the colors of the page.

// Widths in pixels below which a figure has its form for phones, and shows ends of curves without their names.
const NARROW = 560, NAMED = 440;
// Plotly says what was clicked so long after the button is up, at most.
const CLICK_MS = 100;
// A whole run plays in this time, however many iterates were kept.
const PLAY_MS = 6000;
// Streamlit may end a figure and begin it again on the very same node within this time.
const LEAVE_MS = 100;
// Of files: pixels per millimeter, the color of text, the font of the page with its name where it is installed, and the
// font of others, which is wider: a file that may be drawn with it is laid out for it.
const PIXELS = 96 / 25.4, INK = "#1c2430", FONT = "'Source Sans', 'Source Sans Pro', sans-serif", OTHER = "sans-serif";
// Millimeters below which a file has its form for phones, and pixels of a line of its legend.
const NARROW_FILE = 120, LINE = 22;
// While a slider is dragged, a figure with a heat map rests so many times as long as its drawing took: curves come first.
const HEAVY = 10;
const CONFIG = {
  displaylogo: false,
  // Plotly's own offer to share a chart uploads it.
  modeBarButtonsToRemove: ["sendChartToCloud", "toImage", "select2d", "lasso2d", "autoScale2d"],
};

// The page sends once the address of the library and the template of all figures.
let start, template;
const library = new Promise((resolve) => (start = resolve)).then(async (sent) => {
  await import(sent.address);
  template = JSON.parse(sent.template);
});

// For a projector: type in pixels, usually 13, and how many times as wide lines and marks are.
const LARGE = 17, USUAL = 13, THICK = 1.6;
function enlarged({ data, layout }) {
  const font = (part) => ({ ...part, font: { ...part?.font, size: LARGE } });
  const axes = Object.entries(layout).filter(([name]) => /^[xy]axis/.test(name));
  const named = axes.map(([name, axis]) => [name, { ...axis, title: font(axis.title) }]);
  // Margins hold names and titles.
  const margin = Object.fromEntries(Object.entries(layout.margin ?? {}).map(([side, width]) => [side, (width * LARGE) / USUAL]));
  const bar = layout.coloraxis?.colorbar;
  if (bar?.title) named.push(["coloraxis", { ...layout.coloraxis, colorbar: { ...bar, title: font(bar.title) } }]);
  // Sizes of single points stay.
  const wide = (part, key, usual) => (typeof part?.[key] === "object" ? part : { ...part, [key]: THICK * (part?.[key] ?? usual) });
  const thick = (one) => ({
    ...one, textfont: { ...one.textfont, size: LARGE }, line: wide(one.line, "width", 2), marker: wide(one.marker, "size", 7),
  });
  return { data: data.map((one) => (one.type === "scatter" ? thick(one) : one)), layout: { ...font(layout), margin, ...Object.fromEntries(named), annotations: layout.annotations?.map(font) } };
}

// Without the name at the right edge, only the dot at the end of the curve; the legend has the name.
const dotOnly = (one) => ({ ...one, x: one.x.slice(0, 1), y: one.y.slice(0, 1), text: [""] });
const unnamed = (one) => (one.meta === "end" ? dotOnly(one) : ["run", "named"].includes(one.meta) ? { ...one, showlegend: true } : one);
// As at the ends of curves (theme.py): of a long name that has an abbreviation, only that.
const shortened = (one) => (one.name ? { ...one, name: one.name.replace(/(^|, )[^,]{21,} \(([^ )]+)\)/, "$1$2") } : one);

// A value with the colors of dark pages in place of those of light ones.
function darkened(value) {
  const { colorway, meta } = template.layout;
  const tones = new Map(colorway.map((color, k) => [color, meta.dark[k]]));
  return JSON.parse(JSON.stringify(value), (_, part) => tones.get(part) ?? part);
}

// Until then no figure is drawn anew: drawings take half of the browser's time at most, the rest is for clicks, and three
// quarters while a slider is dragged. Messages that come faster than a slow machine draws would keep it from everything else.
let restsUntil = 0;
const rest = (until) => new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())));

class LiveFigure {
  constructor(root) {
    const find = (name) => root.querySelector(name);
    Object.assign(this, { root, at: 0, zoom: {}, timer: null, drawn: false, restsUntil: 0, node: find(".lrlab-figure") });
    Object.assign(this, { bar: find(".lrlab-scrub"), failed: find(".lrlab-failed"), width: find(".lrlab-files select") });
    [this.button, this.range, this.output] = ["button", "input", "output"].map((name) => this.bar.querySelector(name));
    this.listeners = new AbortController();
    this.node.lrlab = this;
    this.mount();
  }

  // Listen to the page, until the figure is disposed of.
  mount() {
    const { node } = this, { signal } = this.listeners;
    const heard = (target, kind, answer, capture) => target.addEventListener(kind, answer, { signal, capture });
    heard(this.button, "click", () => (this.timer ? this.stop() : this.go()));
    heard(this.range, "input", () => {
      this.stop();
      this.show(Number(this.range.value));
    });
    for (const button of this.root.querySelectorAll(".lrlab-files button")) {
      heard(button, "click", () => this.save(button.dataset.format));
    }
    heard(window, "lrlab-frame", ({ detail }) => this.link === detail && !this.frames && this.draw());
    heard(window, "lrlab-live", ({ detail }) => {
      if (!detail.includes(this.part)) return;
      this.choose();
      if (!this.pressed) this.draw();
    });
    // A drawing forgets what is below the mouse: a click is of what was there when it began.
    heard(node, "pointerdown", (event) => {
      this.pressed = true;
      const { subplot } = event.target.dataset ?? {};
      if (subplot) window.Plotly.Fx.hover(node, event, subplot);
    }, true);
    const released = () => setTimeout(() => {
      if (!this.pressed) return;
      this.pressed = false;
      this.draw();
    }, CLICK_MS);
    heard(window, "pointerup", released);
    heard(window, "pointercancel", released);
    // The color of its text changes with the theme of the page.
    heard(window, "lrlab-large", () => this.draw());
    heard(node, "transitionend", ({ target }) => target === node && this.draw());
    const sizes = new ResizeObserver(() => node.clientWidth !== this.drawnWidth && this.draw());
    sizes.observe(node);
    signal.onabort = () => sizes.disconnect();
  }

  // Take what the script of the page sends, and draw it.
  async update({ figure, narrow, frames, ...sent }, send) {
    clearTimeout(this.leaving);
    // The newest handle: an older one belongs to a run of the page that is over.
    Object.assign(this, sent, { send, own: JSON.parse(figure), narrow: narrow ? JSON.parse(narrow) : null });
    this.bar.dataset.slides = this.slides;
    this.root.setAttribute("aria-label", this.label);
    this.node.style.minHeight = `${this.own.layout.height}px`;
    if (this.source !== frames) this.takeFrames(frames);
    this.choose();
    try {
      await library;
      // A task of its own: the first figure is seen before the next one is drawn.
      await new Promise((resolve) => setTimeout(resolve));
      await this.draw();
      this.failed.textContent = "";
    } catch (error) {
      this.failed.textContent = `The figure could not be displayed: ${error.message}.`;
    }
  }

  // End the figure if its node is gone a moment later.
  dispose() {
    clearTimeout(this.leaving);
    this.leaving = setTimeout(() => {
      if (this.node.isConnected) return;
      this.stop();
      this.listeners.abort();
      if (this.drawn) window.Plotly.purge(this.node);
      delete this.node.lrlab;
    }, LEAVE_MS);
  }

  // The figure of the script of the page, or the newer one that came by the live channel, which has no frames.
  choose() {
    const part = window.lrlabLive?.shown[this.part];
    const grown = part?.at > this.sent ? part.value : null;
    if (grown && this.frames) this.takeFrames("");
    this.figure = grown ?? this.own;
  }

  // One drawing at a time: Plotly fails when a second one meets a first that is not finished, as on a busy machine.
  draw() {
    this.wanted = true;
    this.drawing ??= (async () => {
      try {
        while (this.wanted) {
          if (this.drawn) await rest(Math.max(restsUntil, window.lrlabLive?.dragged ? this.restsUntil : 0));
          // The release draws.
          if (this.pressed) return;
          this.wanted = false;
          const began = performance.now();
          await this.paint();
          const ended = performance.now(), heavy = this.figure?.data.some(({ type }) => type === "heatmap");
          restsUntil = ended + (ended - began) / (window.lrlabLive?.dragged ? 3 : 1);
          this.restsUntil = heavy ? ended + HEAVY * (ended - began) : 0;
        }
      } finally {
        this.drawing = null;
      }
    })();
    return this.drawing;
  }

  // Draw the figure in the width of its node, at its frame.
  async paint() {
    const { node, at } = this, width = node.clientWidth;
    // It may wait for the library, or have no width to fill, as in a closed tab: it is drawn once that opens.
    if (!width) this.drawnWidth = 0;
    if (!template || !this.figure || !width || !node.isConnected) return;
    const css = getComputedStyle(node), color = (name, otherwise) => css.getPropertyValue(name).trim() || otherwise;
    const [text, back] = [color("--st-text-color", "#7b7f88"), color("--st-background-color", "#ffffff")];
    const shown = this.framed(at, width, css.colorScheme === "dark");
    const { data, layout } = css.getPropertyValue("--lrlab-large") ? enlarged(shown) : shown;
    Object.assign(layout, { font: { ...layout.font, color: text, family: color("--st-font", layout.font?.family) } });
    layout.hoverlabel = { ...layout.hoverlabel, bgcolor: back, bordercolor: text, font: { color: text } };
    layout.modebar = { bgcolor: "rgba(0, 0, 0, 0)", color: "#9297a1", activecolor: text };
    layout.width = this.drawnWidth = width;
    this.mark(data);
    // A zoom stays where the axes grow with a run: Plotly would drop it for the new range.
    for (const [axis, range] of Object.entries(this.zoom)) layout[axis] = { ...layout[axis], range, autorange: false };
    const config = { ...CONFIG, displayModeBar: width < NARROW ? false : "hover" };
    // Plotly writes the user's zoom into the layout it is given; a copy keeps ours clean.
    await window.Plotly.react(node, data, structuredClone(layout), config);
    this.say(at);
    if (this.drawn) return;
    this.drawn = true;
    node.on("plotly_click", (event) => this.clicked(event));
    node.on("plotly_doubleclick", () => (this.unzooms = true));
    node.on("plotly_relayout", (event) => this.zoomed(event));
  }

  // The figure at a frame, in a width. Frames are Plotly's own: name, traces, data, layout.
  framed(at, width, dark) {
    const frame = this.frames?.[at], named = width >= NAMED, toned = dark ? darkened : (value) => value;
    const data = toned(this.figure.data.map((one) => (named ? one : shortened(unnamed(one)))));
    frame?.traces.forEach((index, k) => (data[index] = { ...data[index], ...toned(frame.data[k]) }));
    const layout = { ...((width < NARROW && this.narrow) || this.figure.layout), template };
    if (!named && data.some((one) => one.meta === "end")) layout.margin = { ...layout.margin, r: undefined };
    const notes = frame?.layout?.annotations ?? [];
    if (layout.annotations) layout.annotations = layout.annotations.map((note, k) => ({ ...note, ...notes[k] }));
    return { data, layout };
  }

  // Download what the page shows, with its zoom and without the series that are hidden, as SVG, PDF or PNG in a width for
  // print, on white, whatever the colors and the size of the page.
  async save(format) {
    this.failed.textContent = "The file is being made.";
    try {
      const millimeters = Number(this.width.value), { data, layout } = this.framed(this.at, millimeters * PIXELS, false);
      for (const [name, axis] of Object.entries(this.node.layout)) {
        const zoomed = /^[xy]axis\d*$/.test(name) && layout[name] && axis.autorange !== true;
        if (zoomed) layout[name] = { ...layout[name], range: axis.range };
      }
      const shown = data.map((trace, k) => ({ ...trace, visible: this.node.data[k]?.visible }));
      // Below a narrow figure the legend takes a line per entry.
      const narrow = millimeters < NARROW_FILE && layout.showlegend !== false;
      const entries = narrow ? data.filter((trace) => trace.name && trace.showlegend !== false).length : 0;
      const size = { width: Math.round(millimeters * PIXELS), height: layout.height + LINE * entries };
      const white = { paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", autosize: false, ...size };
      const family = format === "pdf" ? FONT : OTHER;
      const printed = structuredClone({ ...layout, ...white, font: { ...layout.font, color: INK, family } });
      const how = format === "png" ? { format, scale: 4, ...size } : { format: "svg", ...size };
      let href = await window.Plotly.toImage({ data: shown, layout: printed, config: { staticPlot: true } }, how);
      if (format !== "png") {
        const high = ((millimeters * size.height) / size.width).toFixed(2);
        const [, drawn] = decodeURIComponent(href).match(/,(.*)/s);
        const svg = drawn.replaceAll(`font-family: ${OTHER}`, `font-family: ${FONT}`);
        const sized = svg.replace(/<svg([^>]*) width="[^"]*" height="[^"]*"/, `<svg$1 width="${millimeters}mm" height="${high}mm"`);
        href = URL.createObjectURL(format === "pdf" ? await pdf(sized, this.label) : new Blob([sized]));
      }
      Object.assign(document.createElement("a"), { href, download: `${this.name}-${millimeters}mm.${format}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
      this.failed.textContent = "";
    } catch (error) {
      this.failed.textContent = `The file could not be made: ${error.message}.`;
    }
  }

  // Add the runs' newest points at what a linked figure shows.
  mark(data) {
    const cursor = this.frames ? undefined : window.lrlabFrames?.[this.link];
    if (cursor === undefined) return;
    const runs = data.filter((trace) => trace.meta === "run");
    const points = runs.map(({ x, y }) => {
      const k = x.findLastIndex((now) => now <= cursor);
      return [x[k], y[k]];
    });
    const [color, symbol] = [runs.map(({ line }) => line.color), runs.map(({ marker }) => marker.symbol)];
    const look = { size: 12, color, symbol, line: { width: 2, color: "#ffffff" } };
    const [x, y] = [0, 1].map((side) => points.map((point) => point[side]));
    data.push({ type: "scatter", mode: "markers", x, y, marker: look, showlegend: false, hoverinfo: "skip" });
  }

  // Take note of the ranges that a person chose, until a double click gives them up.
  zoomed(event) {
    for (const axis of ["xaxis", "yaxis"]) {
      const range = [event[`${axis}.range[0]`], event[`${axis}.range[1]`]];
      if (this.unzooms || event[`${axis}.autorange`]) delete this.zoom[axis];
      else if (range[0] !== undefined) this.zoom[axis] = range;
    }
    this.unzooms = false;
  }

  clicked({ points: [point] = [] }) {
    if (!point || !this.send) return;
    const told = point.customdata ?? this.pointBelow(point);
    if (told !== undefined) this.send("click", { customdata: typeof told === "object" ? Array.from(told) : [told] });
  }

  // A line that lies over a heat map is nearer to the mouse than the grid point below it, which is what a click means.
  pointBelow({ x, y, data }) {
    const map = this.node.data.find((trace) => trace.type === "heatmap" && trace.customdata && trace.xaxis === data.xaxis);
    const below = (edges, value) => edges.findLastIndex((edge) => edge <= value);
    return map?.customdata[below(map.y, y)]?.[below(map.x, x)];
  }

  // Take frames as JSON, and stand at the last one; "" for none.
  takeFrames(source) {
    this.stop();
    this.source = source;
    this.frames = source ? JSON.parse(source).frames : null;
    this.bar.hidden = !this.frames;
    if (this.frames) this.range.value = this.at = this.range.max = this.frames.length - 1;
    else if (this.slides) this.tell(undefined);
  }

  show(at) {
    this.range.value = this.at = at;
    return this.draw();
  }

  go() {
    const last = this.frames.length - 1;
    if (this.at >= last) this.show(0);
    this.button.textContent = "Pause";
    this.timer = setInterval(() => {
      if (!this.node.isConnected || this.at >= last) return this.stop();
      this.show(this.at + 1);
    }, Math.max(40, Math.min(400, PLAY_MS / this.frames.length)));
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = "Play";
  }

  // Name a frame once it is drawn, which takes a while on a busy machine: its name is not read beside another one.
  say(at) {
    const frame = this.frames?.[at];
    if (!frame || frame === this.said) return;
    this.said = frame;
    this.output.textContent = frame.name;
    this.range.setAttribute("aria-valuetext", frame.name);
    // The last frame is the end of every run; its second is rounded, and would come before.
    const last = at === this.frames.length - 1;
    if (this.link) this.tell(last ? Infinity : parseFloat(frame.name.replace(/^\D+/, "")));
  }

  // Say which iteration, or second, the figures of this link show; none while there are no frames.
  tell(now) {
    window.lrlabFrames = { ...window.lrlabFrames, [this.link]: now };
    window.dispatchEvent(new CustomEvent("lrlab-frame", { detail: this.link }));
  }
}

// Written by the server (lrlab/ui/live/pdf.py).
async function pdf(body, title) {
  const address = new URL(`${window.lrlabLive.address}/pdf?${new URLSearchParams({ title })}`, document.baseURI);
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.blob();
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lrlab-plot");
  // Without a figure it fetches the library, while the page is still being written.
  if (!data.figure) {
    root?.remove();
    return start(data);
  }
  const figure = root.querySelector(".lrlab-figure").lrlab ?? new LiveFigure(root);
  figure.update(data, setTriggerValue);
  return () => figure.dispose();
}
