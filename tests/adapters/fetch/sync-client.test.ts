// What the sync client sends and what it makes of correct replies, against real HTTP servers.

import { expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { refusalReason } from "../../../src/adapters/fetch/errors.ts";
import {
  createSyncClient,
  isRawNumber,
  type JsonObject,
  type PullPage,
} from "../../../src/client.ts";
import { gzipReply, plainReply, startPeer } from "./sync-client-support.ts";

const KEY = "k-1 secret";
const EMPTY_PAGE =
  '{"table":"listings","since":null,"count":0,"total":0,"offset":0,"limit":1000,"has_more":false,"next_offset":null,"records":[]}';
const STATUS =
  '{"sync_enabled":true,"tables":["listings"],"table_counts":{"listings":3,"broken":-1},"last_sync":{"sync_last_pull_listings":"2026-01-02T03:04:05Z"},"server_time":"2026-01-02T03:04:06Z","features":{"gzip":true,"sha256":true,"incremental":true}}';

function pageJson(fields: JsonObject): string {
  return JSON.stringify({ ...JSON.parse(EMPTY_PAGE), ...fields });
}

test("S-4.1 pullPage() sends the key and asks for the table, the time, the offset and the limit", async () => {
  const since = "2026-01-02T03:04:05.123456+00:00";
  const peer = startPeer(() => plainReply(pageJson({ since, offset: 20, limit: 10 })));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  await client.pullPage("listings", { since, offset: 20, limit: 10 });
  const [request] = peer.seen;
  expect(request?.method).toBe("GET");
  expect(request?.target).toBe(
    "/api/v1/sync/pull/listings?since=2026-01-02T03%3A04%3A05.123456%2B00%3A00&offset=20&limit=10",
  );
  expect(request?.headers.get("X-Sync-Key")).toBe("k-1 secret");
});

test("S-4.1 pullPage() leaves to the peer what the caller does not name, an empty since included", async () => {
  const peer = startPeer(() => plainReply(EMPTY_PAGE));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  await client.pullPage("listings");
  await client.pullPage("listings", { since: null });
  await client.pullPage("listings", { since: "" });
  expect(peer.seen.map((request) => request.target)).toEqual([
    "/api/v1/sync/pull/listings",
    "/api/v1/sync/pull/listings",
    "/api/v1/sync/pull/listings",
  ]);
});

test("S-4.1 pullPage() percent-encodes the table's name", async () => {
  const peer = startPeer(() => plainReply(pageJson({ table: "café/a b?c" })));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  await client.pullPage("café/a b?c");
  expect(peer.seen[0]?.target).toBe("/api/v1/sync/pull/caf%C3%A9%2Fa%20b%3Fc");
});

test("D-1.3 the base address may have a path and a slash at its end", async () => {
  const peer = startPeer(() => plainReply(EMPTY_PAGE));
  for (const end of ["", "/", "/de/shop", "/de/shop//"]) {
    await createSyncClient({ baseUrl: peer.baseUrl + end, key: KEY }).pullPage("listings");
  }
  expect(peer.seen.map((request) => request.target)).toEqual([
    "/api/v1/sync/pull/listings",
    "/api/v1/sync/pull/listings",
    "/de/shop/api/v1/sync/pull/listings",
    "/de/shop/api/v1/sync/pull/listings",
  ]);
});

test("S-4.1.4 pullPage() reads a page that is not compressed and reports its bytes", async () => {
  const peer = startPeer(() => plainReply(EMPTY_PAGE));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  expect(await client.pullPage("listings")).toEqual({
    page: {
      table: "listings",
      since: null,
      count: 0,
      total: 0,
      offset: 0,
      limit: 1000,
      hasMore: false,
      nextOffset: null,
      records: [],
    },
    bytesCompressed: 126,
    readMs: expect.any(Number),
    bytesUncompressed: 126,
  });
});

test("S-4.1.5 pullPage() reads a gzip page and reports the bytes on the wire and before compression", async () => {
  const records = [{ sku: "é".repeat(2000) }];
  const json = pageJson({ count: 1, total: 1, records });
  const peer = startPeer(() => gzipReply(json));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const pulled = await client.pullPage("listings");
  expect(pulled.page.records).toEqual([{ sku: "é".repeat(2000) }]);
  expect(pulled.bytesUncompressed).toBe(4136);
  expect(pulled.bytesCompressed).toBe(gzipSync(json, { level: 6 }).length);
});

test("S-4.1.6 pullPage() takes the checksum in upper case too", async () => {
  const checksum = "53685FDE3BF1CBD475F54390D5CB83DB5BBB9E20D94AB5EA44D18D30D6EC4514";
  const peer = startPeer(() => plainReply(EMPTY_PAGE, { "X-Content-SHA256": checksum }));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  expect((await client.pullPage("listings")).page.count).toBe(0);
});

test("D-3.3 pullPage() keeps every digit of a number", async () => {
  const records = '[{"id":9223372036854775807,"price":1.10,"views":-0,"name":"x"}]';
  const json = EMPTY_PAGE.replace('"count":0,"total":0', '"count":1,"total":1').replace(
    "[]",
    records,
  );
  const peer = startPeer(() => plainReply(json));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const { page } = await client.pullPage("listings");
  expect(JSON.stringify(page.records)).toBe(records);
  expect(isRawNumber(page.records[0]?.id)).toBe(true);
});

test("S-2.2 pullPage() drops fields the document does not name and keeps those of records", async () => {
  const records = [{ sku: "a", "": 1, constructor: null }];
  const json = pageJson({ count: 1, total: 1, records, cursor: "abc", server: { a: 1 } });
  const peer = startPeer(() => plainReply(json, { "X-Other": "1" }));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const { page } = await client.pullPage("listings");
  expect(Object.keys(page)).toEqual([
    "table",
    "since",
    "count",
    "total",
    "offset",
    "limit",
    "hasMore",
    "nextOffset",
    "records",
  ]);
  expect(page.records).toEqual([{ sku: "a", "": 1, constructor: null }]);
});

test("S-4.2 pushBatch() sends gzip with the checksum of the JSON before compression", async () => {
  const reply = { table: "listings", received: 1, upserted: 1, integrity: "verified" };
  const peer = startPeer(() => Response.json(reply));
  const client = createSyncClient({ baseUrl: `${peer.baseUrl}/shop`, key: KEY });
  const pushed = await client.pushBatch("listings", {
    records: [JSON.parse('{"sku":"é"}')],
    syncTimestamp: "2026-01-02T03:04:05Z",
  });
  const [request] = peer.seen;
  expect(request?.method).toBe("POST");
  expect(request?.target).toBe("/shop/api/v1/sync/push/listings");
  expect(request?.headers.get("X-Sync-Key")).toBe("k-1 secret");
  expect(request?.headers.get("Content-Type")).toBe("application/json");
  expect(request?.headers.get("Content-Encoding")).toBe("gzip");
  expect(request?.headers.get("X-Content-SHA256")).toBe(
    "a3ea537496c09ec134c6131ada087eb94d8f381381b388214d22f069ed9be145",
  );
  const body = request?.body ?? new Uint8Array();
  expect(gunzipSync(body).toString()).toBe(
    '{"records":[{"sku":"é"}],"sync_timestamp":"2026-01-02T03:04:05Z"}',
  );
  expect(request?.headers.get("Content-Length")).toBe(String(body.length));
  expect(pushed).toEqual({
    result: { table: "listings", received: 1, upserted: 1, integrity: "verified" },
    bytesCompressed: body.length,
    bytesUncompressed: 66,
  });
});

test("D-3.3 pushBatch() sends the digits of a pulled page as they came", async () => {
  const records = '[{"id":9223372036854775807,"price":1.10}]';
  const json = EMPTY_PAGE.replace('"count":0,"total":0', '"count":1,"total":1').replace(
    "[]",
    records,
  );
  const peer = startPeer(({ method }) =>
    method === "GET"
      ? plainReply(json)
      : Response.json({ table: "listings", received: 1, upserted: 1, integrity: "verified" }),
  );
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const { page } = await client.pullPage("listings");
  await client.pushBatch("listings", { records: page.records });
  expect(gunzipSync(peer.seen[1]?.body ?? new Uint8Array()).toString()).toBe(
    '{"records":[{"id":9223372036854775807,"price":1.10}]}',
  );
});

test("S-2.4 pushBatch() returns the records that failed", async () => {
  const result = {
    table: "listings",
    received: 2,
    upserted: 1,
    integrity: "verified",
    errors: ["shop=a, sku=null: sku is missing"],
    error_count: 1,
  };
  const peer = startPeer(() => Response.json({ ...result, more: true }));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const pushed = await client.pushBatch("listings", { records: [{ sku: "a" }, {}] });
  expect(pushed.result).toEqual({
    table: "listings",
    received: 2,
    upserted: 1,
    integrity: "verified",
    errors: ["shop=a, sku=null: sku is missing"],
    errorCount: 1,
  });
});

test("S-4.2.6 pushBatch() without records returns the peer's message", async () => {
  const peer = startPeer(() => Response.json({ table: "t", upserted: 0, message: "No records" }));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const { result } = await client.pushBatch("t", { records: [] });
  expect(result).toEqual({ table: "t", upserted: 0, message: "No records" });
  expect(gunzipSync(peer.seen[0]?.body ?? new Uint8Array()).toString()).toBe('{"records":[]}');
});

test("S-4.3 readStatus() asks without the key and returns the status", async () => {
  const peer = startPeer(() => new Response(STATUS.replace("{", '{"build":7,')));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  expect(await client.readStatus()).toEqual({
    extensions: [],
    syncEnabled: true,
    tables: ["listings"],
    tableCounts: { listings: 3, broken: -1 },
    lastSync: { sync_last_pull_listings: "2026-01-02T03:04:05Z" },
    serverTime: "2026-01-02T03:04:06Z",
    features: { gzip: true, sha256: true, incremental: true },
  });
  expect(peer.seen[0]?.target).toBe("/api/v1/sync/status");
  expect(peer.seen[0]?.headers.get("X-Sync-Key")).toBe(null);
});

test("S-4.1 pages() follows next_offset to the last page and stops asking when its reader stops", async () => {
  const all = ["a", "b", "c", "d", "e"];
  const peer = startPeer(({ target }) => {
    const offset = Number(new URL(target, "http://x").searchParams.get("offset"));
    const records = all.slice(offset, offset + 2).map((sku) => ({ sku }));
    const next = offset + 2 < 5 ? offset + 2 : null;
    const place = { count: records.length, total: 5, offset, limit: 2 };
    return plainReply(pageJson({ ...place, has_more: next !== null, next_offset: next, records }));
  });
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const pages: PullPage[] = [];
  for await (const page of client.pages("listings", { limit: 2 })) pages.push(page);
  expect(pages.flatMap((page) => page.records)).toEqual([
    { sku: "a" },
    { sku: "b" },
    { sku: "c" },
    { sku: "d" },
    { sku: "e" },
  ]);
  expect(peer.seen.length).toBe(3);
  for await (const page of client.pages("listings", { offset: 1, limit: 2 })) {
    expect(page.records).toEqual([{ sku: "b" }, { sku: "c" }]);
    break;
  }
  expect(peer.seen.length).toBe(4);
});

test("createSyncClient() sends through the fetch it is given, called as browsers demand", async () => {
  const urls: string[] = [];
  const client = createSyncClient({
    baseUrl: "https://peer.example",
    key: KEY,
    async fetch(this: unknown, url) {
      urls.push(`${this} ${url}`);
      return plainReply(EMPTY_PAGE);
    },
  });
  await client.pullPage("listings");
  expect(urls).toEqual(["undefined https://peer.example/api/v1/sync/pull/listings"]);
});

test("createSyncClient() refuses options it cannot use and never shows what they hold", () => {
  const base = { baseUrl: "https://peer.example", key: KEY };
  const make = (options: object) => () => createSyncClient({ ...base, ...options });
  expect(make({ baseUrl: "" })).toThrow(new TypeError("baseUrl is not an absolute URL"));
  expect(make({ baseUrl: "//hunter2@x" })).toThrow(new TypeError("baseUrl is not an absolute URL"));
  expect(make({ baseUrl: "localhost:3000" })).toThrow(
    new TypeError("baseUrl does not start with http:// or https://"),
  );
  for (const user of ["me:hunter2", "hunter2", ":hunter2"]) {
    expect(make({ baseUrl: `https://${user}@peer.example` })).toThrow(
      new TypeError("baseUrl must not contain a user name or password"),
    );
  }
  for (const end of ["?key=hunter2", "#hunter2"]) {
    expect(make({ baseUrl: `https://peer.example/${end}` })).toThrow(
      new TypeError("baseUrl must not have a query or fragment"),
    );
  }
  expect(make({ baseUrl: "https://peer.example/api/v1/sync/" })).toThrow(
    new TypeError("baseUrl must not include /api/v1/sync"),
  );
  for (const key of ["", " k", "k\n", "ключ", undefined]) {
    expect(make({ key })).toThrow(
      new TypeError("key must be printable ASCII, not empty and without spaces at its ends"),
    );
  }
  for (const timeoutMs of [0, 2147483648]) {
    expect(make({ timeoutMs })).toThrow(
      new RangeError(`timeoutMs is not a whole number from 1 to 2147483647: ${timeoutMs}`),
    );
  }
  expect(make({ maxReplyBytes: 1.5 })).toThrow(
    new RangeError("maxReplyBytes is not a whole number from 1 to 9007199254740991: 1.5"),
  );
  expect(make({ fetch: "hunter2" })).toThrow(new TypeError("fetch is not a function"));
  expect(make({ nowMs: 1_767_323_045_000 })).toThrow(new TypeError("nowMs is not a function"));
});

test("S-4.1 requests that no URL can carry are refused before anything is sent", async () => {
  const peer = startPeer(() => plainReply(EMPTY_PAGE));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  for (const name of ["", ".", "..", "\ud800"]) {
    await expect(client.pullPage(name)).rejects.toThrow(RangeError);
    await expect(client.pushBatch(name, { records: [] })).rejects.toThrow(RangeError);
  }
  await expect(client.pullPage("t", { offset: -1 })).rejects.toThrow(
    new RangeError("offset is not a whole number from 0: -1"),
  );
  await expect(client.pullPage("t", { limit: 0 })).rejects.toThrow(
    new RangeError("limit is not a whole number from 1: 0"),
  );
  expect(peer.seen).toEqual([]);
});

test("S-4.2 pushBatch() sends a prepared batch once, and after that what the array holds", async () => {
  const reply = { table: "listings", received: 1, upserted: 1, integrity: "verified" };
  const peer = startPeer(() => Response.json(reply));
  const client = createSyncClient({ baseUrl: peer.baseUrl, key: KEY });
  const records = [{ sku: "a" }];
  const syncTimestamp = "2026-01-02T03:04:05Z";
  client.prepareBatch?.({ records });
  await client.pushBatch("listings", { records });
  records[0] = { sku: "b" };
  await client.pushBatch("listings", { records });
  client.prepareBatch?.({ records });
  await client.pushBatch("listings", { records, syncTimestamp });
  expect(peer.seen.map(({ body }) => gunzipSync(body).toString())).toEqual([
    '{"records":[{"sku":"a"}]}',
    '{"records":[{"sku":"b"}]}',
    '{"records":[{"sku":"b"}],"sync_timestamp":"2026-01-02T03:04:05Z"}',
  ]);
});

test.each([
  [[0, 301, 308], "moved"],
  [[401], "key_rejected"],
  [[403], "sync_disabled"],
  [[404, 405, 501], "not_found"],
  [[413], "too_large"],
  [[408, 422, 425, 429, 500, 502, 503, 504, 507, 520, 530], "passing"],
  [[400, 402, 409, 431], "refused"],
] as const)("D-4.6 statuses %p mean %s", (statuses, reason) => {
  for (const status of statuses) expect(refusalReason(status)).toBe(reason);
});
