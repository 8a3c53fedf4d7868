// What the sync client makes of peers, proxies and networks that fail: wrong bodies, cut bodies, other statuses.
import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  checksumOf,
  clientOf,
  failureOf,
  KEY,
  plainReply,
  rawHead,
  startPeer,
  startRawPeer,
} from "./sync-client-support.ts";

const PAGE = {
  table: "t",
  since: null,
  count: 2,
  total: 2,
  offset: 0,
  limit: 1000,
  has_more: false,
  next_offset: null,
  records: [{ id: 1 }, { id: 2 }],
};
const PULL = "/api/v1/sync/pull/t";

test.each([
  [{ table: "u" }, `"table" is not "t": another text`],
  [{ table: 1 }, `"table" is not a text: 1`],
  [{ since: "2026-01-01" }, `"since" is not null: another text`],
  [{ since: undefined }, `"since" is not a text or null: missing`],
  [{ count: 3 }, `"count" is not 2: 3`],
  [{ count: "2" }, `"count" is not a whole number from 0: another text`],
  [{ total: -1 }, `"total" is not a whole number from 0: -1`],
  [{ total: 2.5 }, `"total" is not a whole number from 0: 2.5`],
  [{ offset: 5 }, `"offset" is not 0: 5`],
  [{ limit: null }, `"limit" is not a whole number from 0: null`],
  [{ has_more: 0 }, `"has_more" is not true or false: 0`],
  [{ has_more: true, next_offset: 1000 }, `"has_more" is not false: true`],
  [{ total: 1001 }, `"has_more" is not true: false`],
  [{ total: 1001, has_more: true }, `"next_offset" is not 1000: null`],
  [{ next_offset: 1000 }, `"next_offset" is not null: 1000`],
  [
    { count: 0, total: 9, limit: 2, has_more: true, next_offset: 2, records: [] },
    `"count" is not 2: 0`,
  ],
  [{ total: 3 }, `"count" is not 3: 2`],
  [{ limit: 0, has_more: true, next_offset: 0 }, `"has_more" is not false: true`],
  [{ records: {} }, `"records" is not an array whose elements are each an object: an object`],
  [
    { records: [{ id: 1 }, 2] },
    `"records" is not an array whose elements are each an object: an array`,
  ],
])("S-2.2 pullPage() refuses a page with %j", async (fields, problem) => {
  const peer = startPeer(() => plainReply(JSON.stringify({ ...PAGE, ...fields })));
  const error = await failureOf(clientOf(peer).pullPage("t"));
  expect(error.kind).toBe("invalid_reply");
  expect(error.message).toBe(`GET ${peer.baseUrl}${PULL} got an unusable reply: ${problem}`);
  expect(error.status).toBe(null);
});

test("S-2.2 pullPage() refuses a page for another time than it asked for", async () => {
  const since = "2026-01-01T00:00:00 00:00";
  const peer = startPeer(() => plainReply(JSON.stringify({ ...PAGE, since })));
  const error = await failureOf(
    clientOf(peer).pullPage("t", { since: "2026-01-01T00:00:00+00:00" }),
  );
  expect(error.message).toEndWith(`"since" is not "2026-01-01T00:00:00+00:00": another text`);
});

test.each([
  ["[]", "it is not a JSON object but an array"],
  ["null", "it is not a JSON object but null"],
  ["{", "it is not JSON in UTF-8"],
  ["", "it is not JSON in UTF-8"],
  ["<!doctype html>", "it is not JSON in UTF-8"],
])("S-2.5 readStatus() refuses the body %p", async (body, problem) => {
  const peer = startPeer(() => new Response(body));
  const error = await failureOf(clientOf(peer).readStatus());
  expect(error.kind).toBe("invalid_reply");
  expect(error.message).toEndWith(`got an unusable reply: ${problem}`);
});

test.each([
  [{ tables: ["a", 1] }, `"tables" is not an array whose elements are each a text: an array`],
  [
    { table_counts: { a: -2 } },
    `"table_counts" is not an object of at most 10000 fields, each a whole number from -1: an object`,
  ],
  [{ last_sync: null }, `"last_sync" is not an object of at most 10000 fields, each a text: null`],
  [{ features: { gzip: true, sha256: false } }, `"sha256" is not true: false`],
])("S-2.5 readStatus() refuses a status with %j", async (fields, problem) => {
  const status = {
    sync_enabled: true,
    tables: [],
    table_counts: {},
    last_sync: {},
    server_time: "2026-01-02T03:04:05Z",
    features: { gzip: true, sha256: true, incremental: true },
  };
  const peer = startPeer(() => Response.json({ ...status, ...fields }));
  const error = await failureOf(clientOf(peer).readStatus());
  expect(error.message).toBe(
    `GET ${peer.baseUrl}/api/v1/sync/status got an unusable reply: ${problem}`,
  );
});

test.each([
  [{ table: "u", received: 1, upserted: 1 }, `"table" is not "t": another text`],
  [{ table: "t", received: 1 }, `"upserted" is not a whole number from 0: missing`],
  [{ table: "t", received: 2, upserted: 2 }, `"received" is not 1: 2`],
  [{ table: "t", upserted: 0, message: "No records" }, `"received" is not 1: missing`],
  [
    { table: "t", received: 1, upserted: 1, integrity: "yes" },
    `"integrity" is not one of verified, no_checksum: another text`,
  ],
  [
    { table: "t", received: 1, upserted: 0, errors: "e" },
    `"errors" is not an array whose elements are each a text: another text`,
  ],
])("S-2.4 pushBatch() of one record refuses the result %j", async (result, problem) => {
  const peer = startPeer(() => Response.json(result));
  const error = await failureOf(clientOf(peer).pushBatch("t", { records: [{ id: 1 }] }));
  expect(error.kind).toBe("invalid_reply");
  expect(error.message).toBe(
    `POST ${peer.baseUrl}/api/v1/sync/push/t got an unusable reply: ${problem}`,
  );
});

test("S-4.1.6 pullPage() refuses a body that does not match its checksum", async () => {
  const headers = { "X-Content-SHA256": checksumOf("something else") };
  const peer = startPeer(() => plainReply(JSON.stringify(PAGE), headers));
  const error = await failureOf(clientOf(peer).pullPage("t"));
  expect(error.kind).toBe("checksum_mismatch");
  expect(error.message).toStartWith(
    `GET ${peer.baseUrl}${PULL} got a reply that does not match its X-Content-SHA256: `,
  );
});

test("S-4.1.6 pullPage() refuses a page without a checksum", async () => {
  const peer = startPeer(() => Response.json(PAGE));
  const error = await failureOf(clientOf(peer).pullPage("t"));
  expect(error.kind).toBe("invalid_reply");
  expect(error.message).toEndWith("got an unusable reply: it has no X-Content-SHA256 header");
});

test("S-7 a reply other than 200 is a status with the peer's text", async () => {
  const peer = startPeer(() => Response.json({ error: "Wrong key" }, { status: 401 }));
  const error = await failureOf(clientOf(peer).pullPage("t", { since: "2026" }));
  expect(error.kind).toBe("status");
  expect([error.status, error.reason]).toEqual([401, "key_rejected"]);
  expect(error.retryAfterSeconds).toBe(null);
  expect(error.message).toBe(`GET ${peer.baseUrl}${PULL} was answered 401: Wrong key`);
  // A page is of a proxy.
  for (const type of ["text/plain", "text/html"]) {
    const peer = startPeer(() => new Response(new Blob(["No way"], { type }), { status: 401 }));
    const reason = type === "text/html" ? "moved" : "key_rejected";
    expect(await failureOf(clientOf(peer).readStatus())).toMatchObject({ reason });
  }
});

test("S-4.2.11 pushBatch() reports the text of a commit failure", async () => {
  const reply = { table: "t", upserted: 0, error: "Disk is full" };
  const peer = startPeer(() => Response.json(reply, { status: 500 }));
  const error = await failureOf(clientOf(peer).pushBatch("t", { records: [{}] }));
  expect([error.kind, error.status]).toEqual(["status", 500]);
  expect(error.message).toEndWith("/api/v1/sync/push/t was answered 500: Disk is full");
});

test("S-7, D-11.3 the peer's text is cut to 200 characters, shows hidden ones as numbers, and never the key", async () => {
  const text = `bad\r\n\u0000key \u202e"${KEY}" ${"😀".repeat(300)}`;
  const peer = startPeer(() => Response.json({ error: text }, { status: 400 }));
  const error = await failureOf(clientOf(peer).pullPage("t"));
  const shown = error.message.slice(error.message.indexOf("400: ") + 5);
  const begin = `bad\\u{d}\\u{a}\\u{0}key \\u{202e}"…" `;
  expect(shown).toBe(begin + "😀".repeat(200 - begin.length));
});

test.each([
  ["a proxy's page", () => new Response("<h1>Bad Gateway</h1>", { status: 502 })],
  ["an empty body", () => new Response(null, { status: 502 })],
  ["an error that is no text", () => Response.json({ error: { a: 1 } }, { status: 502 })],
  ["an endless body", () => new Response(endlessBody(), { status: 502 })],
])("S-7 a 502 with %s is a status without a text", async (_, reply) => {
  const peer = startPeer(reply);
  const error = await failureOf(clientOf(peer).pullPage("t"));
  expect([error.kind, error.status]).toEqual(["status", 502]);
  expect(error.message).toBe(`GET ${peer.baseUrl}${PULL} was answered 502`);
});

test.each([
  [429, { "Retry-After": "7" }, 7],
  [503, { "Retry-After": "0" }, 0],
  [
    503,
    { "Retry-After": "Fri, 02 Jan 2026 03:04:30 GMT", Date: "Fri, 02 Jan 2026 03:04:05 GMT" },
    25,
  ],
  [
    503,
    { "Retry-After": "Fri, 02 Jan 2026 03:04:00 GMT", Date: "Fri, 02 Jan 2026 03:04:05 GMT" },
    0,
  ],
  [503, { "Retry-After": "Fri, 02 Jan 2026 03:04:30 GMT" }, 11],
  [413, { "Retry-After": "soon" }, null],
  [413, { "Retry-After": "-1" }, null],
])("D-4.6 a %d with %j says how many seconds to wait", async (status, headers, seconds) => {
  const peer = await startRawPeer((socket) =>
    socket.end(rawHead(`${status} Later`, { ...headers, "Content-Length": 0 })),
  );
  const nowMs = () => 1_767_323_059_500; // 2026-01-02T03:04:19.500Z
  const error = await failureOf(clientOf(peer, { nowMs }).pushBatch("t", { records: [] }));
  expect([error.kind, error.status]).toEqual(["status", status]);
  expect(error.retryAfterSeconds).toBe(seconds);
});

test("D-4.6 a date to wait for is left out when nothing says what time it is", async () => {
  const headers = { "Retry-After": "Fri, 02 Jan 2026 03:04:30 GMT", "Content-Length": 0 };
  const peer = await startRawPeer((socket) => socket.end(rawHead("503 Later", headers)));
  const error = await failureOf(clientOf(peer).pullPage("t"));
  expect([error.status, error.retryAfterSeconds]).toEqual([503, null]);
});

test.each([301, 302, 303, 307, 308])(
  "a %d is not followed, so the key stays here",
  async (status) => {
    const other = startPeer(() => plainReply(JSON.stringify(PAGE)));
    const location = `${other.baseUrl}/elsewhere?key=${KEY}`;
    const peer = startPeer(() => new Response(null, { status, headers: { Location: location } }));
    const client = clientOf(peer);
    for (const send of [() => client.pullPage("t"), () => client.pushBatch("t", { records: [] })]) {
      const error = await failureOf(send());
      expect([error.kind, error.status]).toEqual(["status", status]);
      expect(error.message).toEndWith(
        `was answered ${status}: redirects are not followed, this one leads to ${other.baseUrl}/elsewhere`,
      );
    }
    expect(other.seen).toEqual([]);
  },
);

test.each([
  ["by length", { "Content-Length": 1000 }, '{"table":"t"'],
  ["by chunks", { "Transfer-Encoding": "chunked" }, '5\r\n{"a":\r\n'],
  ["in gzip", { "Content-Encoding": "gzip", "Content-Length": 1000 }, gzipSync("x".repeat(999))],
])(
  "a reply that breaks off, %s, is unreachable, as a new try may help",
  async (_, headers, part) => {
    const peer = await startRawPeer((socket) => {
      socket.write(rawHead("200 OK", headers));
      socket.end(part);
    });
    const error = await failureOf(clientOf(peer).pullPage("t"));
    expect(error.kind).toBe("unreachable");
    expect(error.message).toBe(`GET ${peer.baseUrl}${PULL} got a reply that broke off: ECONNRESET`);
    expect(error.cause).toBeInstanceOf(Error);
  },
);

test("a gzip reply that is damaged is unreachable", async () => {
  const headers = { "Content-Encoding": "gzip", "Content-Length": 5 };
  const peer = await startRawPeer((socket) => socket.end(`${rawHead("200 OK", headers)}hello`));
  const error = await failureOf(clientOf(peer).pullPage("t"));
  expect(error.kind).toBe("unreachable");
  expect(error.message).toEndWith("got a reply that broke off: ZlibError");
});

test("a connection closed without a reply is unreachable", async () => {
  const peer = await startRawPeer((socket) => socket.destroy());
  const error = await failureOf(clientOf(peer).readStatus());
  expect(error.kind).toBe("unreachable");
  expect(error.message).toBe(`GET ${peer.baseUrl}/api/v1/sync/status got no reply: ECONNRESET`);
});

test("an address where nothing listens is unreachable, and the message names it", async () => {
  const peer = startPeer(() => new Response());
  await peer.stop();
  const error = await failureOf(clientOf(peer).pushBatch("t", { records: [{ id: 1 }] }));
  expect(error.kind).toBe("unreachable");
  expect(error.message).toBe(`POST ${peer.baseUrl}/api/v1/sync/push/t got no reply: ECONNREFUSED`);
});

test("D-4.6 a peer that does not answer in time is a timeout", async () => {
  const peer = await startRawPeer(() => {});
  const error = await failureOf(clientOf(peer, { timeoutMs: 40 }).pullPage("t"));
  expect(error.kind).toBe("timeout");
  expect(error.message).toBe(`GET ${peer.baseUrl}${PULL} got no complete reply within 40 ms`);
});

test("D-4.6 the time limit covers the body, and the connection is closed", async () => {
  const closed = Promise.withResolvers<void>();
  const peer = await startRawPeer((socket) => {
    socket.once("close", () => closed.resolve());
    socket.write(`${rawHead("200 OK", { "Content-Length": 1000 })}{"table"`);
  });
  const error = await failureOf(clientOf(peer, { timeoutMs: 40 }).pullPage("t"));
  expect(error.kind).toBe("timeout");
  await closed.promise;
});

test("D-4.6 a status is reported even when its body does not come in time", async () => {
  const peer = await startRawPeer((socket) =>
    socket.write(`${rawHead("429 Slow", { "Retry-After": 3, "Content-Length": 1000 })}{`),
  );
  const error = await failureOf(clientOf(peer, { timeoutMs: 40 }).pullPage("t"));
  expect([error.kind, error.status, error.retryAfterSeconds]).toEqual(["status", 429, 3]);
});

test("D-4.6 the time limit holds for a fetch that knows no signal", async () => {
  const fetch = () => new Promise<Response>(() => {});
  const peer = { baseUrl: "http://peer.example" };
  const error = await failureOf(clientOf(peer, { timeoutMs: 40, fetch }).readStatus());
  expect(error.kind).toBe("timeout");
});

test("the caller's signal ends a request before it is sent", async () => {
  const sent: string[] = [];
  const fetchAndTell = (url: string, init: RequestInit) => {
    sent.push(url);
    return fetch(url, init);
  };
  const client = clientOf({ baseUrl: "http://peer.example" }, { fetch: fetchAndTell });
  const signal = AbortSignal.abort("enough");
  for (const send of [
    () => client.pullPage("t", { signal }),
    () => client.pushBatch("t", { records: [], signal }),
    () => client.readStatus({ signal }),
    () => client.pages("t", { signal }).next(),
  ]) {
    const error = await failureOf(send());
    expect([error.kind, error.cause]).toEqual(["aborted", "enough"]);
    expect(error.message).toEndWith(" was aborted by its caller");
  }
  expect(sent).toEqual([]);
});

test("the caller's signal ends a request that waits for its reply", async () => {
  const stop = new AbortController();
  const peer = await startRawPeer(() => stop.abort());
  const error = await failureOf(clientOf(peer).pullPage("t", { signal: stop.signal }));
  expect(error.kind).toBe("aborted");
});

test.each(["200 OK", "500 No"])(
  "the caller's signal ends a request in the body of a %s, and the connection is closed",
  async (status) => {
    const closed = Promise.withResolvers<void>();
    const peer = await startRawPeer((socket) => {
      socket.once("close", () => closed.resolve());
      socket.write(rawHead(status, { "Content-Length": 1000 }));
    });
    const stop = new AbortController();
    const fetchAndStop = async (url: string, init: RequestInit) => {
      const response = await fetch(url, init);
      setTimeout(() => stop.abort(), 0);
      return response;
    };
    const client = clientOf(peer, { fetch: fetchAndStop });
    const error = await failureOf(client.pullPage("t", { signal: stop.signal }));
    expect(error.kind).toBe("aborted");
    await closed.promise;
  },
);

test("a reply without end is read to the limit only, and the connection is closed", async () => {
  const closed = Promise.withResolvers<void>();
  const peer = startPeer(() => new Response(endlessBody(closed.resolve)));
  const error = await failureOf(clientOf(peer, { maxReplyBytes: 1_000_000 }).pullPage("t"));
  expect(error.kind).toBe("invalid_reply");
  expect(error.message).toEndWith("got an unusable reply: it is longer than 1000000 bytes");
  await closed.promise;
});

test("a small gzip reply that grows beyond the limit is not kept", async () => {
  const bomb = gzipSync(Buffer.alloc(200_000_000, 32), { level: 9 });
  const peer = startPeer(() => new Response(bomb, { headers: { "Content-Encoding": "gzip" } }));
  const before = process.memoryUsage.rss();
  const error = await failureOf(clientOf(peer, { maxReplyBytes: 1_000_000 }).pullPage("t"));
  expect(error.message).toEndWith("got an unusable reply: it is longer than 1000000 bytes");
  expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
});

test("a reply of exactly the limit is read", async () => {
  const json = JSON.stringify(PAGE);
  const peer = startPeer(() => plainReply(json));
  const { page } = await clientOf(peer, { maxReplyBytes: json.length }).pullPage("t");
  expect(page.count).toBe(2);
  const error = await failureOf(clientOf(peer, { maxReplyBytes: json.length - 1 }).pullPage("t"));
  expect(error.kind).toBe("invalid_reply");
});

/** Sends blanks until the reader goes away. */
function endlessBody(onCancel: () => void = () => {}): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(32)),
    cancel: onCancel,
  });
}
