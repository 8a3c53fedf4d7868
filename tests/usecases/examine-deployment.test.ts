// What `doctor` says.
import { expect, test } from "bun:test";
import type { Table } from "../../src/domain/sync/table/table.ts";
import { AlertOutbox, Alerts } from "../../src/repositories/alert-outbox.ts";
import {
  type ExamineDeps,
  examineDeployment,
} from "../../src/usecases/operations/examine-deployment.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { makeTwoEnds } from "./sync/two-ends.ts";

/** What a check says; undefined where it is not made. */
async function verdictOf(check: string, deps: ExamineDeps) {
  const findings = await Array.fromAsync(examineDeployment(deps));
  const { status, message, hint } = findings.find((one) => one.check === check) ?? {};
  return status && [`${status} ${message}`, ...(hint == null ? [] : [hint])];
}

test("D-10.12 doctor tells of alerts that could not be delivered, where any are sent", async () => {
  const ends = await makeTwoEnds();
  const outbox = new AlertOutbox(ownDocuments(ends.time.clock()));
  const alerts = new Alerts({ outbox, clock: ends.time.clock(), ids: { next: () => "alert-1" } });
  const examine = async (told: Alerts | null) => {
    const deps = {
      sync: { ...ends.deps, alerts: told },
      storage: { ping: async () => {}, isDamaged: async () => false },
      outbox,
      syncApiKey: "key",
      isFirstPepper: true,
      backups: null,
    };
    return await verdictOf("alerts", deps);
  };
  expect(await examine(null)).toBeUndefined();
  expect(await examine(alerts)).toEqual(["ok none waits for its delivery"]);
  await alerts.raise({ type: "backup.failed", error: "The disk is full" });
  expect(await examine(alerts)).toEqual(["ok 1 on the way"]);
  await outbox.postpone("alert-1", { attempts: 1, dueAtMs: ends.time.nowMs + 900_000 });
  expect(await examine(alerts)).toEqual([
    "warn 1 could not be delivered yet",
    "The log of the service says why; check WEBHOOK_URL and its receiver",
  ]);
});

test("D-4.12 doctor tells of a store whose clock is another one than this machine's", async () => {
  const { deps, time } = await makeTwoEnds();
  const examine = async (aheadMs: number) => {
    const documents = ownDocuments(time.clock(aheadMs));
    return await verdictOf("store", {
      sync: { ...deps, documents },
      storage: { ping: async () => {}, isDamaged: async () => false },
      outbox: new AlertOutbox(documents),
      syncApiKey: "key",
      isFirstPepper: true,
      backups: null,
    });
  };
  expect(await examine(5_000)).toEqual(["ok it can be read and written, 0 ms"]);
  expect(await examine(-3_600_000)).toEqual([
    "warn it can be read and written, but its clock is 3600.0 s behind this machine's",
    "Set both machines' clocks by a time server",
  ]);
});

test("D-12.2 doctor names the tables of which nothing notes late commits, where a store can", async () => {
  const { deps, time } = await makeTwoEnds();
  const examine = async (tellsCommits?: (table: Table) => boolean) => {
    const documents = Object.assign(
      ownDocuments(time.clock()),
      tellsCommits && { tellsCommits, tellingGrant: () => 'grant trigger on "a" to b' },
    );
    return await verdictOf("late commits", {
      sync: { ...deps, documents },
      storage: { ping: async () => {}, isDamaged: async () => false },
      outbox: new AlertOutbox(documents),
      syncApiKey: "key",
      isFirstPepper: true,
      backups: null,
    });
  };
  expect(await examine()).toBeUndefined();
  expect(await examine(() => true)).toEqual([
    "ok every commit is noted, so none is waited for: lag_seconds is 0 here",
  ]);
  const names = [...deps.registry.keys()];
  expect(await examine(({ name }) => name !== names[0])).toEqual([
    `warn nothing notes the commits of other programs, so 60 s are waited for them (SYNC_LAG_SECONDS): ${names[0]}`,
    'Let their owner say: grant trigger on "a" to b',
  ]);
});
