// A phase diagram that follows the pointer: beside it the signal that is recovered there, from iterates that ship with
// the package (atlas.bin, written by benchmarks/atlas.py). Estimates are of one trial, success rates of others.

const KINDS = {
  onebit: {
    tab: "A sparse signal", x: "bits n", y: "non-zero entries s", log: true, at: [10, 9],
    xTicks: [20, 50, 100, 200, 500, 1000], yTicks: [1, 2, 5, 10, 20, 50, 100],
    lines: "Line: half of the trials find all entries.",
    run: (n, s) => ({ model: "one-bit-sensing", n, p: 200, sparsity: s, noise: 0.1, entries: "equal", seed: 7 }),
  },
  rankone: {
    tab: "An image of low rank", x: "measurements m", y: "rank k", log: false, at: [9, 3],
    xTicks: [50, 100, 150, 200, 250, 300, 350], yTicks: [1, 2, 3, 4, 5, 6, 7, 8],
    lines: "Solid: half of the trials are exact. Dashed: degrees of freedom, k(32 − k).",
    run: (m, k) => ({ model: "rank-one-sensing", d1: 16, d2: 16, m, rank: k, truth: "phantom", seed: 7 }),
  },
};
const NAMES = { gamp: "GAMP", nbiht: "NBIHT", "marginal-mean": "Marginal mean", "gauss-newton": "Gauss-Newton", altmin: "AltMin" };
const LIGHT = { line: "#d5dbe2", hit: "#0b62b5", miss: "#c2410c", truth: "#6f7a86", mark: "#c2410c", contour: "#1c232b",
  ramp: ["#eef1f4", "#b7d3ea", "#4f94cf", "#0a4a8f"] };
const DARK = { line: "#2c3641", hit: "#5eb1ff", miss: "#ff9a62", truth: "#9aa6b2", mark: "#ff9a62", contour: "#ffffff",
  ramp: ["#1a222b", "#1d466d", "#2f7fc4", "#a9d6ff"] };
const SIDE = 16;
const FRAME_MS = 160;
// After which a shown value is two thirds of the way to the one of another grid point.
const GLIDE_MS = 35;

async function load(address) {
  const body = (await fetch(address)).body.pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(body).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const data = new Int8Array(bytes.slice(4 + length));
  for (const one of Object.values(header)) {
    for (const solver of Object.values(one.solvers)) solver.all = summed(data, one, solver);
    one.truths = data.subarray(one.truth, one.truth + one.y.length * one.size);
  }
  return header;
}

// Iterates are stored as differences, the last one first; bytes wrap around as they did when these were taken.
function summed(data, { x, y, size }, { at, frames }) {
  const all = new Int8Array(x.length * y.length * frames * size);
  for (let point = 0; point < x.length * y.length; point++) {
    for (let frame = 0; frame < frames; frame++) {
      const from = at + (point * frames + frame) * size;
      const to = (point * frames + frames - 1 - frame) * size;
      for (let k = 0; k < size; k++) all[to + k] = data[from + k] + (frame ? all[to + size + k] : 0);
    }
  }
  return all;
}

const channels = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));

function sized(canvas) {
  const scale = Math.min(2, devicePixelRatio || 1);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [width * scale, height * scale];
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  return { pen, width, height, scale };
}

// Where a value stands among the computed ones, in steps.
function stepOf(values, value, log) {
  const place = log ? Math.log : Number;
  let k = 0;
  while (k < values.length - 2 && values[k + 1] < value) k++;
  return k + (place(value) - place(values[k])) / (place(values[k + 1]) - place(values[k]));
}

class Atlas {
  constructor(root, atlas, base) {
    Object.assign(this, { root, atlas, base, kind: "onebit", solver: "gamp", frame: -1, changed: true, last: 0 });
    [this.i, this.j] = KINDS.onebit.at;
    const find = (name) => root.querySelector(name);
    [this.map, this.signal] = [find(".lrlab-atlas-map"), find(".lrlab-atlas-signal")];
    [this.words, this.range, this.told] = [find(".lrlab-atlas-words"), find("input"), find("output")];
    [this.play, this.link] = [find(".lrlab-atlas-frames button"), find("a")];
    this.image = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.listen();
    this.watch = new ResizeObserver(() => this.begin());
    this.watch.observe(this.map);
    requestAnimationFrame((now) => this.tick(now));
  }

  get shown() {
    const one = this.atlas[this.kind];
    return { one, kind: KINDS[this.kind], solver: one.solvers[this.solver] };
  }

  get point() {
    return this.j * this.shown.one.x.length + this.i;
  }

  listen() {
    const moved = (event) => {
      const { left, top } = this.map.getBoundingClientRect();
      const [x, y] = [event.clientX - left - this.box.left, this.box.top + this.box.height - (event.clientY - top)];
      this.go(Math.floor(x / this.box.wide), Math.floor(y / this.box.high));
    };
    this.map.onpointermove = moved;
    this.map.onpointerdown = (event) => {
      this.map.setPointerCapture(event.pointerId);
      moved(event);
    };
    this.map.onclick = () => this.replay();
    this.map.onkeydown = (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step && event.key !== " ") return;
      event.preventDefault();
      if (step) this.go(this.i + step[0], this.j + step[1]);
      else this.replay();
    };
    this.play.onclick = () => this.replay();
    this.range.oninput = () => {
      clearInterval(this.timer);
      this.frame = Number(this.range.value);
      this.aim(true);
    };
    this.link.onclick = (event) => {
      if (!window.lrlabLive?.go) return;
      event.preventDefault();
      window.lrlabLive.go(this.link.href);
    };
  }

  go(i, j) {
    const { one } = this.shown;
    i = Math.max(0, Math.min(one.x.length - 1, i));
    j = Math.max(0, Math.min(one.y.length - 1, j));
    if (i === this.i && j === this.j && this.frame < 0) return;
    clearInterval(this.timer);
    Object.assign(this, { i, j, frame: -1 });
    this.aim();
  }

  replay() {
    const last = this.shown.solver.frames - 1;
    if (last < 1) return;
    clearInterval(this.timer);
    this.frame = 0;
    this.aim();
    this.timer = setInterval(() => {
      if (++this.frame >= last) {
        this.frame = -1;
        clearInterval(this.timer);
      }
      this.aim();
    }, FRAME_MS);
  }

  // Draw everything anew: of another size, kind, solver or theme.
  begin() {
    if (!this.map.clientWidth) return;
    const css = getComputedStyle(this.root);
    const color = (name, otherwise) => css.getPropertyValue(name).trim() || otherwise;
    [this.ink, this.back] = [color("--st-text-color", "#1c232b"), color("--st-background-color", "#ffffff")];
    this.font = css.fontFamily;
    const bright = (hex) => channels(hex).reduce((sum, part) => sum + part, 0);
    this.look = /^#[0-9a-f]{6}$/i.test(this.back) && bright(this.back) < 380 ? DARK : LIGHT;
    this.buttons();
    this.background();
    this.area = sized(this.signal);
    this.aim(true);
  }

  buttons() {
    const bar = this.root.querySelector(".lrlab-atlas-bar");
    const button = (text, chosen, choose) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: choose });
      made.ariaPressed = chosen;
      return made;
    };
    const kinds = Object.entries(KINDS).map(([kind, { tab, at }]) => button(tab, kind === this.kind, () => {
      const [first] = Object.keys(this.atlas[kind].solvers);
      Object.assign(this, { kind, solver: first, i: at[0], j: at[1], frame: -1 });
      this.begin();
    }));
    const solvers = Object.keys(this.shown.one.solvers).map((solver) => button(NAMES[solver], solver === this.solver, () => {
      Object.assign(this, { solver, frame: -1 });
      this.begin();
    }));
    const by = Object.assign(document.createElement("span"), { textContent: "by" });
    const held = [...bar.children].indexOf(document.activeElement);
    bar.replaceChildren(...kinds, by, ...solvers);
    bar.children[held]?.focus();
    this.root.querySelector(".lrlab-atlas-lines").textContent = this.shown.kind.lines;
    const mark = (look, text) => `<span><i style="${look}"></i>${text}</span>`;
    const { truth, hit, miss, ramp } = this.look;
    this.root.querySelector(".lrlab-atlas-ramp").style.background = `linear-gradient(90deg, ${ramp})`;
    this.root.querySelector(".lrlab-atlas-marks").innerHTML = this.kind !== "onebit" ? "" :
      mark(`border: 2px solid ${truth}`, "ground truth") + mark(`background: ${hit}`, "right position") +
      mark(`background: ${miss}`, "wrong position");
  }

  background() {
    const { one, kind, solver } = this.shown;
    const { pen, width, height } = sized(this.map);
    const box = (this.box = { left: 52, top: 8, width: width - 60, height: height - 56 });
    [box.wide, box.high] = [box.width / one.x.length, box.height / one.y.length];
    const across = (i) => box.left + (i + 0.5) * box.wide;
    const up = (j) => box.top + box.height - (j + 0.5) * box.high;
    one.y.forEach((_, j) => one.x.forEach((_, i) => {
      pen.fillStyle = solver.rate ? this.shade(solver.rate[j][i]) : this.look.line;
      pen.fillRect(across(i) - box.wide / 2, up(j) - box.high / 2, box.wide + 0.5, box.high + 0.5);
    }));
    pen.font = `14px ${this.font}`;
    pen.fillStyle = this.ink;
    pen.textAlign = "center";
    for (const value of kind.xTicks) {
      pen.fillText(value.toLocaleString("en"), across(stepOf(one.x, value, kind.log)), box.top + box.height + 18);
    }
    pen.fillText(kind.x, box.left + box.width / 2, height - 8);
    pen.textAlign = "right";
    for (const value of kind.yTicks) pen.fillText(value, box.left - 8, up(stepOf(one.y, value, kind.log)) + 5);
    pen.save();
    pen.translate(13, box.top + box.height / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(kind.y, 0, 0);
    pen.restore();
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.width, box.height);
    pen.clip();
    Object.assign(pen, { strokeStyle: this.look.contour, lineWidth: 2, lineJoin: "round" });
    if (solver.rate) this.contour(pen, solver.rate, across, up);
    if (this.kind === "rankone") {
      pen.setLineDash([5, 5]);
      pen.beginPath();
      one.y.forEach((k, j) => pen.lineTo(across(stepOf(one.x, k * (2 * SIDE - k), false)), up(j)));
      pen.stroke();
    }
    pen.restore();
    this.drawnMap = Object.assign(document.createElement("canvas"), { width: this.map.width, height: this.map.height });
    this.drawnMap.getContext("2d").drawImage(this.map, 0, 0);
  }

  contour(pen, rate, across, up) {
    pen.beginPath();
    let on = false;
    rate.forEach((row, j) => {
      let i = row.length - 1;
      while (i > 0 && !(row[i] >= 0.5 && row[i - 1] < 0.5)) i--;
      if (!i) return void (on = false);
      const at = across(i - 1 + (0.5 - row[i - 1]) / (row[i] - row[i - 1]));
      if (on) pen.lineTo(at, up(j));
      else pen.moveTo(at, up(j));
      on = true;
    });
    pen.stroke();
  }

  shade(rate) {
    const at = Math.min(2.999, 3 * rate);
    const [low, high] = [0, 1].map((more) => channels(this.look.ramp[Math.floor(at) + more]));
    return `rgb(${low.map((part, k) => Math.round(part + (high[k] - part) * (at % 1)))})`;
  }

  // Take what is recovered at the chosen point and iterate as what is to be shown.
  aim(jump) {
    const { one, solver, kind } = this.shown;
    const last = solver.frames - 1;
    const frame = this.frame < 0 ? last : Math.min(this.frame, last);
    const from = (this.point * solver.frames + frame) * one.size;
    this.target = solver.all.subarray(from, from + one.size);
    this.truth = one.truths.subarray(this.j * one.size, (this.j + 1) * one.size);
    if (jump || this.still.matches || this.values?.length !== one.size) this.values = Float32Array.from(this.target);
    const [x, y] = [one.x[this.i], one.y[this.j]];
    this.words.innerHTML = this.sentence(x, y, solver.errors[this.point][frame]);
    this.range.max = last;
    this.range.value = frame;
    this.range.disabled = this.play.disabled = last < 1;
    const iterations = solver.iterations[this.point];
    this.told.textContent = last < 1 ? "no iterates" : `iteration ${iterations[frame]} of ${iterations[last]}`;
    this.range.setAttribute("aria-valuetext", this.told.textContent);
    this.link.href = `${this.base}/converge?${new URLSearchParams({ ...kind.run(x, y), solvers: this.solver, run: 1 })}`;
    this.changed = true;
  }

  sentence(x, y, error) {
    const { solver } = this.shown;
    const others = solver.rate ? `${Math.round(solver.rate[this.j][this.i] * solver.trials)} of ${solver.trials} other trials` : "";
    const name = NAMES[this.solver];
    if (this.kind === "onebit") {
      const order = [...this.target.keys()].sort((a, b) => Math.abs(this.target[b]) - Math.abs(this.target[a]));
      this.support = new Set(order.slice(0, y));
      const right = [...this.support].filter((k) => this.truth[k]).length;
      const entries = `${y} of 200 entries`;
      return `<strong>${x.toLocaleString("en")} bits, ${entries}</strong><br>${name} finds ${right} of ${y} positions, ` +
        `error ${error.toPrecision(2)}${others && `; ${others} find all`}.`;
    }
    const exact = error < 1e-6 ? "0 up to rounding" : error.toPrecision(2);
    return `<strong>${x} numbers, rank ${y}: ${y * (2 * SIDE - y)} degrees of freedom</strong><br>` +
      `${name}: error ${exact}${others && `; ${others} are exact`}.`;
  }

  tick(now) {
    if (!this.root.isConnected) return this.watch.disconnect();
    if (this.target) {
      const part = 1 - Math.exp((this.last - now) / GLIDE_MS);
      let far = 0;
      this.target.forEach((value, k) => {
        this.values[k] += (value - this.values[k]) * part;
        far = Math.max(far, Math.abs(value - this.values[k]));
      });
      if (far > 0 && far <= 0.5) this.values.set(this.target);
      this.changed ||= far > 0;
    }
    this.last = now;
    if (this.changed && this.box) this.draw();
    this.changed = false;
    requestAnimationFrame((next) => this.tick(next));
  }

  draw() {
    const pen = this.map.getContext("2d");
    pen.save();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(this.drawnMap, 0, 0);
    pen.restore();
    const { left, top, height, wide, high } = this.box;
    const place = [left + this.i * wide, top + height - (this.j + 1) * high, wide, high];
    for (const [lineWidth, strokeStyle] of [[5, this.back], [2.5, this.look.mark]]) {
      Object.assign(pen, { lineWidth, strokeStyle });
      pen.strokeRect(...place);
    }
    const area = this.area;
    area.pen.clearRect(0, 0, area.width, area.height);
    if (this.kind === "onebit") this.drawEntries(area);
    else this.drawImages(area);
  }

  drawEntries({ pen, width, height }) {
    const [middle, unit, step] = [height / 2, (height / 2 - 6) / 127, width / this.values.length];
    const wide = Math.max(1.6, Math.min(3, 0.9 * step));
    pen.fillStyle = this.look.line;
    pen.fillRect(0, middle, width, 1);
    this.values.forEach((value, k) => {
      const [x, right, chosen] = [(k + 0.5) * step, this.truth[k] !== 0, this.support.has(k)];
      pen.fillStyle = right ? this.look.hit : this.look.miss;
      pen.globalAlpha = chosen || right ? 1 : 0.45;
      pen.fillRect(x - wide / 2, middle, wide, -value * unit);
      pen.beginPath();
      if (chosen) pen.arc(x, middle - value * unit, 1.3 * wide, 0, 7);
      pen.fill();
    });
    Object.assign(pen, { globalAlpha: 1, strokeStyle: this.look.truth, lineWidth: 1.6 });
    this.truth.forEach((value, k) => {
      if (!value) return;
      pen.beginPath();
      pen.arc((k + 0.5) * step, middle - value * unit, 4.2, 0, 7);
      pen.stroke();
    });
  }

  drawImages({ pen, width, height }) {
    const side = Math.min((width - 24) / 2, height - 26);
    const top = Math.max(...this.truth);
    [[this.values, "recovered"], [this.truth, "ground truth"]].forEach(([values, label], number) => {
      const painter = this.image.getContext("2d");
      const pixels = painter.createImageData(SIDE, SIDE);
      values.forEach((value, k) => {
        pixels.data.fill(Math.max(0, Math.min(255, (255 * value) / top)), 4 * k, 4 * k + 3);
        pixels.data[4 * k + 3] = 255;
      });
      painter.putImageData(pixels, 0, 0);
      pen.imageSmoothingEnabled = false;
      pen.drawImage(this.image, number * (side + 24), 0, side, side);
      Object.assign(pen, { fillStyle: this.ink, font: `14px ${this.font}` });
      pen.fillText(label, number * (side + 24), side + 18);
    });
  }
}

const loading = load(new URL(`atlas.bin${new URL(import.meta.url).search}`, import.meta.url));

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".lrlab-atlas");
  if (root.atlas) root.atlas.begin();
  else loading.then((atlas) => (root.atlas ??= new Atlas(root, atlas, data.base)));
}
