import { describe, expect, test } from "bun:test";
import type { RunRequest } from "../../src/domain/sync/run/run.ts";
import { findTable } from "../../src/domain/sync/table/table.ts";
import type { CronTimes, Scheduler } from "../../src/ports/runtime/runtime.ts";
import { ScheduleTimes } from "../../src/repositories/kept-values.ts";
import { type LeaseGiver, Leases } from "../../src/repositories/leases.ts";
import { LiveRegistry } from "../../src/usecases/operations/registry-keeper.ts";
import { startCompareSchedule, startSchedule } from "../../src/usecases/sync/runs/active-runs.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { makeTable } from "../support/rows/make-table.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

const FIVE_MINUTES_MS = 300_000;

// As "*/5 * * * *".
const cron = {
  nextAfter: (_: string, afterMs: number) =>
    (Math.floor(afterMs / FIVE_MINUTES_MS) + 1) * FIVE_MINUTES_MS,
};

/** What instances on one store share. */
function shareStore(clock = new FakeClock()) {
  const documents = ownDocuments(clock);
  return {
    clock,
    leases: new Leases(documents) as LeaseGiver,
    scheduleTimes: new ScheduleTimes(documents),
  };
}

/** A schedule whose times come when a test says so. */
function startInstance(shared: ReturnType<typeof shareStore>, holder: string) {
  const started: RunRequest[] = [];
  const lines: string[] = [];
  let work = async () => {};
  let isStopped = false;
  let cronText = "";
  let end = () => {};
  const scheduler: Scheduler & CronTimes = {
    ...cron,
    start(text, given) {
      cronText = text;
      work = given;
      return {
        stop: () => {
          isStopped = true;
        },
      };
    },
  };
  const schedule = startSchedule(
    {
      ...{ scheduler, ...shared, ids: { next: () => holder } },
      activeRuns: {
        compare: () => {
          throw new Error("Not asked for");
        },
        start(request) {
          started.push(request);
          const outcome = new Promise<never>((resolve) => {
            end = () => resolve(undefined as never);
          });
          return {
            runId: "run",
            outcome,
            events: () => {
              throw new Error("Unread");
            },
            stop: () => {},
          };
        },
      },
      timer: {
        sleep: (_, signal) =>
          new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve())),
      },
      logger: {
        debug: () => {},
        info: (message) => void lines.push(message),
        warn: () => {},
        error: (message) => void lines.push(message),
      },
    },
    "*/5 * * * *",
  );
  return {
    ...{ started, lines, schedule, cronText },
    time: () => work(),
    end: () => end(),
    isStopped: () => isStopped,
  };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("startSchedule()", () => {
  test("D-1.3.10, D-4.13 startSchedule() runs both ways for all tables at each time", async () => {
    const shared = shareStore();
    const one = startInstance(shared, "one");
    expect(one.cronText).toBe("*/5 * * * *");
    for (const times of [1, 2]) {
      const ended = one.time();
      await settle();
      expect(one.started.length).toBe(times);
      one.end();
      await ended;
      shared.clock.advance(FIVE_MINUTES_MS);
    }
    expect(one.started[0]).toEqual({
      ...{ direction: "both", tableName: null, trigger: "schedule" },
      ...{ isFull: false, isDryRun: false, isForced: false, maxDeletes: null },
    });
    one.schedule.stop();
    expect(one.isStopped()).toBe(true);
  });

  test("D-1.3.10, D-4.8, D-4.13 of several instances one runs, the others leave it to that one", async () => {
    const shared = shareStore();
    const one = startInstance(shared, "one");
    const two = startInstance(shared, "two");
    const running = one.time();
    await settle();
    await two.time();
    expect([one.started.length, two.started.length]).toEqual([1, 0]);
    expect(two.lines.at(-1)).toContain("another instance is running it");
    one.end();
    await running;
    shared.clock.advance(FIVE_MINUTES_MS);
    const next = two.time();
    await settle();
    expect(two.started.length).toBe(1);
    two.end();
    await next;
  });

  test("D-1.3.10, D-4.13 an instance that comes late to a time, or whose clock is behind or ahead, does not run it again", async () => {
    const shared = shareStore(new FakeClock("2026-03-01T12:00:00.040Z"));
    const one = startInstance(shared, "one");
    const running = one.time();
    await settle();
    one.end();
    await running;
    const times = ["12:00:00.020", "12:00:01.500", "12:05:00.010", "12:05:00.005"];
    const begun: number[] = [];
    for (const time of times) {
      const two = startInstance({ ...shared, clock: new FakeClock(`2026-03-01T${time}Z`) }, "two");
      const ended = two.time();
      await settle();
      begun.push(two.started.length);
      two.end();
      await ended;
    }
    expect(begun).toEqual([0, 0, 1, 0]);
  });

  test("D-1.3.10, D-4.13 a clock that was set back for days keeps no run from being begun", async () => {
    const shared = shareStore();
    const one = startInstance(shared, "one");
    for (const day of ["10", "01"]) {
      shared.clock.set(`2026-03-${day}T12:00:00Z`);
      const ended = one.time();
      await settle();
      one.end();
      await ended;
    }
    expect(one.started.length).toBe(2);
  });

  test("D-1.3.10 a store that fails ends one time, not the schedule", async () => {
    const shared = shareStore();
    const { leases } = shared;
    const broken = { acquire: () => Promise.reject(new Error("No store")) };
    const one = startInstance({ ...shared, leases: broken }, "one");
    await one.time();
    expect(one.lines.at(-1)).toBe("Scheduled sync run could not begin");
    expect(
      await leases.acquire({ name: "sync schedule", holder: "two", ttlMs: 1 }),
    ).not.toHaveProperty("heldBy");
  });

  test("D-1.3.10 a lease that cannot be given back is told as that, and not as a run that did not begin", async () => {
    const lease = { renew: async () => {}, release: () => Promise.reject(new Error("No store")) };
    const leases = { acquire: async () => lease } as unknown as Leases;
    const one = startInstance({ ...shareStore(), leases }, "one");
    const ended = one.time();
    await settle();
    one.end();
    await ended;
    expect(one.lines.at(-1)).toBe("Lease could not be released");
  });
});

describe("startCompareSchedule()", () => {
  test("D-7.5, D-14.6 a table that goes, or is not used any more, while another is compared keeps none from being compared", async () => {
    const entry = makeTable({ upsert_key: ["n"], columns: { n: { type: "integer" } } });
    const tables = new Map(["a", "b", "c", "d"].map((name) => [name, { ...entry, name }]));
    const registry = new LiveRegistry(tables);
    const compared: string[] = [];
    const errors: string[] = [];
    const error = (message: string) => void errors.push(message);
    let work = async () => {};
    const deps = {
      registry,
      ...shareStore(),
      ids: { next: () => "one" },
      timer: { sleep: () => new Promise<void>(() => {}) },
      logger: { debug() {}, info() {}, warn() {}, error },
      scheduler: {
        ...cron,
        start: (_: string, given: () => Promise<void>) => {
          work = given;
          return { stop() {} };
        },
      },
      activeRuns: {
        start: () => {
          throw new Error("Not asked for");
        },
        compare({ tableName }: { readonly tableName: string }) {
          compared.push(findTable(registry, tableName).name);
          registry.take(new Map([...tables].filter(([name]) => name !== "b")));
          registry.stopped.set("c", "A column of it is another one");
          return { outcome: new Promise<never>((resolve) => resolve(undefined as never)) };
        },
      },
    };
    startCompareSchedule(deps, "0 3 * * *", null);
    await work();
    expect(compared).toEqual(["a", "d"]);
    expect(errors).toEqual(["Table not compared: A column of it is another one"]);
  });
});
