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
  document.addEventListener("dragover", over, true);
  document.addEventListener("drop", dropped, true);
  return () => {
    document.removeEventListener("dragover", over, true);
    document.removeEventListener("drop", dropped, true);
  };
}
