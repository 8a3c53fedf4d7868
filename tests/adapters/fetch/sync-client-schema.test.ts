// What the sync client makes of a peer's extensions and of the schema of a table. D-7.2 to D-7.4.
import { expect, test } from "bun:test";
import { clientOf, failureOf, KEY, plainReply, startPeer } from "./sync-client-support.ts";

const STATUS =
  '{"sync_enabled":false,"tables":[],"table_counts":{},"last_sync":{},"server_time":"2026-01-02T03:04:06Z","features":{"gzip":true,"sha256":true,"incremental":true}}';
const SCHEMA = {
  table: "t",
  timestamp_column: "updated_at",
  upsert_key: ["the_key", "sku"],
  update_columns: ["updated_at"],
  columns: {
    the_key: { type: "text", nullable: false },
    sku: { type: "bigint", nullable: true },
    updated_at: { type: "datetime", nullable: true },
  },
  deletes: true,
  stamped: true,
  lag_seconds: 1.5,
  conflict: "newer",
  direction: "pull",
  remote_id: "d-1",
  late: { mark: "m 1+", from: "2026-01-02T03:04:05.123456Z" },
};

test.each([
  [null, []],
  ["", []],
  ["conflict-newer, schema, digest, deletes", ["conflict-newer", "schema", "digest", "deletes"]],
  ["schema,later-thing ,", ["schema", "later-thing"]],
])("D-7.2 readStatus() reads the extensions %p", async (header, extensions) => {
  const headers: Record<string, string> = header === null ? {} : { "X-Sync-Extensions": header };
  const peer = startPeer(() => new Response(STATUS, { headers }));
  expect((await clientOf(peer).readStatus()).extensions).toEqual(extensions);
});

test("D-7.3.1, D-14.2.5 readSchema() asks with the key and leaves the names of columns as they are", async () => {
  const peer = startPeer(() => plainReply(JSON.stringify(SCHEMA)));
  const schema = await clientOf(peer).readSchema("café/a b", { lateAfter: "m 1+" }).catch(String);
  expect(schema).toBe(
    `RemotePeerError: GET ${peer.baseUrl}/api/v1/sync/schema/caf%C3%A9%2Fa%20b got an unusable reply: "table" is not "café/a b": another text`,
  );
  expect(await clientOf(peer).readSchema("t", { lateAfter: "m 1+" })).toEqual({
    table: "t",
    timestampColumn: "updated_at",
    upsertKey: ["the_key", "sku"],
    updateColumns: ["updated_at"],
    columns: {
      the_key: { type: "text", nullable: false },
      sku: { type: "bigint", nullable: true },
      updated_at: { type: "datetime", nullable: true },
    },
    deletes: true,
    stamped: true,
    lagSeconds: 1.5,
    conflict: "newer",
    direction: "pull",
    remoteId: "d-1",
    late: { mark: "m 1+", from: "2026-01-02T03:04:05.123456Z" },
  });
  expect(peer.seen.map(({ method, target }) => `${method} ${target}`)).toEqual([
    "GET /api/v1/sync/schema/caf%C3%A9%2Fa%20b?late_after=m%201%2B",
    "GET /api/v1/sync/schema/t?late_after=m%201%2B",
  ]);
  expect(peer.seen[1]?.headers.get("X-Sync-Key")).toBe(KEY);
});

test("D-7.4.1 readSchema() without a mark asks without one, and takes no time for an answer", async () => {
  const late = { mark: "7", from: null };
  const peer = startPeer(() => plainReply(JSON.stringify({ ...SCHEMA, late })));
  expect((await clientOf(peer).readSchema("t")).late).toEqual(late);
  expect((await clientOf(peer).readSchema("t", { lateAfter: "" })).late).toEqual(late);
  expect(peer.seen.map(({ target }) => target)).toEqual([
    "/api/v1/sync/schema/t",
    "/api/v1/sync/schema/t",
  ]);
  const telling = startPeer(() => plainReply(JSON.stringify(SCHEMA)));
  const error = await failureOf(clientOf(telling).readSchema("t"));
  expect(error.message).toEndWith(`"from" is not null: another text`);
});

test.each([
  [{ table: 1 }, `"table" is not a text: 1`],
  [
    { timestamp_column: "other" },
    `"timestamp_column" is not a column of the table or null: another text`,
  ],
  [
    { upsert_key: [] },
    `"upsert_key" is not a list of columns of the table that is not empty: an array`,
  ],
  [
    { upsert_key: ["constructor"] },
    `"upsert_key" is not a list of columns of the table that is not empty: an array`,
  ],
  [
    { update_columns: "all" },
    `"update_columns" is not "__all__" or a list of columns of the table: another text`,
  ],
  [{ columns: [] }, `"columns" is not an object of at most 10000 fields, each an object: an array`],
  [
    { columns: { the_key: { type: "uuid", nullable: true } } },
    `"type" is not one of text, integer, bigint, numeric, real, boolean, datetime, date, json: another text`,
  ],
  [{ columns: { the_key: { type: "text" } } }, `"nullable" is not true or false: missing`],
  [{ deletes: null }, `"deletes" is not true or false: null`],
  [{ lag_seconds: -1 }, `"lag_seconds" is not a number from 0 to 3153600000: -1`],
  [{ lag_seconds: 1e300 }, `"lag_seconds" is not a number from 0 to 3153600000: 1e+300`],
  [{ conflict: "older" }, `"conflict" is not one of overwrite, newer: another text`],
  [{ late: null }, `"late" is not an object: null`],
  [{ late: { mark: "", from: null } }, `"mark" is not a text that is not empty: another text`],
  [{ late: { mark: "1" } }, `"from" is not an ISO 8601 time or an empty text or null: missing`],
  [
    { late: { mark: "1", from: "today" } },
    `"from" is not an ISO 8601 time or an empty text or null: another text`,
  ],
])("D-7.3.1 readSchema() refuses a schema with %j", async (fields, problem) => {
  const peer = startPeer(() => plainReply(JSON.stringify({ ...SCHEMA, ...fields })));
  const error = await failureOf(clientOf(peer).readSchema("t", { lateAfter: "1" }));
  expect(error.kind).toBe("invalid_reply");
  expect(error.message).toBe(
    `GET ${peer.baseUrl}/api/v1/sync/schema/t got an unusable reply: ${problem}`,
  );
});

test("D-11.10.2 readSchema() takes a reply without conflict from an earlier version", async () => {
  const { conflict: _, ...earlier } = SCHEMA;
  const peer = startPeer(() => plainReply(JSON.stringify(earlier)));
  const schema = await clientOf(peer).readSchema("t", { lateAfter: "1" });
  expect(schema.conflict).toBeNull();
});

test("D-7.3.1 readSchema() refuses a reply that does not match its checksum", async () => {
  const peer = startPeer(() =>
    plainReply(JSON.stringify(SCHEMA), { "X-Content-SHA256": "0".repeat(64) }),
  );
  expect((await failureOf(clientOf(peer).readSchema("t"))).kind).toBe("checksum_mismatch");
});
