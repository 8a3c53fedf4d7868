// Guarded pushes, deletes and the list of deletes, as the sync client sends and reads them. D-7.2, D-7.6.
import { expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import type { PushRequest } from "../../../src/client.ts";
import { clientOf, failureOf, KEY, plainReply, startPeer } from "./sync-client-support.ts";

const DONE = { table: "t", received: 2, upserted: 2, integrity: "verified" };
const records = [{ id: 1 }, { id: 2 }];
const deleted = [{ key: { the_key: "a" }, deletedAt: "2026-01-02T03:04:05Z" }];
const DELETED = {
  table: "t",
  items: [{ key: { the_key: "a", n: 1 }, deleted_at: "2026-01-02T03:04:05.5Z" }],
  next_cursor: "c 2+",
  cursor: "c 2+",
  earliest_available: "2026-01-01T00:00:00Z",
  server_time: "2026-01-02T04:00:00Z",
};

/** Pushes to a peer that answers so. */
async function push(reply: object, request: PushRequest) {
  const peer = startPeer(() => Response.json(reply));
  const pushed = clientOf(peer).pushBatch("t", request);
  return { peer, pushed, failure: () => failureOf(pushed).then(({ message }) => message) };
}

function sentBody({ seen }: ReturnType<typeof startPeer>): string {
  return gunzipSync(seen[0]?.body ?? new Uint8Array()).toString();
}

test("D-7.2.1 pushBatch() asks for a guarded push by a header and in the body, and reads what was kept and changed", async () => {
  const { peer, pushed } = await push(
    { ...DONE, kept: 1, changed: 1 },
    { records, isGuarded: true },
  );
  expect((await pushed).result).toEqual({
    ...{ table: "t", received: 2, upserted: 2, integrity: "verified", kept: 1, changed: 1 },
  });
  expect(peer.seen[0]?.headers.get("X-Sync-Conflict")).toBe("newer");
  expect(sentBody(peer)).toBe('{"records":[{"id":1},{"id":2}],"conflict":"newer"}');
  expect(peer.seen[0]?.headers.get("X-Sync-Dry-Run")).toBeNull();
});

test("D-11.10.2 pushBatch() asks for an overwriting push by a header and in the body", async () => {
  const { peer, pushed } = await push(DONE, { records, isForced: true });
  expect((await pushed).result).not.toHaveProperty("kept");
  expect(peer.seen[0]?.headers.get("X-Sync-Conflict")).toBe("overwrite");
  expect(sentBody(peer)).toBe('{"records":[{"id":1},{"id":2}],"conflict":"overwrite"}');
});

test("D-14.2.2 pushBatch() says by a header which run sends the rows", async () => {
  const { peer, pushed } = await push(DONE, { records, runId: "run-1" });
  await pushed;
  expect(peer.seen[0]?.headers.get("X-Sync-Run")).toBe("run-1");
});

test("D-7.2.1, D-7.6.1 pushBatch() without guard and deletes sends no header and reads no field of them", async () => {
  const reply = { ...DONE, kept: "many", changed: -1, deleted: "all" };
  const { peer, pushed } = await push(reply, { records, isGuarded: false, deleted: [] });
  const plain = { table: "t", received: 2, upserted: 2, integrity: "verified" } as const;
  expect((await pushed).result).toEqual(plain);
  expect(peer.seen[0]?.headers.get("X-Sync-Conflict")).toBeNull();
  expect(peer.seen[0]?.headers.get("X-Sync-Run")).toBeNull();
  expect(sentBody(peer)).toBe('{"records":[{"id":1},{"id":2}]}');
});

test.each([
  [{}, `"kept" is not a whole number from 0 to 2: missing`],
  [{ kept: 3, changed: 0 }, `"kept" is not a whole number from 0 to 2: 3`],
  [{ kept: -1, changed: 0 }, `"kept" is not a whole number from 0 to 2: -1`],
  [{ kept: "1", changed: 0 }, `"kept" is not a whole number from 0 to 2: another text`],
  [{ kept: 1 }, `"changed" is not a whole number from 0 to 1: missing`],
  [{ kept: 1, changed: 2 }, `"changed" is not a whole number from 0 to 1: 2`],
])("D-7.2.1 pushBatch() refuses the reply to a guarded push with %j", async (fields, problem) => {
  const { failure } = await push({ ...DONE, ...fields }, { records, isGuarded: true });
  expect(await failure()).toEndWith(`got an unusable reply: ${problem}`);
});

test("D-7.6.1 pushBatch() sends deletes beside the records", async () => {
  const request = { records: [{ id: 1 }, { id: 2 }], deleted, syncTimestamp: "2026" };
  const { peer, pushed } = await push({ ...DONE, deleted: 1 }, request);
  expect((await pushed).result.deleted).toBe(1);
  expect(sentBody(peer)).toBe(
    '{"records":[{"id":1},{"id":2}],"deleted":[{"key":{"the_key":"a"},"deleted_at":"2026-01-02T03:04:05Z"}],"sync_timestamp":"2026"}',
  );
});

test("D-7.6.1 pushBatch() sends deletes with records that were prepared without them", async () => {
  const peer = startPeer(() => Response.json({ ...DONE, deleted: 1 }));
  const client = clientOf(peer);
  client.prepareBatch?.({ records });
  await client.pushBatch("t", { records, deleted });
  expect(sentBody(peer)).toContain('"deleted":[{');
});

test("D-7.2.1 pushBatch() guards records that were prepared without the guard", async () => {
  const peer = startPeer(() => Response.json({ ...DONE, kept: 0, changed: 2 }));
  const client = clientOf(peer);
  client.prepareBatch?.({ records });
  await client.pushBatch("t", { records, isGuarded: true });
  expect(sentBody(peer)).toEndWith('"conflict":"newer"}');
});

test("D-7.6.1 pushBatch() of deletes alone wants their result", async () => {
  const none = { ...DONE, received: 0, upserted: 0, deleted: 1 };
  const { pushed } = await push(none, { records: [], deleted });
  expect((await pushed).result).toMatchObject({ received: 0, deleted: 1 });
  const empty = { table: "t", upserted: 0, message: "No records" };
  const { failure } = await push(empty, { records: [], deleted });
  expect(await failure()).toEndWith(`"deleted" is not a whole number from 0 to 1: missing`);
});

test.each([
  [{ deleted: 2 }, `"deleted" is not a whole number from 0 to 1: 2`],
  [{ deleted: 0.5 }, `"deleted" is not a whole number from 0 to 1: 0.5`],
  [{ deleted: null }, `"deleted" is not a whole number from 0 to 1: null`],
])("D-7.6.1 pushBatch() refuses the reply to deletes with %j", async (fields, problem) => {
  const { failure } = await push({ ...DONE, ...fields }, { records, deleted });
  expect(await failure()).toEndWith(`got an unusable reply: ${problem}`);
});

test("D-7.6.2 pushBatch() asks what deletes would remove, whatever the records", async () => {
  const reply = { ...DONE, received: 0, upserted: 0, deleted: 1 };
  const { peer, pushed } = await push(reply, { records, deleted, isDeletesDryRun: true });
  expect((await pushed).result.deleted).toBe(1);
  expect(peer.seen[0]?.headers.get("X-Sync-Dry-Run")).toBe("deletes");
  const { failure } = await push(DONE, { records: [], isDeletesDryRun: true });
  expect(await failure()).toContain("got an unusable reply: X-Sync-Dry-Run did not arrive");
});

test("D-7.6.3 readDeleted() asks for what the caller names and leaves keys as they are", async () => {
  const json = JSON.stringify(DELETED);
  const peer = startPeer(() => plainReply(json));
  const client = clientOf(peer);
  expect(await client.readDeleted("t")).toEqual({
    items: [{ key: { the_key: "a", n: 1 }, deletedAt: "2026-01-02T03:04:05.5Z" }],
    nextCursor: "c 2+",
    cursor: "c 2+",
    earliestAvailable: "2026-01-01T00:00:00Z",
    serverTime: "2026-01-02T04:00:00Z",
    bytesCompressed: json.length,
    bytesUncompressed: json.length,
  });
  await client.readDeleted("t", { since: "2026-01-01T00:00:00+00:00", limit: 5, cursor: "c 1+" });
  await client.readDeleted("t", { since: "", cursor: null });
  expect(peer.seen.map(({ target }) => target)).toEqual([
    "/api/v1/sync/deleted/t",
    "/api/v1/sync/deleted/t?since=2026-01-01T00%3A00%3A00%2B00%3A00&limit=5&cursor=c%201%2B",
    "/api/v1/sync/deleted/t",
  ]);
  expect(peer.seen[0]?.headers.get("X-Sync-Key")).toBe(KEY);
  await expect(client.readDeleted("t", { limit: 0 })).rejects.toThrow(RangeError);
});

test("D-7.6.3 readDeleted() takes an empty list with an empty cursor", async () => {
  const none = { ...DELETED, items: [], next_cursor: null, cursor: "" };
  const peer = startPeer(() => plainReply(JSON.stringify(none)));
  expect(await clientOf(peer).readDeleted("t")).toMatchObject({ items: [], cursor: "" });
});

test.each([
  [{ table: "u" }, `"table" is not "t": another text`],
  [{ items: {} }, `"items" is not an array whose elements are each an object: an object`],
  [{ items: [{ key: "a" }] }, `"key" is not an object: another text`],
  [
    { items: [{ key: {}, deleted_at: "now" }] },
    `"deleted_at" is not an ISO 8601 time: another text`,
  ],
  [{ next_cursor: "" }, `"next_cursor" is not a text that is not empty or null: another text`],
  [{ next_cursor: "asked" }, `"next_cursor" is not null: another text`],
  [{ items: [] }, `"next_cursor" is not null: another text`],
  [{ cursor: null }, `"cursor" is not a text: null`],
  [{ earliest_available: "" }, `"earliest_available" is not an ISO 8601 time: another text`],
  [{ server_time: 5 }, `"server_time" is not an ISO 8601 time: 5`],
])("D-7.6.3 readDeleted() refuses a reply with %j", async (fields, problem) => {
  const peer = startPeer(() => plainReply(JSON.stringify({ ...DELETED, ...fields })));
  const error = await failureOf(clientOf(peer).readDeleted("t", { cursor: "asked" }));
  expect(error.kind).toBe("invalid_reply");
  expect(error.message).toEndWith(`/deleted/t got an unusable reply: ${problem}`);
});
