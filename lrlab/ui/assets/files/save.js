// Saves a figure as SVG, PDF, PNG or GIF in a width for print, on white, whatever the colours and the size of the page.

const query = new URL(import.meta.url).search;
const beside = (name) => window.lrlabFiles?.[name] ?? new URL(name + query, import.meta.url);
const PIXELS = 96 / 25.4;
const FILM_SCALE = 1.5;
export const INK = "#1c2430";
// That of the page, and its name where it is installed.
const FONT = '"Source Sans", "Source Sans Pro", sans-serif';
// Heights of a figure and of what its axes enclose, over its width.
const TALLEST = 0.95;
const LOWEST = 0.6;
// Millimetres below which a figure has its form for telephones.
export const NARROW_FILE = 120;

function onWhite(layout, width, height) {
  const white = { paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" };
  return structuredClone({ ...layout, ...white, width, height, autosize: false });
}

// The page has figures in its own width: that of the file is drawn anew, out of sight.
async function drawn(host, figure, width) {
  const { fitTicks } = await import(beside("ticks.js"));
  const single = !Object.keys(figure.layout).some((name) => /^[xy]axis\d/.test(name));
  const height = single ? Math.round(Math.min(figure.layout.height, TALLEST * width)) : figure.layout.height;
  const layout = onWhite(figure.layout, width, height);
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

async function content(root, { millimetres, width, height }, format, title) {
  root.style.fontFamily = FONT;
  root.setAttribute("width", `${millimetres}mm`);
  root.setAttribute("height", `${((millimetres * height) / width).toFixed(2)}mm`);
  const svg = new XMLSerializer().serializeToString(root);
  if (format === "svg") return svg;
  return format === "png" && !window.lrlabLive ? pixels(svg, width, height) : written(format, svg, title);
}

// In a notebook there is no server that would write it.
async function pixels(svg, width, height) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 4 * width, height: 4 * height });
  const picture = Object.assign(new Image(), { src: `data:image/svg+xml,${encodeURIComponent(svg)}` });
  await picture.decode();
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// Written by the server (lrlab/ui/live/posts.py).
async function written(kind, body, title) {
  const address = new URL(`${window.lrlabLive.address}/${kind}?${new URLSearchParams({ title })}`, document.baseURI);
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.blob();
}

// The pictures of all frames, with the address of the page.
async function film(host, figures, width, title) {
  const node = host.appendChild(document.createElement("div"));
  const lines = [];
  for (const { data, layout, name } of figures) {
    const { height } = layout;
    // A picture knows no font of the page.
    const look = onWhite({ ...layout, font: { ...layout.font, family: "Arial, sans-serif" } }, width, height);
    await window.Plotly.react(node, data, look, { staticPlot: true });
    lines.push(`${name}\t${await window.Plotly.toImage(node, { format: "png", width, height, scale: FILM_SCALE })}`);
  }
  window.Plotly.purge(node);
  return written("gif", lines.join("\n"), `${title}\n${location.host}${location.pathname}`);
}

// figures: data and layout of one, or, with the name of its frame, of each picture of a GIF. millimetres: the width.
// name: of the file, without its ending. title: of the document.
export async function save(figures, { name, title, format, millimetres }) {
  const host = document.createElement("div");
  host.style.cssText = "position: absolute; left: -9999px; top: 0";
  host.ariaHidden = "true";
  document.body.append(host);
  try {
    const width = Math.round(millimetres * PIXELS);
    const made = async () => {
      const { root, ...size } = await drawn(host, figures[0], width);
      return content(root, { ...size, millimetres }, format, title);
    };
    const parts = [format === "gif" ? await film(host, figures, width, title) : await made()];
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(parts));
    link.download = `${name}-${millimetres}mm.${format}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } finally {
    host.remove();
  }
}
