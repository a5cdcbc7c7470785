// Ticks of logarithmic axes: full values, as many as fit without touching. Plotly writes "2" and "5" between powers.

const GAP = 10;
const LINE = 1.7;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function valueText(value) {
  const power = Math.floor(Math.log10(value) + 1e-9);
  if (power >= -3 && power <= 5) return value.toLocaleString("en", { maximumSignificantDigits: 6 });
  const exponent = [...String(Math.abs(power))].map((digit) => SUPERSCRIPTS[digit]).join("");
  const factor = Number((value / 10 ** power).toPrecision(6));
  return `${factor === 1 ? "" : `${factor}·`}10${power < 0 ? "⁻" : ""}${exponent}`;
}

// Candidates, the densest first: even steps where the axis is short, then parts of decades, then every few decades.
function* candidates(low, high) {
  const first = Math.floor(Math.log10(low)) - 1;
  const decades = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, k) => first + k);
  const inside = (values) => values.filter((value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9));
  if (high < 10 * low) {
    const size = Math.floor(Math.log10(high - low));
    for (const step of [0.1, 0.2, 0.5, 1, 2, 5].map((part) => part * 10 ** size)) {
      const start = Math.ceil(low / step - 1e-9);
      const count = Math.floor(high / step + 1e-9) - start + 1;
      yield Array.from({ length: count }, (_, k) => Number(((start + k) * step).toPrecision(12)));
    }
  }
  for (const parts of [[1, 2, 5], [1, 3], [1]]) {
    yield inside(decades.flatMap((power) => parts.map((part) => Number(`${part}e${power}`))));
  }
  for (const every of [2, 3, 5, 10, 20, 50]) {
    yield inside(decades.filter((power) => power % every === 0).map((power) => Number(`1e${power}`)));
  }
}

let pencil = null;

function fits(values, texts, axis, horizontal) {
  const size = axis.tickfont.size;
  pencil ??= document.createElement("canvas").getContext("2d");
  pencil.font = `${size}px ${axis.tickfont.family}`;
  const widths = texts.map((text) => pencil.measureText(text).width);
  const pixels = axis._length / Math.abs(axis.range[1] - axis.range[0]);
  return values.slice(1).every((value, k) => {
    const apart = Math.abs(Math.log10(value / values[k])) * pixels;
    return apart >= (horizontal ? (widths[k] + widths[k + 1]) / 2 + GAP : LINE * size);
  });
}

// The ticks of all logarithmic axes of a drawn figure, by what `Plotly.relayout` takes.
export function logTicks(node) {
  const changes = {};
  for (const [name, axis] of Object.entries(node._fullLayout)) {
    if (!/^[xy]axis\d*$/.test(name) || axis.type !== "log" || !axis.range.every(Number.isFinite)) continue;
    const [low, high] = [...axis.range].sort((a, b) => a - b).map((power) => 10 ** power);
    for (const values of candidates(low, high)) {
      const texts = values.map(valueText);
      if (values.length > 1 && fits(values, texts, axis, name.startsWith("x"))) {
        Object.assign(changes, { [`${name}.tickvals`]: values, [`${name}.ticktext`]: texts });
        break;
      }
    }
  }
  return changes;
}

// Put them into a layout that is to be drawn.
export function withTicks(layout, changes) {
  for (const [path, value] of Object.entries(changes)) {
    const [axis, name] = path.split(".");
    if (layout[axis]?.type === "log") layout[axis] = { ...layout[axis], [name]: value };
  }
  return layout;
}

// Draw the ticks that fit where they are not drawn yet; return what is drawn.
export async function fitTicks(node, before) {
  const changes = logTicks(node);
  if (JSON.stringify(changes) !== JSON.stringify(before)) await window.Plotly.relayout(node, changes);
  return changes;
}
