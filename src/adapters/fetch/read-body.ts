/**
 * Reads a body to its end, as the runtime decompresses it. Null when it is longer than `maxBytes`:
 * reading stops there and the connection is freed, as it is when `signal` is aborted. Rejects when
 * the body breaks off.
 */
export async function readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  limits: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  limits.signal.addEventListener("abort", cancel);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let lengthBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return join(chunks, lengthBytes);
    lengthBytes += value.byteLength;
    if (lengthBytes > limits.maxBytes) {
      cancel();
      return null;
    }
    chunks.push(value);
  }
}

function join(chunks: readonly Uint8Array<ArrayBuffer>[], lengthBytes: number) {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(lengthBytes);
  let position = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, position);
    position += chunk.byteLength;
  }
  return bytes;
}
