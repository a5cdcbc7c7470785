// Sent with every figure: the script itself is fetched once.

// Kept on the window, for each component of a page has a module of its own: two imports of a script that is on its way
// may end in either order, and the older data would be drawn last.
const scripts = (window.lrlabScripts ??= {});
const known = (scripts["ADDRESS"] ??= {});

export default (component) => {
  if (known.script) return known.script.default(component);
  known.loading ??= import(new URL("ADDRESS", document.baseURI)).then((script) => (known.script = script));
  const drawn = known.loading.then((script) => script.default(component));
  known.loading.catch(() => (known.loading = undefined));
  return () => drawn.then((end) => end?.());
};
