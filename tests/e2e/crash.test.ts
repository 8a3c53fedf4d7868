// kill -9 in the middle of pushes: what was acknowledged is there, and no push is there by half.
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { MONGODB, POSTGRESQL, SQLITE_FILE } from "../http/support/backends.ts";
import { SEED } from "../support/seed.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type ServiceProcess, startService } from "./support/service-process.ts";

/** `npm run test:kill` plays more. */
const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 3);
setDefaultTimeout(20_000 * ROUNDS);
const WRITERS = 4;
const ROWS_PER_PUSH = 100;

/** The versions that one writer has sent and that were acknowledged to it, over all rounds. */
interface Writer {
  readonly number: number;
  sent: number;
  acknowledged: number;
}

/** Pushes version after version of the same rows, and one new row with each, until the service is gone. */
async function pushUntilGone(service: ServiceProcess, writer: Writer, onAck: () => void) {
  for (;;) {
    writer.sent++;
    const version = writer.sent;
    const records = Array.from({ length: ROWS_PER_PUSH }, (_, row) => ({
      name: `w${writer.number} row ${row}`,
      body: `version ${version}`,
    }));
    records.push({ name: `w${writer.number} version ${version}`, body: "new" });
    try {
      const { status } = await service.pushGzip("notes", JSON.stringify({ records }));
      if (status !== 200) throw new Error(`A push was answered ${status}`);
    } catch (error) {
      if (error instanceof Error && /socket|connect|closed/i.test(error.message)) return;
      throw error;
    }
    writer.acknowledged = version;
    onAck();
  }
}

async function checkRows(service: ServiceProcess, writer: Writer): Promise<void> {
  const rows = await service.records("notes", "?limit=100000");
  const mine = rows.filter(({ name }) => String(name).startsWith(`w${writer.number} `));
  const updated = mine.filter(({ body }) => body !== "new");
  const versions = new Set(updated.map(({ body }) => Number(String(body).slice(8))));
  // All rows of a push or none: they are of one version.
  expect([...versions].length).toBeLessThanOrEqual(1);
  if (versions.size === 1) expect(updated.length).toBe(ROWS_PER_PUSH);
  const [stored = 0] = versions;
  expect(stored).toBeGreaterThanOrEqual(writer.acknowledged);
  expect(stored).toBeLessThanOrEqual(writer.sent);
  const inserted = new Set(mine.filter(({ body }) => body === "new").map(({ name }) => name));
  expect(inserted.has(`w${writer.number} version ${stored}`)).toBe(stored > 0);
}

async function killAndCheck(storageUrl: string): Promise<void> {
  const env = { SYNC_MAX_BATCH_SIZE: "100000", STORAGE_URL: storageUrl };
  const writers = Array.from({ length: WRITERS }, (_, number): Writer => {
    return { number, sent: 0, acknowledged: 0 };
  });
  const random = new SeededRandom(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startService({ env });
    for (const writer of writers) await checkRows(service, writer);
    const lastAck = random.int(0, 24);
    let acks = 0;
    const onAck = () => {
      if (acks++ === lastAck) service.kill("SIGKILL");
    };
    await Promise.all(writers.map((writer) => pushUntilGone(service, writer, onAck)));
    expect(await service.ended).toEqual({ code: null, signal: "SIGKILL" });
  }
  const service = await startService({ env });
  for (const writer of writers) await checkRows(service, writer);
  expect(writers.reduce((total, writer) => total + writer.acknowledged, 0)).toBeGreaterThan(ROUNDS);
  expect(await service.stop()).toEqual({ code: 0, signal: null });
}

test(`D-3.8 a push survives kill -9 whole on SQLite, in ${ROUNDS} rounds (SEED=${SEED})`, async () => {
  const url = await SQLITE_FILE.makeUrl();
  await killAndCheck(url);
  const database = new Database(url.slice("sqlite:".length), { readonly: true });
  expect(database.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  database.close();
});

for (const backend of [MONGODB, POSTGRESQL]) {
  test.skipIf(!backend.isAvailable)(
    `D-3.8 a push survives kill -9 whole on ${backend.name}, in ${ROUNDS} rounds (SEED=${SEED})`,
    async () => killAndCheck(await backend.makeUrl()),
  );
}
