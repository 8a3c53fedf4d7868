// Alerts that wait, delivered by one of several instances, in simulated time.

import { expect, test } from "bun:test";
import { NodeMac } from "../../src/adapters/node-crypto/node-crypto.ts";
import { type Alert, alertWaitMs } from "../../src/domain/alerts/alert.ts";
import { AppError } from "../../src/domain/shared/errors.ts";
import type { AlertMessage } from "../../src/ports/http/http.ts";
import { AlertOutbox, Alerts, alertsAbout } from "../../src/repositories/alert-outbox.ts";
import { Leases } from "../../src/repositories/leases.ts";
import { ALERTS } from "../../src/repositories/run-collections.ts";
import { AlertDelivery } from "../../src/usecases/alerts/alert-delivery.ts";
import { MemoryDatabase, MemoryStorage } from "../support/memory/storage.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { SimTime } from "../support/time/sim-time.ts";

const DAY_MS = 86_400_000;
const REVOKED: Alert = { type: "key.revoked", account: "ana", keyId: "key-1", name: "shop" };

/** Instances on one store, and a receiver that answers what `answer` says: null is 2xx. */
function startInstances(count: number) {
  const time = new SimTime();
  const database = new MemoryDatabase(time.clock());
  const storage = new MemoryStorage(database);
  const logger = new MemoryLogger();
  const received: AlertMessage[] = [];
  const counted: string[] = [];
  let nextId = 0;
  const ids = { next: () => `id-${nextId++}` };
  const world = { answer: async (): Promise<string | null> => null };
  const outbox = new AlertOutbox(storage.documents);
  const leases = new Leases(storage.documents);
  const start = () =>
    new AlertDelivery({
      outbox,
      leases,
      sender: {
        send: async (message) => {
          received.push(message);
          return await world.answer();
        },
      },
      secret: "a secret",
      mac: new NodeMac(),
      clock: time.clock(),
      timer: time,
      random: { next: () => 0.5 },
      ids,
      logger,
      metrics: { countAlert: (type, outcome) => void counted.push(`${type} ${outcome}`) },
    });
  const deliveries = Array.from({ length: count }, start);
  const alerts = new Alerts({ outbox, clock: time.clock(), ids });
  return {
    time,
    outbox,
    database,
    leases,
    logger,
    received,
    counted,
    world,
    start,
    deliveries,
    alerts,
  };
}

test("D-10.12 an alert is sent once by all instances, with its id, type, time and fields, and signed", async () => {
  const { time, alerts, received, outbox, counted, logger } = startInstances(3);
  await alerts.raise(REVOKED);
  time.advance(20_000);
  expect(received).toEqual([
    {
      id: "id-0",
      body: '{"id":"id-0","type":"key.revoked","at":"2026-03-01T12:00:00Z","account":"ana","key_id":"key-1","name":"shop"}',
      // By openssl, of "1772366401." and the body.
      signature: "t=1772366401,v1=e00ef9ebf1bcbbcc6e2f7dc0c26adfeed912aa46112391a7f753047580549bd7",
    },
  ]);
  expect(await outbox.count()).toBe(0);
  expect(counted).toEqual(["key.revoked delivered"]);
  expect(logger.lines).toEqual([]);
});

test("D-10.12 what is not delivered is sent again, later and later, each time signed anew", async () => {
  const { time, alerts, received, world, counted, logger } = startInstances(2);
  world.answer = async () => "it answered 500";
  await alerts.raise(REVOKED);
  time.advance(60_000);
  const times = received.map(({ signature }) => Number(/^t=(\d+),/.exec(signature)?.[1]));
  const waits = times.slice(1).map((at, i) => at - (times[i] ?? 0));
  // 0.75 of 1, 2, 4, 8, 16 and 32 s, and up to the next look.
  expect(waits).toEqual([1, 2, 3, 6, 12, 24]);
  expect(new Set(received.map(({ id, body }) => id + body)).size).toBe(1);
  world.answer = async () => null;
  time.advance(60_000);
  expect(received).toHaveLength(8);
  expect(counted.slice(-2)).toEqual(["key.revoked failed", "key.revoked delivered"]);
  expect(logger.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "warn An alert could not be delivered and is tried again for a day: it answered 500",
    "info An alert was delivered after all",
  ]);
});

test("D-10.12 after a day an alert is given up", async () => {
  const { time, alerts, received, world, outbox, counted, logger } = startInstances(1);
  world.answer = async () => "it answered 500";
  const atMs = time.nowMs - DAY_MS + 10_000;
  await outbox.add([{ ...alerts.make(REVOKED), atMs }]);
  time.advance(9_000);
  expect(await outbox.count()).toBe(1);
  const attempts = received.length;
  expect(attempts).toBe(4);
  time.advance(1_500);
  expect(await outbox.count()).toBe(0);
  expect(counted.at(-1)).toBe("key.revoked expired");
  expect(logger.lines.at(-1)?.message).toBe(
    "An alert was given up: it could not be delivered for a day",
  );
  time.advance(60_000);
  expect(received).toHaveLength(attempts);
});

test("D-10.12 an instance that was killed leaves its alerts to the others, once its lease is over", async () => {
  const { time, alerts, received, leases } = startInstances(2);
  await alerts.raise(REVOKED);
  await leases.acquire({ name: "alerts", holder: "killed", ttlMs: 10_000 });
  time.advance(9_500);
  expect(received).toEqual([]);
  time.advance(2_000);
  expect(received).toHaveLength(1);
});

test("D-10.12 a stop ends the attempts under way, which count for nothing", async () => {
  const { time, alerts, received, outbox, counted, logger, world, deliveries, start } =
    startInstances(1);
  const { promise, resolve } = Promise.withResolvers<string>();
  world.answer = () => promise;
  await alerts.raise(REVOKED);
  time.advance(1_500);
  const stopped = deliveries[0]?.stop();
  resolve("the attempt was ended");
  await time.run(Promise.resolve(stopped));
  expect(await outbox.due(time.nowMs, 1)).toMatchObject([{ attempts: 0 }]);
  world.answer = async () => null;
  start();
  time.advance(1_500);
  expect(received).toHaveLength(2);
  expect(counted).toEqual(["key.revoked delivered"]);
  expect(logger.lines).toEqual([]);
});

test("D-10.12 what was delivered is not sent again because a full disk cannot forget it", async () => {
  const { time, alerts, received, outbox, counted } = startInstances(1);
  await alerts.raise(REVOKED);
  const remove = outbox.remove.bind(outbox);
  outbox.remove = async () => {
    throw new AppError("store_unavailable", "The disk is full");
  };
  time.advance(120_000);
  expect(received).toHaveLength(1);
  outbox.remove = remove;
  time.advance(60_000);
  expect([received.length, await outbox.count()]).toEqual([1, 0]);
  expect(counted).toEqual(["key.revoked delivered"]);
});

test("D-10.12 a store that does not answer does not hold up the stop", async () => {
  const { time, outbox, deliveries, logger } = startInstances(1);
  outbox.due = () => new Promise(() => {});
  time.advance(1_500);
  const beforeMs = time.nowMs;
  await time.run(deliveries[0]?.stop() ?? Promise.resolve());
  expect(time.nowMs - beforeMs).toBe(1_000);
  expect(logger.lines).toEqual([]);
});

test("D-10.12 alerts of a person who was erased are not sent again", async () => {
  const { time, alerts, received, database, world } = startInstances(1);
  world.answer = async () => "it answered 500";
  await alerts.raise(REVOKED);
  time.advance(5_000);
  const before = received.length;
  await database.documents.transact({ name: "test.drop" }, async (tx) => {
    const [about] = await tx.read({ from: ALERTS, keysOf: alertsAbout("ana") });
    for (const key of about) tx.remove(ALERTS, key);
  });
  time.advance(120_000);
  expect(received).toHaveLength(before);
});

test("D-10.12 one alert that is never taken does not hold up the others", async () => {
  const { time, alerts, received, world } = startInstances(1);
  world.answer = async () =>
    received.at(-1)?.body.includes("quota.80") ? "it answered 400" : null;
  const quota = { account: "ana", limit: 10, used: 8, month: "2026-03" };
  await alerts.raise({ type: "quota.80", ...quota });
  for (let i = 0; i < 10; i++) await alerts.raise({ ...REVOKED, account: `ana-${i}` });
  time.advance(3_000);
  expect(received.filter(({ body }) => body.includes("key.revoked"))).toHaveLength(10);
});

/** What was received: type, account, last key and how many. */
function toldBy({ body }: AlertMessage): string {
  const { type, account, key_id, count } = JSON.parse(body);
  return [type, account, key_id, count].filter((part) => part !== undefined).join(" ");
}

test("D-11.7 of alerts about one account and type the first goes at once, the others together a minute after it", async () => {
  const { time, alerts, received, outbox } = startInstances(1);
  const raise = async (key: number, changes: object = {}) =>
    await alerts.raise({ ...REVOKED, keyId: `key-${key}`, ...changes });
  await raise(1);
  await raise(2);
  await raise(3, { type: "key.rotated" });
  await raise(4, { account: "bea" });
  time.advance(5_000);
  const first = ["key.revoked ana key-1", "key.rotated ana key-3", "key.revoked bea key-4"];
  expect(received.map(toldBy)).toEqual(first);
  for (let key = 10; key < 40; key++) {
    await raise(key);
    time.advance(1_500);
  }
  // However many there are, they are one alert until then.
  expect([received.length, await outbox.count()]).toEqual([3, 1]);
  time.advance(15_000);
  expect(received.slice(3).map(toldBy)).toEqual(["key.revoked ana key-39 31"]);
  const { id, body } = received[3] as AlertMessage;
  expect(JSON.parse(body).id).toBe(id);
  // That message has a minute of its own.
  await raise(50);
  time.advance(40_000);
  expect(received).toHaveLength(4);
  time.advance(20_000);
  expect(received.slice(4).map(toldBy)).toEqual(["key.revoked ana key-50 1"]);
  time.advance(120_000);
  await raise(60);
  time.advance(1_500);
  expect(received.slice(5).map(toldBy)).toEqual(["key.revoked ana key-60"]);
});

test("D-11.7 a stop sends what was gathered at once", async () => {
  const { time, alerts, received, outbox, deliveries, start } = startInstances(1);
  for (const keyId of ["key-1", "key-2", "key-3"]) await alerts.raise({ ...REVOKED, keyId });
  time.advance(5_000);
  expect(received).toHaveLength(1);
  await time.run(deliveries[0]?.stop() ?? Promise.resolve());
  expect(received.slice(1).map(toldBy)).toEqual(["key.revoked ana key-3 2"]);
  expect(await outbox.count()).toBe(0);
  // The next one sends from its first look on.
  start();
  await alerts.raise({ ...REVOKED, keyId: "key-4" });
  time.advance(1_500);
  expect(received.slice(2).map(toldBy)).toEqual(["key.revoked ana key-4"]);
});

test("D-11.7 a receiver that does not answer holds up no stop, and what was gathered is sent after the next start", async () => {
  const { time, alerts, received, world, deliveries, start } = startInstances(1);
  for (const keyId of ["key-1", "key-2", "key-3"]) await alerts.raise({ ...REVOKED, keyId });
  time.advance(5_000);
  const { promise, resolve } = Promise.withResolvers<string>();
  world.answer = () => promise;
  const beforeMs = time.nowMs;
  await time.run(deliveries[0]?.stop() ?? Promise.resolve());
  resolve("the attempt was ended");
  expect(time.nowMs - beforeMs).toBe(1_000);
  world.answer = async () => null;
  start();
  time.advance(60_000);
  expect(received.slice(2).map(toldBy)).toEqual(["key.revoked ana key-3 2"]);
});

test("D-11.7 what is gathered for a receiver that is away is one alert a minute", async () => {
  const { time, alerts, received, world, outbox } = startInstances(1);
  world.answer = async () => "it answered 500";
  for (let second = 0; second < 600; second++) {
    await alerts.raise({ ...REVOKED, keyId: `key-${second}` });
    time.advance(1_000);
  }
  expect(await outbox.count()).toBeLessThanOrEqual(12);
  world.answer = async () => null;
  received.length = 0;
  time.advance(900_000);
  const told = received.map(({ body }) => Number(JSON.parse(body).count ?? 1));
  expect(told.reduce((sum, count) => sum + count, 0)).toBe(600);
});

test("D-11.7 alerts about no account are sent before all that wait about people", async () => {
  const { time, alerts, received } = startInstances(1);
  for (let n = 0; n < 50; n++) await alerts.raise({ ...REVOKED, account: `ana-${n}` });
  await alerts.raise({ type: "backup.failed", error: "The disk is full" });
  time.advance(2_000);
  expect([received.length, toldBy(received[0] as AlertMessage)]).toEqual([51, "backup.failed"]);
});

test("D-10.12 a store that does not answer is told once, and asked again", async () => {
  const { time, alerts, received, outbox, logger } = startInstances(1);
  await alerts.raise(REVOKED);
  const due = outbox.due.bind(outbox);
  outbox.due = async () => {
    throw new AppError("store_unavailable", "It does not answer");
  };
  time.advance(30_000);
  outbox.due = due;
  time.advance(60_000);
  expect(received).toHaveLength(1);
  expect(logger.lines.map(({ message }) => message)).toEqual(["Alerts cannot be read or kept"]);
});

test("D-10.12 waits double from a second to a quarter of an hour, by half of which they vary", () => {
  const full = (attempts: number) => alertWaitMs(attempts, 0.999_999_9);
  expect([1, 2, 3, 10, 11, 60].map(full)).toEqual([1_000, 2_000, 4_000, 512_000, 900_000, 900_000]);
  expect([1, 11].map((attempts) => alertWaitMs(attempts, 0))).toEqual([500, 450_000]);
});
