// Plays shipped frames: the recovered picture beside the truth, the number of answers, the error.

const FRAME_MS = 420;
const LAST_MS = 2600;

function draw(canvas, side, levels) {
  canvas.width = canvas.height = side;
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  const bytes = atob(levels);
  for (let k = 0; k < bytes.length; k++) {
    image.data.fill(bytes.charCodeAt(k), 4 * k, 4 * k + 3);
    image.data[4 * k + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

export default function (component) {
  const { data, parentElement } = component;
  const find = (name) => parentElement.querySelector(name);
  const [button, range, count, error] = ["button", "input", ".lrlab-player-count", ".lrlab-player-error"].map(find);
  const { side, truth, frames } = JSON.parse(data.frames);
  draw(find(".lrlab-player-truth"), side, truth);
  range.max = frames.length - 1;
  // Who asked for less motion gets the last frame, and may play.
  let playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  let at = playing ? 0 : frames.length - 1;
  const show = () => {
    const frame = frames[at];
    draw(find(".lrlab-player-estimate"), side, frame.picture);
    count.textContent = `${frame.n.toLocaleString("en")} bits`;
    range.value = at;
    range.setAttribute("aria-valuetext", count.textContent);
    error.textContent = `recovered, error ${frame.error.toFixed(2)}`;
    button.textContent = playing ? "Pause" : "Play";
    // On the element, so that frames that come later end this play.
    clearTimeout(parentElement.timer);
    if (playing) parentElement.timer = setTimeout(next, at === frames.length - 1 ? LAST_MS : FRAME_MS);
  };
  const next = () => {
    at = (at + 1) % frames.length;
    show();
  };
  button.onclick = () => {
    playing = !playing;
    if (playing && at === frames.length - 1) at = 0;
    show();
  };
  range.oninput = () => {
    [playing, at] = [false, Number(range.value)];
    show();
  };
  // Who takes the slider at its end moves nothing, and wants to stay there.
  range.onpointerdown = range.oninput;
  range.onkeydown = ({ key }) => key !== "Tab" && range.oninput();
  show();
  return () => clearTimeout(parentElement.timer);
}
