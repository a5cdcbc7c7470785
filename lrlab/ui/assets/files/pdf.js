// Writes an SVG of Plotly, whose text is outlines, as a PDF of one page: the browser says where each shape is drawn, and
// in which colour.

import { file } from "./pdf_file.js";
import { curves } from "./svg_paths.js";

const GRADIENT_STEPS = 64;
const number = (value) => String(Number(value.toFixed(3)));

// root: the SVG, in the document. size: millimetres and, in pixels, width and height.
export async function pdf(root, size, title) {
  const page = new Page(root);
  await page.draw(root, 1, []);
  return file(page, size, title);
}

class Page {
  constructor(root) {
    this.root = root;
    this.operators = [];
    this.alphas = new Map();
    this.images = [];
    this.inverse = DOMMatrix.fromMatrix(root.getScreenCTM()).inverse();
  }

  matrix(node) {
    return this.inverse.multiply(DOMMatrix.fromMatrix(node.getScreenCTM()));
  }

  async draw(node, opacity, clips) {
    const style = getComputedStyle(node);
    if (["defs", "clipPath", "style", "title"].includes(node.tagName) || style.display === "none") return;
    const clip = /url\("?#([^")]+)"?\)/.exec(style.clipPath)?.[1];
    const shapes = clip ? [...this.root.querySelector(`#${CSS.escape(clip)}`).children] : [];
    // Points of a clip path are those of the node that it clips.
    const inner = clip ? [...clips, shapes.map((shape) => curves(outline(shape), this.matrix(node))).join(" ")] : clips;
    const alpha = opacity * Number(style.opacity);
    if (["svg", "g", "a"].includes(node.tagName)) {
      for (const child of node.children) await this.draw(child, alpha, inner);
    } else if (style.visibility === "hidden" || alpha === 0) {
      return;
    } else if (node.tagName === "image") {
      await this.image(node, alpha, inner);
    } else {
      this.shape(curves(outline(node), this.matrix(node)), node, style, alpha, inner);
    }
  }

  shape(path, node, style, alpha, clips) {
    if (!path) return;
    const server = /url\("?#([^")]+)"?\)/.exec(style.fill)?.[1];
    if (server) this.served(path, node, this.root.querySelector(`#${CSS.escape(server)}`), alpha, clips);
    // What has no area would be drawn as a hair, unlike in SVG.
    const flat = path.split(" c").length === 1 && path.split(" l").length < 3;
    const fill = server || flat ? null : colour(style.fill, style.fillOpacity * alpha);
    const line = parseFloat(style.strokeWidth) > 0 ? colour(style.stroke, style.strokeOpacity * alpha) : null;
    if (fill) this.emit(clips, `${this.alpha(fill[3])} ${fill.slice(0, 3).map(number).join(" ")} rg ${path} ${style.fillRule === "evenodd" ? "f*" : "f"}`);
    if (!line) return;
    const { a, b, c, d } = this.matrix(node);
    const scale = style.vectorEffect === "non-scaling-stroke" ? 1 : Math.sqrt(Math.abs(a * d - b * c));
    const dashes = style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map((part) => number(parseFloat(part) * scale));
    const ends = `${{ round: 1, square: 2 }[style.strokeLinecap] ?? 0} J ${{ round: 1, bevel: 2 }[style.strokeLinejoin] ?? 0} j`;
    const pen = `${number(parseFloat(style.strokeWidth) * scale)} w ${ends} [${dashes.join(" ")}] 0 d`;
    this.emit(clips, `${this.alpha(line[3])} ${line.slice(0, 3).map(number).join(" ")} RG ${pen} ${path} S`);
  }

  // A gradient is drawn in strips, a hatch tile by tile.
  served(path, node, server, alpha, clips) {
    const box = node.getBBox();
    const inside = [...clips, path];
    const at = this.matrix(node);
    if (server.tagName === "pattern") {
      const [wide, high] = ["width", "height"].map((name) => parseFloat(server.getAttribute(name)));
      const own = DOMMatrix.fromMatrix(server.patternTransform.baseVal.consolidate()?.matrix ?? new DOMMatrix());
      for (let x = Math.floor(box.x / wide) * wide; x < box.x + box.width; x += wide) {
        for (let y = Math.floor(box.y / high) * high; y < box.y + box.height; y += high) {
          for (const part of server.children) {
            const placed = curves(outline(part), at.translate(x, y).multiply(own));
            const style = getComputedStyle(part);
            const { fill, stroke, strokeWidth } = style;
            this.shape(placed, node, { ...plainStyle, fill, stroke, strokeWidth, fillOpacity: style.fillOpacity, strokeOpacity: style.strokeOpacity }, alpha, inside);
          }
        }
      }
      return;
    }
    const stops = [...server.children].map((stop) => ({ offset: stop.offset.baseVal, style: getComputedStyle(stop) }));
    const upright = server.y1.baseVal.valueAsString !== server.y2.baseVal.valueAsString;
    const reversed = upright ? server.y1.baseVal.value > server.y2.baseVal.value : server.x1.baseVal.value > server.x2.baseVal.value;
    for (let k = 0; k < GRADIENT_STEPS; k++) {
      const share = (k + 0.5) / GRADIENT_STEPS;
      const paint = between(stops, reversed ? 1 - share : share);
      const [x, y] = upright ? [0, k / GRADIENT_STEPS] : [k / GRADIENT_STEPS, 0];
      // Neighbours overlap a little, so that no light shines through.
      const [wide, high] = upright ? [1, 1.2 / GRADIENT_STEPS] : [1.2 / GRADIENT_STEPS, 1];
      const strip = `M${box.x + x * box.width},${box.y + y * box.height}h${wide * box.width}v${high * box.height}h${-wide * box.width}z`;
      this.emit(inside, `${this.alpha(alpha)} ${paint.map(number).join(" ")} rg ${curves(strip, at)} f`);
    }
  }

  async image(node, alpha, clips) {
    const picture = new Image();
    picture.src = node.href.baseVal;
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const levels = context.getImageData(0, 0, canvas.width, canvas.height).data;
    const box = node.getBBox();
    const { a, b, c, d, e, f } = this.matrix(node).translate(box.x, box.y + box.height).scale(box.width, -box.height);
    this.images.push({ width: canvas.width, height: canvas.height, levels });
    this.emit(clips, `${this.alpha(alpha)} ${[a, b, c, d, e, f].map(number).join(" ")} cm /I${this.images.length - 1} Do`);
  }

  alpha(value) {
    const key = number(value);
    if (!this.alphas.has(key)) this.alphas.set(key, `/A${this.alphas.size}`);
    return `${this.alphas.get(key)} gs`;
  }

  emit(clips, operators) {
    this.operators.push(`q ${clips.map((clip) => `${clip} W n `).join("")}${operators} Q`);
  }
}

const plainStyle = { fillRule: "nonzero", strokeDasharray: "none", strokeLinecap: "butt", strokeLinejoin: "miter", vectorEffect: "none" };

// A shape as the data of a path.
function outline(node) {
  const value = (name) => node[name].baseVal.value;
  if (node.tagName === "path") return node.getAttribute("d") ?? "";
  if (node.tagName === "rect") return `M${value("x")},${value("y")}h${value("width")}v${value("height")}h${-value("width")}z`;
  if (node.tagName === "line") return `M${value("x1")},${value("y1")}L${value("x2")},${value("y2")}`;
  if (node.tagName === "circle") {
    const r = value("r");
    return `M${value("cx") + r},${value("cy")}a${r},${r} 0 1 1 ${-2 * r},0a${r},${r} 0 1 1 ${2 * r},0z`;
  }
  throw new Error(`PDF has no <${node.tagName}>`);
}

// A colour of CSS as shares of red, green and blue and its opacity; null where there is none.
function colour(text, opacity) {
  const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g)?.map(Number) ?? [];
  return blue === undefined || alpha * opacity === 0 ? null : [red / 255, green / 255, blue / 255, alpha * opacity];
}

function between(stops, share) {
  const after = Math.max(1, stops.findIndex((stop) => stop.offset >= share));
  const [low, high] = [stops[after - 1], stops[after]];
  const part = Math.min(1, Math.max(0, (share - low.offset) / (high.offset - low.offset || 1)));
  const [from, to] = [low, high].map((stop) => colour(stop.style.stopColor, 1));
  return [0, 1, 2].map((k) => from[k] + part * (to[k] - from[k]));
}
