import { AppError } from "../domain/shared/errors.ts";

/**
 * Reads a body of at most `maxBytes`, and no further; `advice` follows the message about a larger one. D-3.5.
 * Throws `body_too_large`, and `invalid_request` when the body breaks off.
 */
export async function readRequestBody(
  request: Request,
  maxBytes: number,
  advice = "",
): Promise<Uint8Array> {
  const declaredBytes = Number(request.headers.get("content-length") ?? 0);
  if (declaredBytes > maxBytes) throw tooLarge(maxBytes, advice);
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let receivedBytes = 0;
  try {
    for await (const chunk of request.body) {
      receivedBytes += chunk.length;
      if (receivedBytes > maxBytes) throw tooLarge(maxBytes, advice);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("invalid_request", "The body broke off before its end", { cause: error });
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : join(chunks, receivedBytes);
}

function join(chunks: readonly Uint8Array[], totalBytes: number): Uint8Array {
  const bytes = new Uint8Array(totalBytes);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooLarge(maxBytes: number, advice: string): AppError {
  return new AppError("body_too_large", `Body is larger than ${maxBytes} bytes${advice}`);
}
