export default (component) => {
  const { parentElement: place, data: { sent } } = component;
  if (sent < place.sent) return;
  place.sent = sent;
  const drawn = import(new URL("ADDRESS", document.baseURI)).then(({ default: draw }) => draw(component), () => {
    const failed = place.querySelector(".lrlab-failed");
    if (failed) failed.textContent = "Its script did not come. Reload the page.";
  });
  return () => drawn.then((end) => end?.());
};
