// Requests that no usual client sends, as bytes on a socket.
import { describe, expect, test } from "bun:test";
import { gzip, joinBytes, utf8 } from "./support/bytes.ts";
import { bodyText, RawConnection, rawExchange } from "./support/raw-http.ts";
import { requestText, SYNC_KEY, startApp } from "./support/sync-app.ts";

const PULL = "GET /api/v1/sync/pull/notes?limit=7";
const HOSTS = [
  ...["localhost", "a", "", "x:1", "[::1]", "a b", "::/?#[]@", "evil/api?x=#", "ž", "%"],
  // These make no valid URL.
  ...["app.1", "10.0.0.256:80", "x:70000", "xn--", "[fe80::1%eth0]:3000"],
];

describe("the Host header", () => {
  test.each(HOSTS)("S-4.1 pull() works with Host %p", async (host) => {
    const app = await startApp();
    const reply = await app.raw(requestText(PULL).replace("localhost", host));
    expect([reply.status, JSON.parse(bodyText(reply)).limit]).toEqual([200, 7]);
  });

  test.each(HOSTS)("D-4.10 the query of a digest is read with Host %p", async (host) => {
    const app = await startApp();
    const digest = "GET /api/v1/sync/digest/notes?segment_rows=none";
    const reply = await app.raw(requestText(digest).replace("localhost", host));
    expect([reply.status, bodyText(reply)]).toEqual([400, expect.stringContaining("segment_rows")]);
  });

  test.each(HOSTS)("S-4.2 push() reads its body with Host %p", async (host) => {
    const app = await startApp();
    const body = JSON.stringify({ records: [{ name: "a", body: "x".repeat(100_000) }] });
    const head = requestText("POST /api/v1/sync/push/notes", [`Content-Length: ${body.length}`]);
    const reply = await app.raw(head.replace("localhost", host) + body);
    expect([reply.status, JSON.parse(bodyText(reply)).upserted]).toEqual([200, 1]);
  });

  test("S-4 a request without Host works with HTTP/1.0, and its connection is closed", async () => {
    const { url } = await startApp();
    const connection = await RawConnection.open(url);
    await connection.write(`${PULL} HTTP/1.0\r\nX-Sync-Key: ${SYNC_KEY}\r\n\r\n`);
    const reply = await connection.readReply();
    expect([reply.status, JSON.parse(bodyText(reply)).limit]).toEqual([200, 7]);
    await connection.readToEnd();
  });
});

describe("the target of a request", () => {
  test.each(["http://localhost", "http://example.org:81", "https://a", "HTTP://EXAMPLE.ORG"])(
    "S-4 the absolute form works: %s",
    async (origin) => {
      const app = await startApp();
      const pulled = await app.raw(requestText(PULL.replace(" /", ` ${origin}/`)));
      expect([pulled.status, JSON.parse(bodyText(pulled)).limit]).toEqual([200, 7]);
      const push = `POST ${origin}/api/v1/sync/push/notes`;
      const pushed = await app.raw(requestText(push, ["Content-Length: 2"], "{}"));
      expect(pushed.status).toBe(200);
    },
  );

  test.each([
    ["/api/v1/sync/pull/%6e%6F%74%65s", 200],
    ["/api/v1/sync/pull/notes/", 404],
    ["/api/v1/sync/pull/notes#fragment", 200],
    ["/api/v1/sync/pull/notes?", 200],
    ["/api/v1/sync/pull/notes?%", 200],
    ["/api/v1/sync/pull/notes??limit=7", 200],
    ["/api/v1/sync/pull/%", 400],
    ["/api/v1/sync/pull/%z", 400],
    ["/api/v1/sync/pull/%zz", 400],
    ["/api/v1/sync/pull/%ff%fe", 400],
    ["/api/v1/sync/pull/%C3", 400],
    ["/api/v1/sync/pull/%ed%a0%80", 400],
    ["/api/v1/sync/pull/notes%00", 400],
    ["/api/v1/sync/pull/notes%2F..%2Fnotes", 400],
    ["/api/v1/sync/pull/\xff\xfe", 400],
    ["/api/v1/sync/pull/:table_name", 400],
    ["/api/v1/sync/pull/*", 400],
  ])("S-4.1.1 GET %s answers %i", async (target, status) => {
    const app = await startApp();
    expect((await app.raw(requestText(`GET ${target}`))).status).toBe(status);
  });

  test("S-4.1.1 a path that climbs does not leave what is served", async () => {
    const { url } = await startApp();
    for (const target of ["/api/v1/sync/pull/..%2f..%2f..%2fetc%2fpasswd", "/swagger/..%2fjson"]) {
      const reply = await rawExchange(url, requestText(`GET ${target}`));
      expect([target, [400, 404].includes(reply.status)]).toEqual([target, true]);
    }
    const files = ["../package.json", "%2e%2e/package.json", "index.html", "package.json"];
    for (const name of files) {
      const reply = await rawExchange(url, requestText(`GET /swagger/${name}`));
      expect([name, reply.status]).toEqual([name, 404]);
    }
  });
});

describe("a connection", () => {
  // Bun closes a connection on which a request comes before the reply to the one ahead of it (docs/operating.md).
  test("S-4 answers pipelined requests in their order where each is answered at once", async () => {
    const { url } = await startApp();
    const connection = await RawConnection.open(url);
    const push = (name: string) => {
      const body = JSON.stringify({ records: [{ name }] });
      return requestText(
        "POST /api/v1/sync/push/notes",
        [`Content-Length: ${body.length}`, `X-Request-Id: push-of-${name}`],
        body,
      );
    };
    const pull = requestText("GET /api/v1/sync/pull/notes", ["X-Request-Id: pull-last"]);
    await connection.write(push("a") + push("b") + push("c") + pull);
    const ids: (string | null)[] = [];
    for (let i = 0; i < 3; i++) {
      ids.push((await connection.readReply()).headers.get("x-request-id"));
    }
    expect(ids).toEqual(["push-of-a", "push-of-b", "push-of-c"]);
    expect((await connection.readReply()).headers.get("x-request-id")).toBe("pull-last");
  });

  test("S-4 mixes no replies up when a request comes before the reply to the one ahead of it", async () => {
    const app = await startApp();
    const gzipped = gzip('{"records":[{"name":"a"}]}');
    const headers = [`Content-Length: ${gzipped.length}`, "Content-Encoding: gzip"];
    const push = requestText("POST /api/v1/sync/push/notes", headers);
    const connection = await RawConnection.open(app.url);
    const ids = ["first-request", "second-request"];
    for (const id of ids) {
      const head = push.replace("\r\n\r\n", `\r\nX-Request-Id: ${id}\r\n\r\n`);
      await connection.write(joinBytes(utf8(head), gzipped));
    }
    const seen: (string | null)[] = [];
    const read = async () => {
      for (const _ of ids) seen.push((await connection.readReply()).headers.get("x-request-id"));
    };
    // A connection that is closed says that nothing more is answered on it.
    await read().catch(() => {});
    expect(seen).toEqual(ids.slice(0, seen.length));
    expect((await app.push("notes", { records: [{ name: "a" }] })).status).toBe(200);
    expect((await app.pull("notes")).json["total"]).toBe(1);
  });

  test("S-4.2 reads a push that comes byte by byte", async () => {
    const { url } = await startApp();
    const connection = await RawConnection.open(url);
    const body = '{"records":[{"name":"ž"}]}';
    const request = requestText("POST /api/v1/sync/push/notes", [
      `Content-Length: ${Buffer.byteLength(body)}`,
    ]);
    for (const byte of Buffer.from(request + body)) await connection.write(new Uint8Array([byte]));
    const reply = await connection.readReply();
    expect([reply.status, JSON.parse(bodyText(reply)).upserted]).toEqual([200, 1]);
  });

  test("S-4.2.11 writes nothing of a push whose body breaks off", async () => {
    const app = await startApp();
    const body = '{"records":[{"name":"a"}]}';
    for (const framing of [`Content-Length: ${body.length + 1}`, "Transfer-Encoding: chunked"]) {
      const connection = await RawConnection.open(app.url);
      const chunk = framing.startsWith("T") ? `${body.length.toString(16)}\r\n${body}\r\n` : body;
      await connection.write(requestText("POST /api/v1/sync/push/notes", [framing]) + chunk);
      connection.close();
    }
    expect((await app.pull("notes")).json["total"]).toBe(0);
  });

  test("D-3.5.8 Expect: 100-continue is answered, then the push", async () => {
    const { url } = await startApp();
    const connection = await RawConnection.open(url);
    const headers = ["Content-Length: 2", "Expect: 100-continue"];
    await connection.write(requestText("POST /api/v1/sync/push/notes", headers));
    expect((await connection.readReply()).status).toBe(100);
    await connection.write("{}");
    expect((await connection.readReply()).status).toBe(200);
  });

  test.each([
    ["two lengths", "Content-Length: 2\r\nContent-Length: 3"],
    ["a length and chunks", "Content-Length: 2\r\nTransfer-Encoding: chunked"],
    ["a negative length", "Content-Length: -1"],
    ["a length in words", "Content-Length: two"],
    ["a length with a sign", "Content-Length: +2"],
    ["an unknown coding", "Transfer-Encoding: gzip"],
    ["a blank before the colon", "Content-Length : 2"],
  ])("S-4.2 a request with %s is refused, so that nothing can be smuggled", async (_, headers) => {
    const app = await startApp();
    const smuggled = '{}\r\n\r\n{"records":[{"name":"smuggled"}]}';
    const request = requestText("POST /api/v1/sync/push/notes", headers.split("\r\n"), smuggled);
    const reply = await rawExchange(app.url, request).catch(() => null);
    // No reply at all, as the server closes the connection, is as good.
    if (reply !== null) expect([400, 411, 413, 501].includes(reply.status)).toBeTrue();
    expect((await app.pull("notes")).json["total"]).toBe(0);
  });

  test("S-7 headers that are too large do not harm the service", async () => {
    const app = await startApp();
    const large = [`X-Large: ${"x".repeat(1_000_000)}`];
    const reply = await rawExchange(app.url, requestText(PULL, large)).catch(() => null);
    if (reply !== null) expect(reply.status).toBe(431);
    expect((await app.pull("notes")).status).toBe(200);
  });

  // Each of these took a second and more of the one thread once.
  test("S-7 long headers of blanks do not hold up the service", async () => {
    const app = await startApp({ env: { METRICS_TOKEN: "a token of the metrics" } });
    const headers = { Authorization: `Bearer${" ".repeat(15_000)}x y` };
    for (const path of ["/v1/me", "/api/v1/sync/runs", "/metrics"]) {
      for (let i = 0; i < 60; i++) expect((await app.send(path, { headers })).status).toBe(401);
    }
  });
});
