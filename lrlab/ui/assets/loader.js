const address = "ADDRESS";
const known = (window[address] ??= {});

export default (component) => {
  const { parentElement: place, data: { sent } } = component;
  if (sent < place.sent) return;
  place.sent = sent;
  if (known.script) return known.script.default(component);
  known.loading ??= import(new URL(address, document.baseURI)).then((script) => (known.script = script));
  const drawn = known.loading.then((script) => script.default(component), () => {
    const failed = place.querySelector(".lrlab-failed");
    if (failed) failed.textContent = "Its script did not come. Reload the page.";
  });
  return () => drawn.then((end) => end?.());
};
