import { makePushBody, makeRows } from "../bench-rows.ts";
import { pushRows } from "../client.ts";
import { sized } from "../quick.ts";
import type { Reporter } from "../result.ts";
import type { BenchStore } from "../stores.ts";

/** Of 11 values each: nearly as many as a push may have. */
const PUSHED_ROWS = sized(180_000, 20_000);
/** Health is asked this often, however long the answers before take. */
const EVERY_MS = 10;
const MAX_P99_MS = 100;
const MAX_MS = 250;

/** One large push of new keys and one of existing ones, while health is asked all the time. */
export async function benchHealth(store: BenchStore, reporter: Reporter): Promise<void> {
  const limit = { SYNC_MAX_PUSH_RECORDS: String(PUSHED_ROWS) };
  const service = await store.startService("health", limit);
  try {
    for (const [version, keys] of ["new", "existing"].entries()) {
      const body = makePushBody(makeRows(0, PUSHED_ROWS, version));
      const health = askHealth(service.url);
      const beganMs = performance.now();
      const refusal = await pushRows(service.url, body).then(() => null, String);
      const pushMs = performance.now() - beganMs;
      const asked = (await health.stop()).toSorted((a, b) => a - b);
      const at = (part: number) => asked[Math.floor(part * (asked.length - 1))] ?? Number.NaN;
      // MongoDB takes no transaction of this size: health has to answer all the same.
      if (refusal !== null && store.name !== "MongoDB") throw new Error(refusal);
      if (refusal !== null) reporter.say(`  ${store.name}: ${refusal}`);
      reporter.say(
        `  ${store.name}, ${keys} keys: push took ${(pushMs / 1000).toFixed(1)} s, health asked ${asked.length} ` +
          `times: half of them in ${at(0.5).toFixed(1)} ms`,
      );
      for (const [what, ms, maxMs] of [
        ["99th percentile", at(0.99), MAX_P99_MS],
        ["slowest", at(1), MAX_MS],
      ] as const) {
        reporter.add({
          name: `health during a push of ${PUSHED_ROWS} ${keys} keys, ${what}, ${store.name}`,
          ours: `${ms.toFixed(1)} ms`,
          other: `${maxMs} ms allowed`,
          ratio: ms / maxMs,
          bar: { atMost: 1 },
        });
      }
    }
  } finally {
    await service.stop();
  }
}

/** Asks until it is stopped; gives the milliseconds of each answer from when it was due. */
function askHealth(url: string): { stop(): Promise<readonly number[]> } {
  const answers: Promise<number>[] = [];
  const beganMs = performance.now();
  const timer = setInterval(() => {
    for (;;) {
      const dueMs = beganMs + answers.length * EVERY_MS;
      if (performance.now() < dueMs) return;
      answers.push(ask(`${url}/v1/health`, dueMs));
    }
  }, 1);
  return {
    stop: () => {
      clearInterval(timer);
      return Promise.all(answers);
    },
  };
}

/** Infinite for any other answer than 200. */
async function ask(url: string, dueMs: number): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status === 200 ? performance.now() - dueMs : Number.POSITIVE_INFINITY;
}
