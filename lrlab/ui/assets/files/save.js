// Saves a figure as SVG, PDF or PNG in a width for print, on white, whatever the colors and the size of the page.

export const PIXELS = 96 / 25.4;
export const INK = "#1c2430";
// That of the page, and its name where it is installed.
const FONT = '"Source Sans", "Source Sans Pro", sans-serif';
// Heights of a figure and of what its axes enclose, over its width.
const TALLEST = 0.95;
const LOWEST = 0.6;
// Millimeters below which a figure has its form for telephones.
export const NARROW_FILE = 120;

function onWhite(layout, width, height) {
  const white = { paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" };
  return structuredClone({ ...layout, ...white, width, height, autosize: false });
}

// The page has figures in its own width: that of the file is drawn anew, out of sight.
async function drawn(host, figure, width) {
  const single = !Object.keys(figure.layout).some((name) => /^[xy]axis\d/.test(name));
  const height = single ? Math.round(Math.min(figure.layout.height, TALLEST * width)) : figure.layout.height;
  const layout = onWhite(figure.layout, width, height);
  const node = document.createElement("div");
  host.append(node);
  await window.Plotly.newPlot(node, figure.data, layout, { staticPlot: true });
  // Below a narrow figure the legend takes many lines.
  const missing = single ? Math.round(LOWEST * width - node._fullLayout._size.h) : 0;
  if (missing > 0) await window.Plotly.relayout(node, { height: height + missing });
  const size = { width, height: height + Math.max(0, missing) };
  const url = await window.Plotly.toImage(node, { format: "svg", ...size });
  window.Plotly.purge(node);
  host.innerHTML = decodeURIComponent(url.slice(url.indexOf(",") + 1));
  return { root: host.firstElementChild, ...size };
}

async function content(root, { millimeters, width, height }, format, title) {
  root.style.fontFamily = FONT;
  root.setAttribute("width", `${millimeters}mm`);
  root.setAttribute("height", `${((millimeters * height) / width).toFixed(2)}mm`);
  const svg = new XMLSerializer().serializeToString(root);
  if (format === "svg") return svg;
  return format === "png" ? pixels(svg, width, height) : written(svg, title);
}

async function pixels(svg, width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 4 * width, height: 4 * height });
  const picture = Object.assign(new Image(), { src: `data:image/svg+xml,${encodeURIComponent(svg)}` });
  await picture.decode();
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Written by the server (lrlab/ui/live/exports.py).
async function written(body, title) {
  const address = new URL(`${window.lrlabLive.address}/pdf?${new URLSearchParams({ title })}`, document.baseURI);
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.blob();
}

// figure: its data and layout. millimeters: the width. name: of the file, without its ending. title: of the document.
export async function save(figure, { name, title, format, millimeters }) {
  const host = document.createElement("div");
  host.style.cssText = "position: absolute; left: -9999px; top: 0";
  host.ariaHidden = "true";
  document.body.append(host);
  try {
    const width = Math.round(millimeters * PIXELS);
    const { root, ...size } = await drawn(host, figure, width);
    const parts = [await content(root, { ...size, millimeters }, format, title)];
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts));
    link.download = `${name}-${millimeters}mm.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } finally {
    host.remove();
  }
}
