const known = ((window.lrlabScripts ??= {})["ADDRESS"] ??= {});

export default (component) => {
  if (known.script) return known.script.default(component);
  known.loading ??= import(new URL("ADDRESS", document.baseURI)).then((script) => (known.script = script));
  const drawn = known.loading.then((script) => script.default(component), () => {
    const failed = component.parentElement.querySelector(".lrlab-failed");
    if (failed) failed.textContent = "Its script did not come. Reload the page.";
  });
  return () => drawn.then((end) => end?.());
};
