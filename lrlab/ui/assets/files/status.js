// Words for screen readers, in a place that stays: a new place would not be read out.

export default function ({ data, parentElement }) {
  const place = parentElement.querySelector(".lrlab-status");
  setTimeout(() => {
    if (place.textContent !== data.words) place.textContent = data.words;
  }, 100);
}
