// Backups by the clock, of two instances on one store.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv, startService } from "../../e2e/support/service-process.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import {
  type Backend,
  connectSql,
  onBackends,
  onOneBackend,
  POSTGRESQL,
  SQLITE_FILE,
} from "../support/backends.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import { startApp } from "../support/sync-app.ts";
import { startRunApp } from "../sync-runs/support/run-apps.ts";

const EVERY_SECOND = "* * * * * *";
const OURS = /^repsync-[0-9a-f]{12}-\d{8}T\d{6}Z\.backup$/;

async function metric(app: { send: (path: string) => Promise<{ text: string }> }, name: string) {
  const { text } = await app.send("/metrics");
  const [, value] = new RegExp(`^${name} (\\S+)$`, "m").exec(text) ?? [];
  return value === undefined ? null : Number(value);
}

onOneBackend("scheduled backups", (backend) => {
  test("D-10.7 one instance makes each, the oldest of ours go, and the age of the last is a metric", async () => {
    const folder = join(makeTempFolder(), "backups");
    mkdirSync(folder);
    const foreign = ["notes.txt", "repsync-000000000000-20200101T000000Z.backup", "x.backup"];
    for (const name of foreign) writeFileSync(join(folder, name), "");
    const env = {
      ...{ STORAGE_URL: await backend.makeUrl(), BACKUP_SCHEDULE: EVERY_SECOND },
      ...{ BACKUP_FOLDER: folder, BACKUP_KEEP: "2" },
    };
    const quiet = await startApp({ env: { STORAGE_URL: env.STORAGE_URL } });
    expect(await metric(quiet, "repsync_backup_age_seconds")).toBeNull();
    const apps = await Promise.all([startApp({ env }), startApp({ env })]);
    const seen = new Set<string>();
    await pollUntil("four backups", async () => {
      const names = readdirSync(folder).filter(
        (name) => OURS.test(name) && !foreign.includes(name),
      );
      for (const name of names) seen.add(name);
      return seen.size >= 4;
    });
    await Promise.all(apps.map((app) => app.stop()));
    const left = readdirSync(folder).filter((name) => !foreign.includes(name));
    expect(left.every((name) => OURS.test(name))).toBe(true);
    // The last one may have been made while its instance stopped.
    expect([2, 3]).toContain(left.length);
    expect(statSync(join(folder, left[0] ?? "")).mode & 0o777).toBe(0o600);
    for (const name of foreign) expect(readdirSync(folder)).toContain(name);
    const age = await metric(quiet, "repsync_backup_age_seconds");
    expect(age !== null && age >= 0 && age < 60).toBe(true);
  });
});

/** `change`, undone by `back`, makes a table useless: no backup goes while the new ones lack something of it. */
async function keepsAll(backend: Backend, change: string, back: string) {
  const STORAGE_URL = await backend.makeUrl();
  const folder = makeTempFolder();
  const items: TableEntry = { upsert_key: ["k"], columns: { k: { type: "integer" } } };
  const env = {
    ...{ STORAGE_URL, BACKUP_SCHEDULE: EVERY_SECOND, BACKUP_FOLDER: folder, BACKUP_KEEP: "1" },
    ...{ WEBHOOK_URL: "http://127.0.0.1:9/", WEBHOOK_SECRET: "s".repeat(32) },
    WEBHOOK_ALLOW_PRIVATE: "true",
  };
  const made = () => readdirSync(folder).filter((name) => OURS.test(name));
  const app = await startRunApp({ tables: { items }, env });
  await connectSql(STORAGE_URL).unsafe(change);
  await app.lookAtRegistry();
  await pollUntil("three backups", async () => made().length >= 3);
  expect(await metric(app, "repsync_alerts_pending")).toBeGreaterThan(0);
  await connectSql(STORAGE_URL).unsafe(back);
  await app.lookAtRegistry();
  await pollUntil("the last one", async () => made().length === 1);
}

onBackends([POSTGRESQL], "scheduled backups", (backend) => {
  test("D-10.7, D-14.6 none goes for one without what a table holds that is not used, and an alert tells it", async () => {
    await keepsAll(
      backend,
      "alter table items rename column k to key",
      "alter table items rename column key to k",
    );
  });
});

onBackends([SQLITE_FILE, POSTGRESQL], "scheduled backups", (backend) => {
  test("D-10.7 none goes for one without a table that is gone, and an alert tells it", async () => {
    const items = backend === POSTGRESQL ? "public.items" : "items";
    await keepsAll(backend, `drop table ${items}`, `create table ${items} (k bigint primary key)`);
  });
});

test("D-10.7 backups that a clock made which was ahead go before those that are made now", async () => {
  const folder = makeTempFolder();
  const STORAGE_URL = await SQLITE_FILE.makeUrl();
  const quiet = await startApp({ env: { STORAGE_URL } });
  const { headers } = await quiet.send("/api/v1/sync/status");
  const prefix = `repsync-${headers.get("Repsync-Deployment")?.slice(-12)}-`;
  const ahead = ["2998", "2999"].map((year) => `${prefix}${year}0101T000000Z.backup`);
  for (const name of ahead) writeFileSync(join(folder, name), "");
  const plan = { BACKUP_SCHEDULE: EVERY_SECOND, BACKUP_FOLDER: folder, BACKUP_KEEP: "2" };
  const app = await startApp({ env: { STORAGE_URL, ...plan } });
  const made = () => readdirSync(folder).filter((name) => OURS.test(name) && !ahead.includes(name));
  await pollUntil("two backups", async () => made().length === 2);
  await app.stop();
  expect(readdirSync(folder)).not.toContain(ahead[0]);
});

test("D-10.7 a backup that fails is one line of the log and an alert", async () => {
  const folder = makeTempFolder();
  const env = {
    ...serviceEnv(folder),
    ...{ STORAGE_URL: await SQLITE_FILE.makeUrl(), BACKUP_SCHEDULE: EVERY_SECOND },
    // A file is in the way of the folder.
    BACKUP_FOLDER: join(folder, "tables.json", "backups"),
    ...{ WEBHOOK_URL: "http://127.0.0.1:9/", WEBHOOK_SECRET: "s".repeat(32) },
    WEBHOOK_ALLOW_PRIVATE: "true",
  };
  const service = await startService({ folder, env });
  await service.waitFor("failure", ({ stderr }) => /Scheduled backup failed/.exec(stderr()));
  await pollUntil(
    "an alert",
    async () => ((await metric(service, "repsync_alerts_pending")) ?? 0) > 0,
  );
  expect((await service.stop()).code).toBe(0);
  const lines = service.stderr().split("\n");
  expect(lines.find((line) => line.includes("Scheduled backup failed"))).toContain(
    "cannot be made",
  );
  expect(
    await metric(
      await startApp({ env: { STORAGE_URL: env.STORAGE_URL } }),
      "repsync_backup_age_seconds",
    ),
  ).toBeNull();
});

test("D-10.7, D-14.6 a backup of a file has all of a table that is not used, and older ones go", async () => {
  const folder = makeTempFolder();
  const STORAGE_URL = await SQLITE_FILE.makeUrl();
  const columns = { name: { type: "text" }, price: { type: "numeric" } } as const;
  const app = await startApp({
    tables: { items: { upsert_key: ["name"], columns } },
    env: { STORAGE_URL, BACKUP_SCHEDULE: EVERY_SECOND, BACKUP_FOLDER: folder, BACKUP_KEEP: "1" },
  });
  await app.push("items", { records: [{ name: "a", price: "1.50" }] });
  await connectSql(STORAGE_URL).unsafe("alter table items rename column price to cost");
  await app.lookAtRegistry();
  const made = () => readdirSync(folder).filter((name) => OURS.test(name));
  // One may have begun before.
  const before = new Set(made());
  const later = () =>
    made()
      .filter((name) => !before.has(name))
      .at(-1) ?? "";
  await pollUntil("a backup", async () => later() !== "");
  before.add(later());
  await pollUntil("the next alone", async () => later() !== "" && made().length === 1);
  await app.stop();
  const rows = await connectSql(`sqlite:${join(folder, later())}`)`select * from items`;
  expect([...rows]).toEqual([{ name: "a", cost: "1.50" }]);
});
