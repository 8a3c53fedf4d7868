import { describe, expect, test } from "bun:test";
import type { RunRequest } from "../../src/domain/sync/run/run.ts";
import { findTable } from "../../src/domain/sync/table/table.ts";
import type { Scheduler } from "../../src/ports/runtime/runtime.ts";
import { type LeaseGiver, Leases } from "../../src/repositories/leases.ts";
import {
  startCompareSchedule,
  startSchedule,
} from "../../src/usecases/sync/runs/scheduled-runs.ts";
import { LiveRegistry } from "../../src/usecases/sync/shared/live-registry.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { makeTable } from "../support/rows/make-table.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

/** A schedule whose times come when a test says so, over leases that instances share. */
function startInstance(leases: LeaseGiver, holder: string) {
  const started: RunRequest[] = [];
  const lines: string[] = [];
  let work = async () => {};
  let isStopped = false;
  let cron = "";
  let end = () => {};
  const scheduler: Scheduler = {
    start(cronText, given) {
      cron = cronText;
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
      ...{ scheduler, leases, clock: new FakeClock(), ids: { next: () => holder } },
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
    ...{ started, lines, schedule, cron },
    time: () => work(),
    end: () => end(),
    isStopped: () => isStopped,
  };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("startSchedule()", () => {
  test("D-1.3.10, D-4.13 startSchedule() runs both ways for all tables at each time", async () => {
    const one = startInstance(new Leases(ownDocuments(new FakeClock())), "one");
    expect(one.cron).toBe("*/5 * * * *");
    for (const times of [1, 2]) {
      const ended = one.time();
      await settle();
      expect(one.started.length).toBe(times);
      one.end();
      await ended;
    }
    expect(one.started[0]).toEqual({
      ...{ direction: "both", tableName: null, isFull: false, isDryRun: false },
      trigger: "schedule",
    });
    one.schedule.stop();
    expect(one.isStopped()).toBe(true);
  });

  test("D-1.3.10, D-4.8, D-4.13 of several instances one runs, the others leave it to that one", async () => {
    const leases = new Leases(ownDocuments(new FakeClock()));
    const one = startInstance(leases, "one");
    const two = startInstance(leases, "two");
    const running = one.time();
    await two.time();
    expect([one.started.length, two.started.length]).toEqual([1, 0]);
    expect(two.lines.at(-1)).toContain("another instance is running it");
    one.end();
    await running;
    const next = two.time();
    await settle();
    expect(two.started.length).toBe(1);
    two.end();
    await next;
  });

  test("D-1.3.10 a store that fails ends one time, not the schedule", async () => {
    const clock = new FakeClock();
    const leases = new Leases(ownDocuments(clock));
    const broken = { acquire: () => Promise.reject(new Error("No store")) };
    const one = startInstance(broken, "one");
    await one.time();
    expect(one.lines.at(-1)).toBe("Scheduled sync run could not begin");
    expect(
      await leases.acquire({ name: "sync schedule", holder: "two", ttlMs: 1 }),
    ).not.toHaveProperty("heldBy");
  });

  test("D-1.3.10 a lease that cannot be given back is told as that, and not as a run that did not begin", async () => {
    const lease = { renew: async () => {}, release: () => Promise.reject(new Error("No store")) };
    const leases = { acquire: async () => lease };
    const one = startInstance(leases as unknown as Leases, "one");
    const ended = one.time();
    await settle();
    one.end();
    await ended;
    expect(one.lines.at(-1)).toBe("Lease could not be released");
  });
});

describe("startCompareSchedule()", () => {
  test("D-7.5, D-14.6 a table that goes while another is compared keeps none from being compared", async () => {
    const entry = makeTable({ upsert_key: ["n"], columns: { n: { type: "integer" } } });
    const tables = new Map(["a", "b", "c"].map((name) => [name, { ...entry, name }]));
    const registry = new LiveRegistry(tables);
    const compared: string[] = [];
    let work = async () => {};
    const deps = {
      registry,
      ...{ leases: new Leases(ownDocuments(new FakeClock())), clock: new FakeClock() },
      ids: { next: () => "one" },
      timer: { sleep: () => new Promise<void>(() => {}) },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      scheduler: {
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
          return { outcome: new Promise<never>((resolve) => resolve(undefined as never)) };
        },
      },
    };
    startCompareSchedule(deps, "0 3 * * *", null);
    await work();
    expect(compared).toEqual(["a", "c"]);
  });
});
