// kill -9 of either end in the middle of runs: started again, the next run goes on, and both ends are equal.
import { expect, setDefaultTimeout, test } from "bun:test";
import { MONGODB, POSTGRESQL, SQLITE_FILE } from "../http/support/backends.ts";
import { SEED } from "../support/seed.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { itemsOf, makeRunService, type RunService } from "./support/run-service.ts";

setDefaultTimeout(1_200_000);

/** `npm run test:kill` sets it to 20. A round that kills the local end waits for its lease, which is 10 s. */
const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 2);
const ROWS = 600;

/**
 * Reads a run's events until so many batches have come, then kills one end, starts it again and reads on: a run outlasts
 * its remote's restart, not its own. Resolves to whether the kill was in time.
 */
async function killDuring(
  local: RunService,
  victim: RunService,
  { body, batches }: { readonly body: object; readonly batches: number },
): Promise<boolean> {
  let seen = 0;
  let wasRunning = false;
  const restart = async () => {
    await victim.kill();
    await victim.start();
  };
  try {
    for await (const text of local.stream(body)) {
      seen += text.split('"type":"batch"').length - 1;
      if (seen < batches || wasRunning) continue;
      wasRunning = !text.includes("finished");
      await restart();
    }
  } catch (error) {
    if (!wasRunning || victim !== local) throw error;
  }
  return wasRunning;
}

async function killAndCheck(urls: readonly [string, string], rounds: number): Promise<void> {
  const remote = await makeRunService({ STORAGE_URL: urls[0] });
  const local = await makeRunService({ STORAGE_URL: urls[1], SYNC_REMOTE_URL: remote.url });
  await Promise.all([remote.start(), local.start()]);
  const random = new SeededRandom(SEED);
  let killed = 0;
  for (let round = 0; round < rounds; round++) {
    await local.push(itemsOf("local", round, ROWS));
    await remote.push(itemsOf("remote", round, ROWS));
    const direction = random.int(0, 1) === 0 ? "push" : "pull";
    const victim = round % 4 === 1 || round % 4 === 2 ? local : remote;
    const body = { table: "items", direction };
    if (await killDuring(local, victim, { body, batches: random.int(1, 4) })) killed++;
    const reply = await local.ask("/trigger", { table: "items", direction: "both" });
    expect([round, reply.status, await reply.json()]).toMatchObject([
      round,
      200,
      { status: "success" },
    ]);
    const [here, there] = [await local.rows(), await remote.rows()];
    expect(here.length).toBe(2 * ROWS);
    expect(there).toEqual(here);
    expect(here.every((row) => row.includes(`version ${round}`))).toBe(true);
  }
  expect(killed).toBeGreaterThan(0);
  const { items: runs } = (await (await local.ask("/runs?limit=1000")).json()) as {
    items: { status: string }[];
  };
  // Nothing is left that looks as if it were still going on.
  expect(runs.filter(({ status }) => status === "running")).toEqual([]);
  for (const end of [local, remote]) {
    expect(await end.process().stop()).toEqual({ code: 0, signal: null });
  }
}

test(`D-4.5, D-4.6, D-4.8 runs survive kill -9 of either end on SQLite (${ROUNDS} rounds, SEED=${SEED})`, async () => {
  await killAndCheck([await SQLITE_FILE.makeUrl(), await SQLITE_FILE.makeUrl()], ROUNDS);
});

for (const backend of [MONGODB, POSTGRESQL]) {
  test.skipIf(!backend.isAvailable)(
    `D-4.5, D-4.6, D-4.8 runs survive kill -9 of either end on ${backend.name} and SQLite (SEED=${SEED})`,
    async () => {
      const rounds = Math.ceil(ROUNDS / 2);
      await killAndCheck([await backend.makeUrl(), await SQLITE_FILE.makeUrl()], rounds);
    },
  );
}
