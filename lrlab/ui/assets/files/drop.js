// Hands files that are dropped anywhere on the page to the page's own upload, which takes them as if they were chosen.

const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");

export default function () {
  const upload = () => document.querySelector("[data-testid=stFileUploaderDropzone] input[type=file]");
  const over = (event) => {
    if (holdsFiles(event) && upload()) event.preventDefault();
  };
  const dropped = (event) => {
    const input = upload();
    if (!holdsFiles(event) || !input || event.target.closest?.("[data-testid=stFileUploaderDropzone]")) return;
    event.preventDefault();
    event.stopPropagation();
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const listeners = new AbortController(), how = { capture: true, signal: listeners.signal };
  document.addEventListener("dragover", over, how);
  document.addEventListener("drop", dropped, how);
  return () => listeners.abort();
}
