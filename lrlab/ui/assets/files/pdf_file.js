// Writes what is drawn on a page as a file: PDF 1.4, one page, compressed.

const POINTS = 72 / 25.4;
const encoder = new TextEncoder();
const number = (value) => String(Number(value.toFixed(3)));

async function deflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// page: operators, in pixels from the top left; alphas: names of opacities; images: width, height, levels (RGBA).
export async function file(page, { millimetres, ...pixels }, title) {
  const width = millimetres * POINTS;
  const scale = width / pixels.width;
  const height = pixels.height * scale;
  const objects = [];
  const add = (head, stream) => objects.push([head, stream]);
  const pictures = page.images.map((_, k) => `/I${k} ${7 + 2 * k} 0 R`).join(" ");
  const states = [...page.alphas].map(([value, name]) => `${name} << /ca ${value} /CA ${value} >>`).join(" ");
  const words = [...title].flatMap((one) => [one.charCodeAt(0).toString(16).padStart(4, "0")]).join("");
  add("<< /Type /Catalog /Pages 2 0 R >>");
  add("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  add(
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${number(width)} ${number(height)}] /Contents 4 0 R ` +
      `/Resources << /ExtGState << ${states} >> /XObject << ${pictures} >> >> >>`,
  );
  const content = `${scale} 0 0 ${-scale} 0 ${number(height)} cm\n${page.operators.join("\n")}`;
  add("<< /Filter /FlateDecode", await deflated(encoder.encode(content)));
  add(`<< /Title <feff${words}> /Creator (lrlab) >>`);
  // An image and its mask follow each other, from the sixth object on.
  for (const { width: wide, height: high, levels } of page.images) {
    const pixels = wide * high;
    const [rgb, mask] = [new Uint8Array(3 * pixels), new Uint8Array(pixels)];
    for (let k = 0; k < pixels; k++) {
      rgb.set(levels.subarray(4 * k, 4 * k + 3), 3 * k);
      mask[k] = levels[4 * k + 3];
    }
    const size = `<< /Type /XObject /Subtype /Image /Width ${wide} /Height ${high} /BitsPerComponent 8 /Filter /FlateDecode`;
    add(`${size} /ColorSpace /DeviceGray`, await deflated(mask));
    add(`${size} /ColorSpace /DeviceRGB /SMask ${objects.length} 0 R`, await deflated(rgb));
  }
  return joined(objects);
}

function joined(objects) {
  const parts = [encoder.encode("%PDF-1.4\n")];
  const offsets = [];
  const length = () => parts.reduce((sum, part) => sum + part.length, 0);
  objects.forEach(([head, stream], k) => {
    offsets.push(length());
    parts.push(encoder.encode(`${k + 1} 0 obj\n${head}${stream ? ` /Length ${stream.length} >>\nstream\n` : "\n"}`));
    if (stream) parts.push(stream, encoder.encode("\nendstream\n"));
    parts.push(encoder.encode("endobj\n"));
  });
  const start = length();
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  const trailer = `trailer << /Size ${count} /Root 1 0 R /Info 5 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  parts.push(encoder.encode(`xref\n0 ${count}\n0000000000 65535 f \n${table}${trailer}`));
  return new Blob(parts);
}
