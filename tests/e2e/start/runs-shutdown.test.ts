// A service that is told to stop ends its runs first, tells whoever watches, and the next run goes on.
import { expect, setDefaultTimeout, test } from "bun:test";
import { startHeldRemote } from "../../http/sync-runs/support/held-remote.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { itemsOf, makeRunService, type RunService } from "../support/run-service.ts";

setDefaultTimeout(120_000);

async function runsOf(service: RunService): Promise<readonly object[]> {
  return ((await (await service.ask("/runs")).json()) as { items: object[] }).items;
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "D-1.2, S-6.2, D-4.9, D-1.2.2 %s ends runs as failed, their streams with error and finished, exit code 0",
  async (signal) => {
    const remote = await makeRunService();
    await remote.start();
    const held = startHeldRemote(remote.url, "/push/");
    const local = await makeRunService({ SYNC_REMOTE_URL: held.url });
    await local.start();
    await local.push(itemsOf("local", 1, 300));
    const body = { table: "items", direction: "push" };
    const streaming = Array.fromAsync(local.stream(body));
    await held.reached;
    const waiting = local.ask("/trigger", body);
    await pollUntil("the second run", async () => (await runsOf(local)).length === 2);
    const startedAtMs = performance.now();
    local.process().kill(signal);
    const events = (await streaming).join("").trimEnd().split("\n\n");
    const last = events.slice(-2).map((line) => JSON.parse(line.replace("data: ", "")));
    expect(last).toMatchObject([
      { type: "error", table: "items", direction: "push" },
      { type: "finished" },
    ]);
    expect(last[0].error).toEndWith("; run it again to continue");
    const reply = await waiting;
    expect([reply.status, await reply.json()]).toMatchObject([500, { type: "sync_error" }]);
    expect(await local.process().ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - startedAtMs).toBeLessThan(7_000);
    held.release();
    await local.start();
    expect(await runsOf(local)).toMatchObject([
      { status: "failed", trigger: "api", error: "The run was stopped; run it again to continue" },
      { status: "failed", trigger: "stream", error: last[0].error },
    ]);
    const again = await local.ask("/trigger", body);
    expect([again.status, await again.json()]).toMatchObject([200, { total_pushed: 300 }]);
    expect(await remote.rows()).toEqual(await local.rows());
  },
);
