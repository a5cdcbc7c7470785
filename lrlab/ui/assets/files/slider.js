// A slider over a list of values: sends each position over the live channel while it moves, and the last one to the
// script of the page when it rests. Keys count as a drag until none is pressed for a while.

const KEYS_MS = 500;
// From its origin a slider goes to its place within this time, as if dragged.
const WAY_MS = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 2000;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lrlab-slider");
  const [shown, input] = [root.querySelector("output"), root.querySelector("input")];
  const texts = JSON.parse(data.texts);
  // The number field beside it, which the page sets when the slider has come to rest.
  const number = () => root.closest("[class*=slider-row]")?.querySelector("input[type=number]");
  const show = () => {
    shown.textContent = texts[input.value];
    // Above the middle of the knob, which is 16 px wide and stays inside.
    const share = input.value / Math.max(1, texts.length - 1);
    shown.style.left = `calc(${100 * share}% + ${8 - 16 * share}px)`;
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  const goes = !root.shown && data.origin !== data.at;
  if (!root.moving) {
    input.max = texts.length - 1;
    input.value = goes ? data.origin : data.at;
    input.setAttribute("aria-label", data.label);
    root.querySelector("span").textContent = data.titled ? data.label : "";
    show();
  }
  const rest = () => {
    root.moving = false;
    window.lrlabLive?.rest(data.stream);
    setTriggerValue("rest", Number(input.value));
  };
  input.onkeydown = () => void (root.keyed = true);
  input.onpointerdown = () => {
    root.keyed = false;
    // Released where the drag began, the slider has not changed for the browser.
    addEventListener("pointerup", () => root.moving && input.onchange(), { once: true });
  };
  input.oninput = () => {
    clearTimeout(root.resting);
    root.moving = true;
    show();
    if (number()) number().value = Number(texts[input.value]);
    window.lrlabLive?.drag(data.stream, Number(input.value));
  };
  input.onchange = () => {
    clearTimeout(root.resting);
    root.resting = setTimeout(rest, root.keyed ? KEYS_MS : 0);
  };
  const go = () => {
    if (!input.isConnected) return window.lrlabLive?.rest(data.stream);
    if (root.keyed !== undefined) return input.onchange();
    const left = data.at - input.value;
    input.value = WAY_MS ? Number(input.value) + Math.sign(left) : data.at;
    input.oninput();
    if (Number(input.value) === data.at) input.onchange();
    else later();
  };
  const later = () => setTimeout(go, WAY_MS / Math.abs(data.at - data.origin));
  if (goes) later();
  root.shown = true;
}
