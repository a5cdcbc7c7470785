// Saves a figure of the page as it is zoomed now, on white, whatever the colours of the page.

function save(key, name, format) {
  const node = document.querySelector(`.st-key-${key} .lrlab-figure`);
  if (!node?.data || !window.Plotly) return;
  const layout = {
    ...node.layout,
    font: { ...node.layout.font, color: "#1c2430" },
    paper_bgcolor: "#ffffff",
    plot_bgcolor: "#ffffff",
  };
  const size = { width: node.clientWidth, height: node.clientHeight, scale: format === "png" ? 2 : 1 };
  window.Plotly.downloadImage({ data: node.data, layout: structuredClone(layout) }, { ...size, format, filename: name });
}

export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll(".lrlab-save button")) {
    button.onclick = () => save(data.key, data.name, button.dataset.format);
  }
}
