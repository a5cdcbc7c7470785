// Words for screen readers, in a place that stays: a new one would not be read out. By it a run's end draws its part.

export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".lrlab-status");
  window.lrlabRedraw = setTriggerValue;
  setTimeout(() => {
    if (place.textContent !== data.words) place.textContent = data.words;
  }, 100);
}
