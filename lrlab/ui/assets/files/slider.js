// A slider over a list of values: sends each position over the live channel while it moves, and the last one to the
// script of the page when it rests. Keys count as a drag until none is pressed for a while.

const KEYS_MS = 500;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".lrlab-slider");
  const [shown, input] = [root.querySelector("output"), root.querySelector("input")];
  const texts = JSON.parse(data.texts);
  const show = () => {
    shown.textContent = texts[input.value];
    // Above the middle of the knob, which is 16 px wide and stays inside.
    const share = input.value / Math.max(1, texts.length - 1);
    shown.style.left = `calc(${100 * share}% + ${8 - 16 * share}px)`;
    input.setAttribute("aria-valuetext", shown.textContent);
  };
  if (!root.moving) {
    input.max = texts.length - 1;
    input.value = data.at;
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
  input.onpointerdown = () => void (root.keyed = false);
  input.oninput = () => {
    clearTimeout(root.resting);
    root.moving = true;
    show();
    window.lrlabLive?.drag(data.stream, Number(input.value));
  };
  input.onchange = () => {
    clearTimeout(root.resting);
    root.resting = setTimeout(rest, root.keyed ? KEYS_MS : 0);
  };
}
