// Replies that go out before the body of their request has come: who sends a byte a second keeps no connection.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ADMIN_ENV } from "./reputation/people.ts";
import { bodyText, RawConnection } from "./support/raw-http.ts";
import { keepResource, releaseResources } from "./support/resources.ts";
import { startApp } from "./support/sync-app.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

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

test("D-11.8.5 who sends a large body at once reads the refusal behind it", async () => {
  const { url } = await startApp();
  const connection = await RawConnection.open(url);
  const megabyte = "x".repeat(1024 * 1024);
  await connection.write(
    `${PUSH} HTTP/1.1\r\n${HOST}\r\nContent-Length: ${8 * megabyte.length}\r\n\r\n`,
  );
  for (let i = 0; i < 8; i++) {
    await connection.write(megabyte);
  }
  const reply = await connection.readReply();
  expect([reply.status, JSON.parse(bodyText(reply))]).toEqual([
    401,
    { error: "The X-Sync-Key header is missing or wrong" },
  ]);
});
