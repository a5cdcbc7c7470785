// A phase diagram that follows the pointer: beside it the signal that is recovered there, from iterates that ship with
// the package. Estimates are of one trial, success rates of others. atlas.bin, written by benchmarks/atlas.py, has the
// diagrams with their words, ticks, lines and colors; positions are in grid points.

const FRAME_MS = 160;

async function load(address) {
  const unzipped = (await fetch(address)).body.pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(unzipped).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const { ramps, diagrams } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
  const data = new Int8Array(bytes, 4 + length);
  for (const { x, y, size, truth, solvers } of Object.values(diagrams)) {
    for (const solver of Object.values(solvers)) {
      const { at, frames } = solver;
      solver.iterates = data.subarray(at, at + x.length * y.length * frames * size);
      // The last iterate comes first; each other is stored as its difference to the one after it. Bytes wrap around.
      solver.iterates.forEach((_, k, all) => {
        if (Math.floor(k / size) % frames) all[k] += all[k - size];
      });
    }
  }
  return { diagrams, data, ramp: ramps.light.map((color, k) => `light-dark(${color}, ${ramps.dark[k]})`) };
}

const clamped = (value, low, high) => Math.max(low, Math.min(high, value));

class Atlas {
  constructor(root, atlas, base) {
    Object.assign(this, { atlas, base });
    for (const part of root.querySelectorAll("[data-part]")) this[part.dataset.part] = part;
    this.ramp.style.background = `linear-gradient(90deg, ${atlas.ramp})`;
    this.listen();
    this.choose("onebit");
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
    this.diagram = this.atlas.diagrams[name];
    if (this.name !== name) [this.i, this.j] = this.diagram.start;
    this.name = name;
    this.solverName = solver ?? Object.keys(this.diagram.solvers)[0];
    this.solver = this.diagram.solvers[this.solverName];
    this.last = this.solver.frames - 1;
    this.drawButtons();
    this.drawMap();
    this.show(this.last);
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

  drawButtons() {
    const button = (textContent, ariaPressed, onclick) =>
      Object.assign(document.createElement("button"), { type: "button", textContent, ariaPressed, onclick });
    const diagrams = Object.entries(this.atlas.diagrams).map(([name, { title }]) =>
      button(title, name === this.name, () => this.choose(name)));
    const solvers = Object.entries(this.diagram.solvers).map(([solver, { name }]) =>
      button(name, solver === this.solverName, () => this.choose(this.name, solver)));
    const focused = [...this.bar.children].indexOf(document.activeElement);
    this.bar.replaceChildren(...diagrams, "by", ...solvers);
    this.bar.children[focused]?.focus();
  }

  // Draw the success rates and the lines, in units of grid points.
  drawMap() {
    const { x, y, axes, ticks, lines, degrees } = this.diagram, { ramp } = this.atlas;
    const box = (i, j, look) => `<rect x="${i}" y="${y.length - 1 - j}" width="1" height="1" ${look} />`;
    const colored = (rate) => `style="fill: ${ramp[Math.round(rate * (ramp.length - 1))]}"`;
    const cells = this.solver.rate.flatMap((row, j) => row.map((rate, i) => box(i, j, colored(rate))));
    const line = (points) => `<polyline points="${points.map(([i, j]) => [i + 0.5, y.length - j - 0.5]).join(" ")}" />`;
    this.map.setAttribute("viewBox", `0 0 ${x.length} ${y.length}`);
    this.map.innerHTML = [...cells, ...this.solver.contour.map(line), line(degrees), box(0, 0, 'class="lrlab-atlas-mark"')].join("");
    const placed = (side, edge, count) =>
      side.map(([text, step]) => `<span style="${edge}: ${(100 * (step + 0.5)) / count}%">${text}</span>`).join("");
    this.xTicks.innerHTML = placed(ticks[0], "left", x.length);
    this.yTicks.innerHTML = placed(ticks[1], "bottom", y.length);
    [this.xTitle.textContent, this.yTitle.textContent, this.lines.textContent] = [`${axes[0]} →`, `↑ ${axes[1]}`, lines];
    const sparse = this.name === "onebit";
    for (const part of [this.signal, this.marks]) part.toggleAttribute("hidden", !sparse);
    this.images.hidden = sparse;
  }

  // Show what is recovered at the chosen point and iterate.
  drawPoint() {
    const { diagram, solver, i, j, frame, last } = this, { x, y, size } = diagram;
    const point = j * x.length + i, from = ((point + 1) * solver.frames - 1 - frame) * size;
    const values = [...solver.iterates.subarray(from, from + size)];
    const truth = [...this.atlas.data.subarray(diagram.truth + j * size, diagram.truth + (j + 1) * size)];
    const rate = `${Math.round(solver.rate[j][i] * solver.trials)} of ${solver.trials} other trials`;
    const words = this.name === "onebit" ? this.drawEntries(values, truth) : this.drawImages(values, truth);
    this.words.innerHTML = words(solver.errors[point][frame], rate);
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
  drawEntries(values, truth) {
    const { diagram, solver, i, j } = this, count = diagram.y[j];
    const places = [...values.keys()];
    const support = [...places].sort((a, b) => Math.abs(values[b]) - Math.abs(values[a])).slice(0, count);
    const [right, wrong] = [support.filter((k) => truth[k]), support.filter((k) => !truth[k])];
    const on = places.filter((k) => truth[k]), others = places.filter((k) => !truth[k] && !wrong.includes(k));
    const stems = (some) => some.map((k) => `M${k + 0.5} 0V${-values[k]}`).join("");
    // A line of no length with round ends.
    const dots = (some, levels) => some.map((k) => `M${k + 0.5} ${-levels[k]}h0`).join("");
    const paths = {
      zero: `M0 0H${values.length}`,
      "truth dot": dots(on, truth),
      "hole dot": dots(on, truth),
      "miss faint": stems(others),
      hit: stems(on),
      "hit dot": dots(right, values),
      miss: stems(wrong),
      "miss dot": dots(wrong, values),
    };
    this.signal.setAttribute("viewBox", `0 -133 ${values.length} 266`);
    this.signal.innerHTML = Object.entries(paths).map(([look, d]) => `<path class="${look}" d="${d}" />`).join("");
    return (error, rate) =>
      `<strong>${diagram.x[i].toLocaleString("en")} bits, ${count} of ${values.length} entries</strong><br>` +
      `${solver.name} finds ${right.length} of ${count} positions, error ${error.toPrecision(2)}; ${rate} find all.`;
  }

  // Draw the recovered image and the true one; return what says how exact the first is.
  drawImages(values, truth) {
    const { diagram, solver, i, j } = this, side = Math.sqrt(values.length), brightest = Math.max(...truth);
    [values, truth].forEach((levels, number) => {
      const canvas = this.images.querySelectorAll("canvas")[number], image = new ImageData(side, side);
      // Bytes of red, green, blue and opacity, which end at 0 and 255.
      levels.forEach((level, k) => image.data.fill((255 * level) / brightest, 4 * k).fill(255, 4 * k + 3));
      Object.assign(canvas, { width: side, height: side }).getContext("2d").putImageData(image, 0, 0);
    });
    const [count, rank] = [diagram.x[i], diagram.y[j]];
    return (error, rate) =>
      `<strong>${count} numbers, rank ${rank}: ${rank * (2 * side - rank)} degrees of freedom</strong><br>` +
      `${solver.name}: error ${error < 1e-6 ? "0 up to rounding" : error.toPrecision(2)}; ${rate} are exact.`;
  }
}

const loading = load(new URL(`atlas.bin${new URL(import.meta.url).search}`, import.meta.url));

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".lrlab-atlas");
  loading.then((atlas) => (root.atlas ??= new Atlas(root, atlas, data.base)));
}
