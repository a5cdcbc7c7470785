// Turns the text of an SVG into outlines, so that a file looks the same where the font of the page is not installed.
// glyphs.json: Source Sans 3 by Adobe, SIL Open Font License 1.1, the font of these pages, in 1/1000 of the type size.

let glyphs = null;
const SPACE = "http://www.w3.org/2000/svg";

// root: an SVG in the document, which knows where each letter stands.
export async function outlineText(root, address) {
  glyphs ??= await (await fetch(address)).json();
  for (const text of root.querySelectorAll("text")) {
    const letters = document.createElementNS(SPACE, "g");
    letters.setAttribute("style", text.getAttribute("style") ?? "");
    for (const name of ["transform", "clip-path"]) {
      if (text.hasAttribute(name)) letters.setAttribute(name, text.getAttribute(name));
    }
    letters.append(...outlines(text));
    text.replaceWith(letters);
  }
}

function* outlines(text) {
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let place = 0;
  while (walker.nextNode()) {
    const style = getComputedStyle(walker.currentNode.parentElement);
    const scale = parseFloat(style.fontSize) / 1000;
    const path = document.createElementNS(SPACE, "path");
    const { fill, fillOpacity } = style;
    Object.assign(path.style, { fill, fillOpacity, stroke: style.fontWeight >= 600 ? fill : "none", strokeWidth: 35 });
    for (const letter of walker.currentNode.data) {
      if (glyphs[letter] && place < text.getNumberOfChars()) {
        const { x, y } = text.getStartPositionOfChar(place);
        const one = path.cloneNode();
        one.setAttribute("d", glyphs[letter]);
        one.setAttribute("transform", `translate(${x} ${y}) rotate(${text.getRotationOfChar(place)}) scale(${scale} ${-scale})`);
        yield one;
      }
      place += letter.length;
    }
  }
}
