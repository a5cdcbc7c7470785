// Words for screen readers, in a place that stays: a new place would not be read out.

export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".lrlab-status");
  window.lrlabRedraw = setTriggerValue;
  setTimeout(() => {
    if (place.textContent !== data.words) place.textContent = data.words;
  }, 100);
}
