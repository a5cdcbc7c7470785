// A line over the columns of a grid, drawn by mouse, finger or arrow keys: one value per column, sent by its button.

const TICKS = [0.2, 0.4, 0.6, 0.8];
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lrlab-draw");
  const [plane, mark, path, told, send] = ["svg", "rect", "path", "output", "button"].map((name) => root.querySelector(name));
  const { sides: [x, y], line } = JSON.parse(data.plane);
  const [low, high] = y.ends;
  const columns = x.values.length;
  const row = y.values[1] - y.values[0];
  // What is drawn and not sent yet stays when the script of the page runs.
  root.line ??= line ?? x.values.map(() => (low + high) / 2);
  root.at ??= 0;

  const show = () => {
    const points = root.line.map((value, k) => `${k + 0.5} ${(high - value) / (high - low)}`);
    path.setAttribute("d", `M0 ${points[0].split(" ")[1]}L${points.join("L")}H${columns}`);
    mark.setAttribute("x", root.at);
    told.textContent = `${x.name} = ${Number(x.values[root.at].toPrecision(3))}: ${y.name} = ${root.line[root.at].toFixed(2)}`;
    send.disabled = !root.drawn;
  };
  const put = (at, value) => {
    [root.at, root.line[at], root.drawn] = [at, clamp(value, low, high), true];
  };
  const moved = ({ clientX, clientY }) => {
    const box = plane.getBoundingClientRect();
    const at = clamp(Math.floor(((clientX - box.left) / box.width) * columns), 0, columns - 1);
    const value = high - ((clientY - box.top) / box.height) * (high - low);
    // A fast pointer passes columns between two events.
    const [before, was] = root.last ?? [at, value];
    const steps = Math.max(1, Math.abs(at - before));
    for (let k = 1; k <= steps; k++) put(before + ((at - before) * k) / steps, was + ((value - was) * k) / steps);
    root.last = [at, value];
    show();
  };
  plane.onpointerdown = (event) => {
    plane.setPointerCapture(event.pointerId);
    root.last = null;
    moved(event);
  };
  plane.onpointermove = (event) => void (event.buttons && moved(event));
  plane.onkeydown = (event) => {
    const [across, up] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
    if (across === undefined) return;
    event.preventDefault();
    root.at = clamp(root.at + across, 0, columns - 1);
    if (up) put(root.at, root.line[root.at] + up * row);
    show();
  };
  send.onclick = () => {
    root.drawn = false;
    setTriggerValue("drawn", root.line);
    show();
  };

  plane.setAttribute("viewBox", `0 0 ${columns} 1`);
  plane.setAttribute("aria-label", `${y.title} over ${x.title}. Left and right choose a column, up and down move its point.`);
  plane.style.backgroundSize = `${100 / columns}% ${100 / y.values.length}%`;
  const ticks = (side, edge) =>
    TICKS.map((tick) => `<span style="${edge}: ${(100 * (tick - side.ends[0])) / (side.ends[1] - side.ends[0])}%">${tick}</span>`);
  root.querySelector(".lrlab-plane-up").innerHTML = ticks(y, "bottom").join("");
  root.querySelector(".lrlab-plane-across").innerHTML = ticks(x, "left").join("");
  [root.firstElementChild.textContent, root.querySelector("p ~ p").textContent] = [`↑ ${y.title}`, `${x.title} →`];
  show();
}
