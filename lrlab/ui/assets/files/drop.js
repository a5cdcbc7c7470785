// Hands files that are dropped anywhere on the page to the page's own upload, which takes them as if they were chosen.

const UPLOAD = "[data-testid=stFileUploaderDropzone]";

export default function () {
  const take = (event) => {
    const { files, types } = event.dataTransfer, input = document.querySelector(`${UPLOAD} input[type=file]`);
    if (!types.includes("Files") || !input || event.target.closest?.(UPLOAD)) return;
    event.preventDefault();
    if (event.type !== "drop") return;
    event.stopPropagation();
    input.files = files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const listeners = new AbortController(), how = { capture: true, signal: listeners.signal };
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, take, how);
  return () => listeners.abort();
}
