// Replies that go out before the body of their request has come: who sends a byte a second keeps no connection.
import { describe, expect, test } from "bun:test";
import { hasArrived } from "../../src/http/bodies.ts";
import { keepResource } from "../support/resources.ts";
import { SimTime } from "../support/time/sim-time.ts";
import { ADMIN_ENV } from "./reputation/people.ts";
import { bodyText, RawConnection } from "./support/raw-http.ts";
import { SYNC_KEY, startApp } from "./support/sync-app.ts";

const PUSH = "POST /api/v1/sync/push/notes";
const HOST = "Host: localhost";
const LENGTH = "Content-Length: 100000";
const CHUNKED = "Transfer-Encoding: chunked";

/** Sends the head and then a byte every 50 ms, until the server ends the connection or the test is over. */
async function drip(url: string, head: readonly string[]): Promise<RawConnection> {
  const connection = await RawConnection.open(url);
  await connection.write(`${head.join("\r\n")}\r\n\r\n`);
  const byte = head.includes(CHUNKED) ? "1\r\na\r\n" : "a";
  const sending = setInterval(() => void connection.write(byte), 50);
  keepResource(() => clearInterval(sending));
  return connection;
}

describe("a reply before the whole body has come", () => {
  test.each([
    [401, `${PUSH} HTTP/1.1`, LENGTH],
    [401, `${PUSH} HTTP/1.1`, CHUNKED],
    [401, "POST /v1/me/api-keys HTTP/1.1", LENGTH],
    [404, "PUT /nowhere HTTP/1.1", LENGTH],
    [405, "POST /console/nowhere HTTP/1.1", LENGTH],
    [405, "DELETE /api/v1/sync/status HTTP/1.1", CHUNKED],
    [413, "POST /v1/sessions HTTP/1.1", LENGTH],
    [200, "GET /v1/health HTTP/1.1", LENGTH],
    [200, "GET /v1/health HTTP/1.1", CHUNKED],
  ])("D-11.8.5 %i to %s with %s ends the connection", async (status, line, framing) => {
    const { url } = await startApp();
    const json = "Content-Type: application/json";
    const connection = await drip(url, [line, HOST, json, framing]);
    const reply = await connection.readReply();
    expect([reply.status, reply.headers.get("connection")]).toEqual([status, "close"]);
    await connection.readToEnd();
  });

  test("D-11.8.5, D-8.3 503 to a body that takes too long ends the connection", async () => {
    const { url } = await startApp({ env: ADMIN_ENV });
    const json = "Content-Type: application/json";
    const head = ["POST /v1/sessions HTTP/1.1", HOST, json, "Content-Length: 60000"];
    const connection = await drip(url, head);
    const reply = await connection.readReply();
    expect([reply.status, reply.headers.get("connection")]).toEqual([503, "close"]);
    await connection.readToEnd();
  });
});

test("D-11.8.5 a refused request whose body has come leaves its connection open", async () => {
  const { url } = await startApp();
  const connection = await RawConnection.open(url);
  for (const line of [PUSH, "POST /v1/me/api-keys", "PUT /nowhere", "DELETE /api/v1/sync/status"]) {
    for (const [framing, body] of [
      ["Content-Length: 3", "abc"],
      ["Content-Length: 0", ""],
      [CHUNKED, "3\r\nabc\r\n0\r\n\r\n"],
    ]) {
      await connection.write(`${line} HTTP/1.1\r\n${HOST}\r\n${framing}\r\n\r\n${body}`);
      const reply = await connection.readReply();
      expect(reply.status).toBeGreaterThan(400);
      expect(reply.headers.has("connection")).toBeFalse();
    }
  }
});

test.each([
  [401, "wrong", 8, "The X-Sync-Key header is missing or wrong"],
  [413, SYNC_KEY, 80, "Body is larger than 33554432 bytes; send fewer records at a time"],
])(
  "D-11.8.5 who sends a large body at once reads the %i behind it, on a connection that goes on",
  async (status, key, mebibytes, error) => {
    const { url } = await startApp();
    const connection = await RawConnection.open(url);
    const mebibyte = "x".repeat(1024 * 1024);
    const length = `Content-Length: ${mebibytes * mebibyte.length}`;
    const head = [`${PUSH} HTTP/1.1`, HOST, `X-Sync-Key: ${key}`, length];
    await connection.write(`${head.join("\r\n")}\r\n\r\n`);
    for (let i = 0; i < mebibytes; i++) await connection.write(mebibyte);
    const reply = await connection.readReply();
    expect([reply.status, JSON.parse(bodyText(reply))]).toEqual([status, { error }]);
    expect(reply.headers.get("connection")).toBeNull();
  },
);

test.each([
  [700_000, 300, 12, { isWhole: true, waitedMs: 3_600 }],
  [700_000, 300, 40, { isWhole: false, waitedMs: 9_000 }],
  [100_000, 300, 12, { isWhole: false, waitedMs: 1_000 }],
  [700_000, 2_000, 1, { isWhole: false, waitedMs: 1_000 }],
])(
  "D-11.8.5 of a body of %i bytes each %i ms, %i times, the rest is waited for while it comes",
  async (bytes, everyMs, times, expected) => {
    const time = new SimTime();
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (sent++ === times) return controller.close();
        await time.sleep(everyMs);
        controller.enqueue(new Uint8Array(bytes));
      },
    });
    const request = new Request("http://localhost/", { method: "POST", body });
    const startMs = time.nowMs;
    const isWhole = await time.run(hasArrived(request, time, 9_000));
    expect({ isWhole, waitedMs: time.nowMs - startMs }).toEqual(expected);
  },
);
