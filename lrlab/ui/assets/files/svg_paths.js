// Data of an SVG path, under an affine map, as operators of PDF: moves, lines and cubic curves.

const TOKENS = /[a-zA-Z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/g;
const LENGTHS = { M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, A: 7, Z: 0 };

function* commands(data) {
  const tokens = data.match(TOKENS) ?? [];
  let letter = "";
  for (let k = 0; k < tokens.length; ) {
    if (/[a-zA-Z]/.test(tokens[k])) letter = tokens[k++];
    // Points after those of a move are ends of lines.
    else if (letter === "M" || letter === "m") letter = letter === "M" ? "L" : "l";
    const length = LENGTHS[letter.toUpperCase()];
    if (length === undefined) throw new Error(`a path has an unknown command ${letter}`);
    yield [letter, tokens.slice(k, k + length).map(Number)];
    k += length;
  }
}

export function curves(data, matrix) {
  const out = [];
  const point = (x, y) => {
    const { a, b, c, d, e, f } = matrix;
    return `${+(a * x + c * y + e).toFixed(3)} ${+(b * x + d * y + f).toFixed(3)}`;
  };
  let [x, y, startX, startY, handleX, handleY] = [0, 0, 0, 0, 0, 0];
  const curve = (...v) => {
    out.push(`${point(v[0], v[1])} ${point(v[2], v[3])} ${point(v[4], v[5])} c`);
    [handleX, handleY, x, y] = v.slice(2);
  };
  for (const [letter, given] of commands(data)) {
    const kind = letter.toUpperCase();
    const v = letter === kind ? given : absolute(kind, given, x, y);
    if (kind !== "S") [handleX, handleY] = kind === "C" ? [handleX, handleY] : [x, y];
    if (kind === "M") {
      [x, y, startX, startY] = [v[0], v[1], v[0], v[1]];
      out.push(`${point(x, y)} m`);
    } else if (kind === "L" || kind === "H" || kind === "V") {
      [x, y] = kind === "L" ? v : kind === "H" ? [v[0], y] : [x, v[0]];
      out.push(`${point(x, y)} l`);
    } else if (kind === "C") {
      curve(...v);
    } else if (kind === "S") {
      curve(2 * x - handleX, 2 * y - handleY, ...v);
    } else if (kind === "Q") {
      const third = (from, at) => from + (2 / 3) * (at - from);
      curve(third(x, v[0]), third(y, v[1]), third(v[2], v[0]), third(v[3], v[1]), v[2], v[3]);
    } else if (kind === "A") {
      for (const part of arc(x, y, ...v)) curve(...part);
    } else {
      [x, y] = [startX, startY];
      out.push("h");
    }
    if (kind !== "C" && kind !== "S" && kind !== "A" && kind !== "Q") [handleX, handleY] = [x, y];
  }
  return out.join(" ");
}

function absolute(kind, v, x, y) {
  if (kind === "H") return [v[0] + x];
  if (kind === "V") return [v[0] + y];
  if (kind === "A") return [...v.slice(0, 5), v[5] + x, v[6] + y];
  return v.map((value, k) => value + (k % 2 ? y : x));
}

// An arc as cubic curves of a quarter each at most (its centre: SVG 1.1, appendix F.6.5).
function arc(x1, y1, rx, ry, degrees, large, sweep, x2, y2) {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const [dx, dy] = [(x1 - x2) / 2, (y1 - y2) / 2];
  const [px, py] = [cos * dx + sin * dy, cos * dy - sin * dx];
  if (!rx || !ry || (!dx && !dy)) return [[x1, y1, x2, y2, x2, y2]];
  const grow = Math.max(1, Math.hypot(px / rx, py / ry));
  const [a, b] = [Math.abs(rx) * grow, Math.abs(ry) * grow];
  const rest = Math.max(0, (a * b) ** 2 / ((a * py) ** 2 + (b * px) ** 2) - 1);
  const root = (large === sweep ? -1 : 1) * Math.sqrt(rest);
  const [qx, qy] = [(root * a * py) / b, (-root * b * px) / a];
  const from = Math.atan2((py - qy) / b, (px - qx) / a);
  let turn = Math.atan2((-py - qy) / b, (-px - qx) / a) - from;
  if (sweep && turn < 0) turn += 2 * Math.PI;
  if (!sweep && turn > 0) turn -= 2 * Math.PI;
  const count = Math.ceil(Math.abs(turn) / (Math.PI / 2) - 1e-9);
  const step = turn / count;
  const handle = (4 / 3) * Math.tan(step / 4);
  const at = (u, w) => [cos * a * u - sin * b * w + cos * qx - sin * qy + (x1 + x2) / 2, sin * a * u + cos * b * w + sin * qx + cos * qy + (y1 + y2) / 2];
  return Array.from({ length: count }, (_, k) => {
    const [c0, s0] = [Math.cos(from + k * step), Math.sin(from + k * step)];
    const [c1, s1] = [Math.cos(from + (k + 1) * step), Math.sin(from + (k + 1) * step)];
    return [...at(c0 - handle * s0, s0 + handle * c0), ...at(c1 + handle * s1, s1 - handle * c1), ...at(c1, s1)];
  });
}
