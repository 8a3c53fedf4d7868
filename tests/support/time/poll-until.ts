/** Only what never comes takes so long, however busy the machine is; tests take at most 60 s. */
const DEADLINE_MS = 50_000;
/** Pauses grow to this: who asks all the time takes a core from what it waits for. */
const LONGEST_PAUSE_MS = 20;

/** Asks again and again until the answer is true. Rejects after 50 s. */
export async function pollUntil(what: string, isReached: () => Promise<boolean>): Promise<void> {
  const beganMs = performance.now();
  while (!(await isReached())) {
    const waitedMs = performance.now() - beganMs;
    if (waitedMs > DEADLINE_MS) throw new Error(`Waited too long for ${what}`);
    const pauseMs = Math.min(waitedMs / 4, LONGEST_PAUSE_MS);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
