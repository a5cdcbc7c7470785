// A phase diagram that follows the pointer: beside it the signal that is recovered there, from iterates that ship with
// the package. Estimates are of one trial, success rates of others. atlas.bin, written by benchmarks/atlas.py, has the
// diagrams with their words, ticks, lines and colors; positions are in grid points.

const COLORS = {
  light: { empty: "#d5dbe2", hit: "#0b62b5", miss: "#c2410c", truth: "#6f7a86" },
  dark: { empty: "#2c3641", hit: "#5eb1ff", miss: "#ff9a62", truth: "#9aa6b2" },
};
const FRAME_MS = 160;

async function load(address) {
  const unzipped = (await fetch(address)).body.pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(unzipped).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const atlas = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const data = new Int8Array(bytes, 4 + length);
  for (const { x, y, size, truth, solvers, ...diagram } of Object.values(atlas.diagrams)) {
    for (const solver of Object.values(solvers)) {
      const { at, frames } = solver;
      solver.iterates = data.subarray(at, at + x.length * y.length * frames * size);
      // The last iterate comes first; each other is stored as its difference to the one after it. Bytes wrap around.
      solver.iterates.forEach((_, k, all) => {
        if (Math.floor(k / size) % frames) all[k] += all[k - size];
      });
    }
  }
  return { ...atlas, data };
}

// Size a canvas anew, which clears it, in the resolution of the screen.
function sized(canvas) {
  const scale = Math.min(2, devicePixelRatio || 1);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [width * scale, height * scale];
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  return { pen, width, height };
}

const clamped = (value, low, high) => Math.max(low, Math.min(high, value));

class Atlas {
  constructor(root, atlas, base) {
    const find = (name) => root.querySelector(name);
    Object.assign(this, { root, atlas, base, bar: find(".lrlab-atlas-bar"), plane: find(".lrlab-plane") });
    Object.assign(this, { map: find(".lrlab-atlas-map"), signal: find(".lrlab-atlas-signal") });
    Object.assign(this, { words: find(".lrlab-atlas-words"), link: find("a"), play: find(".lrlab-atlas-frames button") });
    Object.assign(this, { range: find("input"), told: find("output") });
    this.listen();
    this.choose("onebit");
    new ResizeObserver(() => this.draw()).observe(this.signal);
  }

  listen() {
    const follow = ({ clientX, clientY }) => {
      const { left, bottom, width, height } = this.map.getBoundingClientRect(), { x, y } = this.diagram;
      this.go(Math.floor(((clientX - left) / width) * x.length), Math.floor(((bottom - clientY) / height) * y.length));
    };
    this.map.onpointermove = follow;
    this.map.onpointerdown = (event) => {
      this.map.setPointerCapture(event.pointerId);
      follow(event);
    };
    this.map.onclick = this.play.onclick = () => this.replay();
    this.map.onkeydown = (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step && event.key !== " ") return;
      event.preventDefault();
      if (step) this.go(this.i + step[0], this.j + step[1]);
      else this.replay();
    };
    this.range.oninput = () => this.show(Number(this.range.value));
    this.link.onclick = (event) => {
      if (!window.lrlabLive?.go) return;
      event.preventDefault();
      window.lrlabLive.go(this.link.href);
    };
  }

  // Take another diagram with its first solver, or another solver of the same diagram.
  choose(name, solver) {
    clearInterval(this.timer);
    this.diagram = this.atlas.diagrams[name];
    if (this.name !== name) [this.i, this.j] = this.diagram.start;
    this.name = name;
    this.solverName = solver ?? Object.keys(this.diagram.solvers)[0];
    this.solver = this.diagram.solvers[this.solverName];
    this.last = this.solver.frames - 1;
    this.frame = this.last;
    this.draw();
  }

  // Move to a grid point, and show its last iterate.
  go(i, j) {
    i = clamped(i, 0, this.diagram.x.length - 1);
    j = clamped(j, 0, this.diagram.y.length - 1);
    if (i === this.i && j === this.j && this.frame === this.last) return;
    Object.assign(this, { i, j });
    this.show(this.last);
  }

  replay() {
    if (!this.last) return;
    this.show(0);
    this.timer = setInterval(() => {
      if (++this.frame === this.last) clearInterval(this.timer);
      this.drawPoint();
    }, FRAME_MS);
  }

  show(frame) {
    clearInterval(this.timer);
    this.frame = frame;
    this.drawPoint();
  }

  // Draw everything anew: in another size or theme, or of another diagram or solver.
  draw() {
    if (!this.signal.clientWidth) return;
    const { color, fontFamily, colorScheme } = getComputedStyle(this.root);
    const theme = colorScheme === "dark" ? "dark" : "light";
    Object.assign(this, { ink: color, font: `14px ${fontFamily}`, colors: COLORS[theme], ramp: this.atlas.ramps[theme] });
    this.drawButtons();
    this.drawKeys();
    this.drawMap();
    this.area = sized(this.signal);
    this.drawPoint();
  }

  drawButtons() {
    const button = (text, pressed, choose) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: choose });
      made.ariaPressed = pressed;
      return made;
    };
    const diagrams = Object.entries(this.atlas.diagrams).map(([name, { title }]) =>
      button(title, name === this.name, () => this.choose(name)));
    const solvers = Object.entries(this.diagram.solvers).map(([solver, { name }]) =>
      button(name, solver === this.solverName, () => this.choose(this.name, solver)));
    const focused = [...this.bar.children].indexOf(document.activeElement);
    this.bar.replaceChildren(...diagrams, "by", ...solvers);
    this.bar.children[focused]?.focus();
  }

  drawKeys() {
    const { truth, hit, miss } = this.colors;
    const key = (look, text) => `<span><i style="${look}"></i>${text}</span>`;
    this.root.querySelector(".lrlab-atlas-lines").textContent = this.diagram.lines;
    this.root.querySelector(".lrlab-atlas-ramp").style.background = `linear-gradient(90deg, ${this.ramp})`;
    this.root.querySelector(".lrlab-atlas-marks").innerHTML = this.name !== "onebit" ? "" :
      key(`border: 2px solid ${truth}`, "ground truth") + key(`background: ${hit}`, "right position") +
      key(`background: ${miss}`, "wrong position");
  }

  // Draw the success rates and the lines, in units of grid points.
  drawMap() {
    const { x, y, axes, ticks, degrees } = this.diagram;
    const box = (i, j, look) => `<rect x="${i}" y="${y.length - 1 - j}" width="1" height="1" ${look} />`;
    const colored = (rate) => `fill="${this.ramp[Math.round(rate * (this.ramp.length - 1))]}"`;
    const cells = this.solver.rate.flatMap((row, j) => row.map((rate, i) => box(i, j, colored(rate))));
    const line = (points) => `<polyline points="${points.map(([i, j]) => [i + 0.5, y.length - j - 0.5]).join(" ")}" />`;
    this.map.setAttribute("viewBox", `0 0 ${x.length} ${y.length}`);
    this.map.innerHTML = [...cells, ...this.solver.contour.map(line), line(degrees), box(0, 0, 'class="lrlab-atlas-mark"')].join("");
    const placed = (side, edge, count) =>
      side.map(([text, step]) => `<span style="${edge}: ${(100 * (step + 0.5)) / count}%">${text}</span>`).join("");
    this.plane.querySelector(".lrlab-plane-up").innerHTML = placed(ticks[1], "bottom", y.length);
    this.plane.querySelector(".lrlab-plane-across").innerHTML = placed(ticks[0], "left", x.length);
    [this.plane.firstElementChild.textContent, this.plane.lastElementChild.textContent] = [`↑ ${axes[1]}`, `${axes[0]} →`];
  }

  // Show what is recovered at the chosen point and iterate.
  drawPoint() {
    const { diagram, solver, i, j, frame, last } = this, { x, y, size } = diagram;
    const point = j * x.length + i, from = ((point + 1) * solver.frames - 1 - frame) * size;
    this.values = solver.iterates.subarray(from, from + size);
    this.truth = this.atlas.data.subarray(diagram.truth + j * size, diagram.truth + (j + 1) * size);
    const { pen, width, height } = this.area;
    pen.clearRect(0, 0, width, height);
    const rate = `${Math.round(solver.rate[j][i] * solver.trials)} of ${solver.trials} other trials`;
    const say = this.name === "onebit" ? this.drawEntries(pen, width, height) : this.drawImages(pen, width, height);
    this.words.innerHTML = say(solver.errors[point][frame], rate);
    Object.assign(this.range, { max: last, value: frame, disabled: !last });
    this.play.disabled = !last;
    const iterations = solver.iterations[point];
    this.told.textContent = last ? `iteration ${iterations[frame]} of ${iterations[last]}` : "no iterates";
    this.range.setAttribute("aria-valuetext", this.told.textContent);
    const run = { ...diagram.run, [diagram.names[0]]: x[i], [diagram.names[1]]: y[j], solvers: this.solverName, run: 1 };
    this.link.href = `${this.base}/converge?${new URLSearchParams(run)}`;
    const mark = this.map.lastElementChild;
    mark.setAttribute("x", i);
    mark.setAttribute("y", y.length - 1 - j);
  }

  // Draw the entries of a sparse signal; return what says how many of its positions are right.
  drawEntries(pen, width, height) {
    const { values, truth, colors, diagram } = this, count = diagram.y[this.j];
    const bySize = [...values.keys()].sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));
    const support = new Set(bySize.slice(0, count));
    const [middle, unit, step] = [height / 2, (height / 2 - 6) / 127, width / values.length];
    const wide = clamped(0.9 * step, 1.6, 3);
    pen.fillStyle = colors.empty;
    pen.fillRect(0, middle, width, 1);
    values.forEach((value, k) => {
      const x = (k + 0.5) * step;
      pen.fillStyle = truth[k] ? colors.hit : colors.miss;
      pen.globalAlpha = truth[k] || support.has(k) ? 1 : 0.45;
      pen.fillRect(x - wide / 2, middle, wide, -value * unit);
      pen.beginPath();
      if (support.has(k)) pen.arc(x, middle - value * unit, 1.3 * wide, 0, 7);
      pen.fill();
    });
    Object.assign(pen, { globalAlpha: 1, strokeStyle: colors.truth, lineWidth: 1.6 });
    truth.forEach((value, k) => {
      pen.beginPath();
      if (value) pen.arc((k + 0.5) * step, middle - value * unit, 4.2, 0, 7);
      pen.stroke();
    });
    const right = [...support].filter((k) => truth[k]).length;
    return (error, rate) =>
      `<strong>${diagram.x[this.i].toLocaleString("en")} bits, ${count} of ${values.length} entries</strong><br>` +
      `${this.solver.name} finds ${right} of ${count} positions, error ${error.toPrecision(2)}; ${rate} find all.`;
  }

  // Draw the recovered image and the true one; return what says how exact it is.
  drawImages(pen, width, height) {
    const [pixels, high] = [Math.sqrt(this.values.length), height - 26];
    const [side, brightest] = [Math.min((width - 24) / 2, high), Math.max(...this.truth)];
    Object.assign(pen, { font: this.font, imageSmoothingEnabled: false });
    [[this.values, "recovered"], [this.truth, "ground truth"]].forEach(([values, label], number) => {
      const left = number * (side + 24), one = side / pixels;
      values.forEach((value, k) => {
        const gray = Math.round(clamped((255 * value) / brightest, 0, 255));
        pen.fillStyle = `rgb(${gray}, ${gray}, ${gray})`;
        pen.fillRect(left + (k % pixels) * one, Math.floor(k / pixels) * one, one + 0.5, one + 0.5);
      });
      pen.fillStyle = this.ink;
      pen.fillText(label, left, side + 18);
    });
    const [count, rank] = [this.diagram.x[this.i], this.diagram.y[this.j]];
    return (error, rate) =>
      `<strong>${count} numbers, rank ${rank}: ${rank * (2 * pixels - rank)} degrees of freedom</strong><br>` +
      `${this.solver.name}: error ${error < 1e-6 ? "0 up to rounding" : error.toPrecision(2)}; ${rate} are exact.`;
  }
}

const loading = load(new URL(`atlas.bin${new URL(import.meta.url).search}`, import.meta.url));

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".lrlab-atlas");
  if (root.atlas) root.atlas.draw();
  else loading.then((atlas) => (root.atlas ??= new Atlas(root, atlas, data.base)));
}
