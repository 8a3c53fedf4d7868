// A connection on which a body is still arriving when its reply goes out. D-11.8. Bun ends a connection at once where the reply
// says `Connection: close`, and the reset can take the reply with it: of 200 refusals of 20 MB Node's `fetch` lost 129,
// Python's client all. So the rest of a body is read and dropped, 16 MiB and a second at most, before the reply says so.
import { LINGER_BYTES, LINGER_MS, REPLY_DEADLINE_MS } from "../domain/shared/limits.ts";
import type { Timer } from "../ports/runtime/runtime.ts";

/** True for a request whose headers say that a body comes with it. */
export function hasBody({ headers }: Request): boolean {
  return headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) > 0;
}

/**
 * Lets a reply end its connection where the request's body has not arrived whole. The rest is read on for a moment, and dropped:
 * who is cut off while sending may lose the reply. `elapsedMs` is the time since the request. Never rejects.
 */
export async function endIfUnread(
  reply: Response,
  request: Request,
  { timer, elapsedMs }: { readonly timer: Timer; readonly elapsedMs: number },
): Promise<void> {
  const waitMs = Math.max(0, Math.min(LINGER_MS, REPLY_DEADLINE_MS - elapsedMs));
  if (await hasArrived(request, timer, waitMs)) return;
  reply.headers.set("Connection", "close");
}

async function hasArrived(request: Request, timer: Timer, waitMs: number): Promise<boolean> {
  const { body } = request;
  // The body of a GET is not to be had.
  if (body === null) return !hasBody(request);
  // Somebody reads it, whose reply was not waited for.
  if (body.locked) return false;
  const reader = body.getReader();
  const read = new AbortController();
  const late = timer.sleep(waitMs, read.signal).then(() => null);
  let readBytes = 0;
  try {
    while (readBytes <= LINGER_BYTES) {
      const part = await Promise.race([reader.read(), late]);
      if (part === null || part.done) return part !== null;
      readBytes += part.value.length;
    }
    return false;
  } catch {
    return false;
  } finally {
    read.abort();
  }
}
