/** Only what never comes takes so long, however busy the machine is; tests take at most 60 s. */
const DEADLINE_MS = 50_000;

/** Asks again and again, without a pause of its own, until the answer is true. Rejects after 50 s. */
export async function pollUntil(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!(await isReached())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited too long for ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
