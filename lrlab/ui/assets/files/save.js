// Saves a figure as SVG, PDF or PNG in a width for print, on white, whatever the colors and the size of the page.

export const PIXELS = 96 / 25.4;
export const INK = "#1c2430";
// That of the page, and its name where it is installed.
const FONT = '"Source Sans", "Source Sans Pro", sans-serif';
// Millimeters below which a figure has its form for telephones, and pixels of a line of its legend.
export const NARROW_FILE = 120;
const LINE = 22;

// Below a narrow figure the legend takes a line per entry.
function heightOf({ data, layout }, narrow) {
  const entries = data.filter(({ name, showlegend }) => name && showlegend !== false).length;
  return layout.height + (narrow && layout.showlegend !== false ? LINE * entries : 0);
}

// Written by the server (lrlab/ui/live/exports.py).
async function pdf(body, title) {
  const address = new URL(`${window.lrlabLive.address}/pdf?${new URLSearchParams({ title })}`, document.baseURI);
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
  return URL.createObjectURL(await answer.blob());
}

// figure: its data and layout. millimeters: the width. name: of the file, without its ending. title: of the document.
export async function save(figure, { name, title, format, millimeters }) {
  const size = { width: Math.round(millimeters * PIXELS), height: heightOf(figure, millimeters < NARROW_FILE) };
  const white = { paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", autosize: false, ...size };
  const layout = structuredClone({ ...figure.layout, ...white, font: { ...figure.layout.font, family: FONT } });
  const shown = { data: figure.data, layout, config: { staticPlot: true } };
  let href = await window.Plotly.toImage(shown, { format: format === "png" ? "png" : "svg", scale: format === "png" ? 4 : 1, ...size });
  if (format !== "png") {
    const high = ((millimeters * size.height) / size.width).toFixed(2);
    const [, svg] = decodeURIComponent(href).match(/,(.*)/s);
    const sized = svg.replace(/<svg([^>]*) width="[^"]*" height="[^"]*"/, `<svg$1 width="${millimeters}mm" height="${high}mm"`);
    href = format === "pdf" ? await pdf(sized, title) : URL.createObjectURL(new Blob([sized]));
  }
  Object.assign(document.createElement("a"), { href, download: `${name}-${millimeters}mm.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
