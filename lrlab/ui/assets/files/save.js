// Saves a figure as SVG, PDF or PNG in a width for print, on white, whatever the colours and the size of the page.

const query = new URL(import.meta.url).search;
const beside = (name) => window.lrlabFiles?.[name] ?? new URL(name + query, import.meta.url);
const PIXELS = 96 / 25.4;
const PNG_DPI = 600;
const INK = "#1c2430";
// That of the page, and its name where it is installed.
const FONT = '"Source Sans", "Source Sans Pro", sans-serif';
// Heights of a figure and of what its axes enclose, over its width.
const TALLEST = 0.95;
const LOWEST = 0.6;
// Millimetres below which a figure has its form for telephones.
export const NARROW_FILE = 120;

// The page has figures in its own width: that of the file is drawn anew, out of sight.
async function drawn(host, figure, width) {
  const { fitTicks } = await import(beside("ticks.js"));
  const single = !Object.keys(figure.layout).some((name) => /^[xy]axis\d/.test(name));
  const height = single ? Math.round(Math.min(figure.layout.height, TALLEST * width)) : figure.layout.height;
  const white = { paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", font: { ...figure.layout.font, color: INK } };
  const layout = structuredClone({ ...figure.layout, ...white, width, height, autosize: false });
  const node = document.createElement("div");
  host.append(node);
  await window.Plotly.newPlot(node, figure.data, layout, { staticPlot: true });
  // Below a narrow figure the legend takes many lines.
  const missing = single ? Math.round(LOWEST * width - node._fullLayout._size.h) : 0;
  if (missing > 0) await window.Plotly.relayout(node, { height: height + missing });
  await fitTicks(node, {});
  const size = { width, height: height + Math.max(0, missing) };
  const url = await window.Plotly.toImage(node, { format: "svg", ...size });
  window.Plotly.purge(node);
  host.innerHTML = decodeURIComponent(url.slice(url.indexOf(",") + 1));
  return { root: host.firstElementChild, ...size };
}

function text(root) {
  return new XMLSerializer().serializeToString(root);
}

async function png(root, { width, height }) {
  const picture = new Image();
  picture.src = `data:image/svg+xml,${encodeURIComponent(text(root))}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  const scale = PNG_DPI / 96;
  [canvas.width, canvas.height] = [width * scale, height * scale];
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return withResolution(new Uint8Array(await blob.arrayBuffer()));
}

async function content(root, size, format, title) {
  root.style.fontFamily = FONT;
  if (format === "png") {
    root.prepend(await pageFont());
    return png(root, size);
  }
  root.setAttribute("width", `${size.millimetres}mm`);
  root.setAttribute("height", `${((size.millimetres * size.height) / size.width).toFixed(2)}mm`);
  return format === "svg" ? text(root) : pdf(text(root), title);
}

// A picture of an SVG knows no font of the page: it brings its own.
async function pageFont() {
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const fonts = rules.filter((rule) => rule instanceof CSSFontFaceRule && /^"?Source Sans"?$/.test(rule.style.fontFamily));
  for (const { style: face, parentStyleSheet } of fonts.filter((rule) => rule.style.fontStyle !== "italic")) {
    const [, name] = /url\("?([^")]+)"?\)/.exec(face.src);
    const file = await (await fetch(new URL(name, parentStyleSheet.href ?? document.baseURI))).blob();
    const reader = new FileReader();
    await new Promise((resolve) => Object.assign(reader, { onload: resolve }).readAsDataURL(file));
    style.append(`@font-face { font-family: "Source Sans"; font-weight: ${face.fontWeight}; src: url(${reader.result}); }`);
  }
  return style;
}

// Written by the server (lrlab/ui/live/pdf.py).
async function pdf(svg, title) {
  const address = new URL(`${window.lrlabLive.address}/pdf?${new URLSearchParams({ title })}`, document.baseURI);
  const answer = await fetch(address, { method: "POST", body: svg });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.blob();
}

// A PNG has its width in print from a chunk of its own, which comes after the header of 33 bytes.
function withResolution(png) {
  const chunk = new Uint8Array(21);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, 9);
  chunk.set(new TextEncoder().encode("pHYs"), 4);
  for (const at of [8, 12]) view.setUint32(at, Math.round(PNG_DPI / 0.0254));
  chunk[16] = 1;
  let rest = -1;
  for (const byte of chunk.subarray(4, 17)) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  view.setUint32(17, ~rest >>> 0);
  return new Blob([png.subarray(0, 33), chunk, png.subarray(33)]);
}

// figure: data and layout. millimetres: the width. name: of the file, without its ending. title: of the document.
export async function save(figure, { name, title, format, millimetres }) {
  const host = document.createElement("div");
  host.style.cssText = "position: absolute; left: -9999px; top: 0";
  host.ariaHidden = "true";
  document.body.append(host);
  try {
    const { root, ...size } = await drawn(host, figure, Math.round(millimetres * PIXELS));
    const types = { svg: "image/svg+xml", pdf: "application/pdf", png: "image/png" };
    const parts = [await content(root, { ...size, millimetres }, format, title)];
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts, { type: types[format] }));
    link.download = `${name}-${millimetres}mm.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } finally {
    host.remove();
  }
}
