const DEADLINE_MS = 15_000;

/** Asks again and again, without a pause of its own, until the answer is true. Rejects after 15 s. */
export async function pollUntil(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!(await isReached())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited too long for ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
