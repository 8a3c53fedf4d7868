/** One chunk is given back as it is, without a copy. */
export function joinBytes<Memory extends ArrayBufferLike>(
  chunks: readonly Uint8Array<Memory>[],
): Uint8Array<Memory | ArrayBuffer> {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const bytes = new Uint8Array(chunks.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
