/** Resolves in a later millisecond: what is written before and behind it has another time. */
export async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() === now; ) await Promise.resolve();
}
