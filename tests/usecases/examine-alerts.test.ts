// What `doctor` says of alerts.
import { expect, test } from "bun:test";
import { AlertOutbox } from "../../src/repositories/alert-outbox.ts";
import { Alerts } from "../../src/usecases/alerts/alerts.ts";
import { examineDeployment } from "../../src/usecases/operations/examine-deployment.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { makeTwoEnds } from "./sync/two-ends.ts";

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
    };
    const findings = await Array.fromAsync(examineDeployment(deps));
    const { status, message } = findings.find(({ check }) => check === "alerts") ?? {};
    return status && `${status} ${message}`;
  };
  expect(await examine(null)).toBeUndefined();
  expect(await examine(alerts)).toBe("ok none waits for its delivery");
  await alerts.raise({ type: "backup.failed", error: "The disk is full" });
  expect(await examine(alerts)).toBe("ok 1 on the way");
  await outbox.postpone("alert-1", { attempts: 1, atMs: ends.time.nowMs + 900_000 });
  expect(await examine(alerts)).toBe("warn 1 could not be delivered yet");
});
