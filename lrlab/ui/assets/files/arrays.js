// Arrays of numbers arrive as bytes; see lrlab/figures/build.py.

const KINDS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, i2: Int16Array, i1: Int8Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

// Numbers as a list, or as a list of rows.
export function listed(values) {
  if (!values?.dtype) return values ?? [];
  const bytes = Uint8Array.from(atob(values.bdata), (letter) => letter.charCodeAt(0));
  const flat = Array.from(new KINDS[values.dtype](bytes.buffer));
  const [high, wide] = (values.shape ?? "").split(",").map(Number);
  return wide ? Array.from({ length: high }, (_, k) => flat.slice(k * wide, (k + 1) * wide)) : flat;
}
