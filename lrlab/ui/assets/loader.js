// Sent with every figure: the script itself is fetched once.

let script;

export default (component) => {
  if (script) return script.default(component);
  const drawn = import(new URL("ADDRESS", document.baseURI)).then((module) => (script = module).default(component));
  return () => drawn.then((end) => end?.());
};
