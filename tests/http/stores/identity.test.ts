// What a store tells of itself: its format and the id of its deployment.

import { expect, test } from "bun:test";
import { isAppError } from "../../../src/domain/shared/errors.ts";
import { jsonBody } from "../reputation/people.ts";
import { onEveryBackend } from "../support/backends.ts";
import { passOn, serveLocally } from "../support/serve-locally.ts";
import { startApp } from "../support/sync-app.ts";
import { startForwarder } from "../sync-runs/support/forwarder.ts";
import { notes, startRunApp } from "../sync-runs/support/run-apps.ts";
import { dropFacts, readFacts, writeFact } from "./support/raw-store.ts";

const HEADER = "repsync-deployment";

onEveryBackend("the id of a deployment", (backend) => {
  test("D-10.4 is made once, also when two instances start at once, and told by the status", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const first = await Promise.all([startApp({ env }), startApp({ env })]);
    const later = await startApp({ env });
    const told = await Promise.all(
      [...first, later].map(async (app) => (await app.send("/api/v1/sync/status")).headers),
    );
    const ids = told.map((headers) => headers.get(HEADER));
    const { deployment_id } = await readFacts(env.STORAGE_URL);
    expect(deployment_id).toMatch(/^[0-9a-f]{24,32}$/);
    expect(ids).toEqual([deployment_id, deployment_id, deployment_id] as string[]);
    const other = await startApp({ backend });
    const theirs = (await other.send("/api/v1/sync/status")).headers.get(HEADER);
    expect(theirs).not.toBe(ids[0] ?? null);
  });

  test("D-10.4 a remote that turns out to be this deployment ends runs and comparisons with config_error", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const proxy = startForwarder();
    const app = await startRunApp({ env: { STORAGE_URL, SYNC_REMOTE_URL: proxy.url } });
    proxy.target = app.url;
    await app.push("notes", { records: notes(3) });
    for (const direction of ["push", "pull", "both"]) {
      const reply = await app.trigger({ direction });
      expect([direction, reply.status, reply.json["type"]]).toEqual([
        direction,
        400,
        "config_error",
      ]);
      expect(reply.json["error"]).toBe(
        `The remote is this deployment itself: ${proxy.url}; set SYNC_REMOTE_URL to the other deployment`,
      );
    }
    const compared = await app.ask("/compare", jsonBody({ table: "notes" }));
    expect([compared.status, compared.json["type"]]).toEqual([400, "config_error"]);
    expect(proxy.seen.filter((line) => !line.endsWith("/status"))).toEqual([]);
    expect((await app.items("/runs")).map(({ status }) => status)).not.toContain("success");
  });

  test("D-10.4 of a remote that tells no id nothing is known, and runs go on", async () => {
    const remote = await startApp();
    const proxy = serveLocally(async (request) => {
      const reply = await passOn(request, remote.url);
      reply.headers.delete(HEADER);
      return reply;
    });
    const env = { SYNC_REMOTE_URL: proxy };
    const app = await startRunApp({ backend, env });
    await app.push("notes", { records: notes(3) });
    expect((await app.trigger({ direction: "push", table: "notes" })).status).toBe(200);
    expect(await remote.records("notes")).toHaveLength(3);
  });
});

onEveryBackend("the format of a store", (backend) => {
  test("D-10.7 a store of another format is refused, and left as it is", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const app = await startApp({ env });
    await app.push("notes", { records: notes(1) });
    await app.stop();
    const { format, ...facts } = await readFacts(env.STORAGE_URL);
    expect(format).toBe("2");
    const refusals = [
      [
        "0",
        "has format 0, which repsync 0.1.0 is the last to read, and this program knows 2 alone",
      ],
      [
        "1",
        "has format 1, which repsync 0.1.0 is the last to read, and this program knows 2 alone",
      ],
      ["3", "has format 3, and this program knows 2"],
      ["17", "has format 17, and this program knows 2"],
      ["next", "a format that is no number, and this program knows 2"],
    ] as const;
    for (const [other, text] of refusals) {
      await writeFact(env.STORAGE_URL, "format", other);
      const refusal = await startApp({ env }).catch((error: unknown) => error);
      // A start ends with exit code 2 for both, a command with 1 for the earlier one.
      const isEarlier = other === "0" || other === "1";
      expect(isAppError(refusal, isEarlier ? "store_outdated" : "invalid_request")).toBe(true);
      expect(String(refusal)).toContain(text);
      expect(await readFacts(env.STORAGE_URL)).toEqual({ ...facts, format: other });
    }
    await writeFact(env.STORAGE_URL, "format", "2");
    expect(await (await startApp({ env })).records("notes")).toHaveLength(1);
  });

  test("D-10.7 a store from before formats had numbers is refused", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    await (await startApp({ env })).stop();
    await dropFacts(env.STORAGE_URL);
    const refusal = await startApp({ env }).catch((error: unknown) => error);
    expect(isAppError(refusal, "store_outdated")).toBe(true);
    expect(String(refusal)).toContain("has format 0, which repsync 0.1.0 is the last to read");
  });

  test("D-10.7 nothing may use a store that was not filled to its end", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    await (await startApp({ env })).stop();
    await writeFact(env.STORAGE_URL, "filled_by", "restore");
    const refusal = await startApp({ env }).catch((error: unknown) => error);
    expect(isAppError(refusal, "invalid_request")).toBe(true);
    expect(String(refusal)).toContain("was not filled to its end by repsync restore");
  });
});
