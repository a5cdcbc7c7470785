// The figure of a run in a notebook, by anywidget: lrlab/widget.py puts FILES (the scripts beside this one, by name),
// LIBRARY (plotly.js) and HTML (plot.html) before this text, for a notebook has no server that would send them.

const address = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const addresses = () => Object.fromEntries(Object.entries(FILES).map(([name, text]) => [name, address(text)]));
const files = (window.lrlabFiles ??= addresses());

export default {
  async render({ model, el }) {
    el.innerHTML = `${HTML}<p class="lrlab-words" role="status"></p>`;
    const { default: component } = await import(files["plot.js"]);
    const send = (data, parentElement = el) => component({ data, parentElement, setTriggerValue: () => {} });
    const library = (window.lrlabLibrary ??= address(LIBRARY));
    send({ address: library, template: model.get("template") }, document.createElement("div"));
    const words = () => (el.querySelector(".lrlab-words").innerHTML = model.get("words"));
    const plain = { name: "lrlab", narrow: "", frames: "", link: "", part: "", slides: false, sent: 0 };
    const draw = () => send({ ...plain, figure: model.get("figure"), label: model.get("label") });
    model.on("change:words", words);
    model.on("change:figure", draw);
    words();
    return draw();
  },
};
