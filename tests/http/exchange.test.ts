// What Elysia's router sees of a request. It looks for the path from the twelfth character on (elysiajs/elysia#748).
import { expect, test } from "bun:test";
import { Exchange } from "../../src/http/exchange.ts";

function exchange(url: string, init: RequestInit = {}): Exchange {
  // Bun makes requests of addresses that the constructor refuses.
  const request = Object.defineProperty(new Request("http://localhost/", init), "url", {
    value: url,
  });
  return new Exchange(request, {
    connection: { remoteAddress: "127.0.0.1", keepOpen() {} },
    browsers: { sessionCookie: "", corsOrigins: [], trustedProxyHops: 0 },
    ids: { next: () => "a-new-id" },
  });
}

test.each([
  ["http://a/v1/me?limit=1", "/v1/me", "?limit=1"],
  ["http://x:70000/v1/me", "/v1/me", ""],
  ["https://a", "/", ""],
  ["http://a b/v1/%zz", "/v1/%25zz", ""],
  ["/v1/me?a=/b?c#d", "/v1/me", "?a=/b?c"],
])("S-4 a router sees %p with a plain host", (url, path, search) => {
  const seen = exchange(url);
  expect([seen.path, seen.search]).toEqual([path, search]);
  expect(seen.url).toBe(`http://localhost${path}${search}`);
});

test("D-3.11 a router sees HEAD as GET; the request stays the one that came", () => {
  const seen = exchange("http://localhost/v1/me", { method: "HEAD" });
  expect([seen.method, seen.request.method]).toEqual(["GET", "HEAD"]);
  expect(exchange("http://localhost/", { method: "POST" }).method).toBe("POST");
});

test("D-5.3 a caller's request id is kept where it fits", () => {
  const idOf = (id: string) =>
    exchange("http://localhost/", { headers: { "X-Request-Id": id } }).requestId;
  expect([idOf("my-own-id"), idOf("short"), idOf("with a blank")]).toEqual([
    ...["my-own-id", "a-new-id", "a-new-id"],
  ]);
});

test("D-11.8.5 gone() is aborted once the request has been answered", () => {
  const seen = exchange("http://localhost/");
  const gone = seen.gone();
  expect(gone.aborted).toBe(false);
  seen.end();
  expect(gone.aborted).toBe(true);
});
