// Whose attempts are counted together.
import { expect, test } from "bun:test";
import { Exchange } from "../../src/http/exchange.ts";

const addressOf = (forwarded: string, trustedProxyHops = 1) =>
  new Exchange(new Request("http://localhost/", { headers: { "X-Forwarded-For": forwarded } }), {
    connection: { remoteAddress: "192.0.2.1", keepOpen: () => {} },
    browsers: { sessionCookie: "", corsOrigins: [], trustedProxyHops },
    ids: { next: () => "request-1" },
  }).clientAddress();

test.each([
  ["203.0.113.5", "203.0.113.5"],
  ["203.0.113.5:1024", "203.0.113.5"],
  ["::ffff:203.0.113.5", "203.0.113.5"],
  ["[::ffff:203.0.113.5]:1024", "203.0.113.5"],
  ["2001:db8::5", "2001:db8::5"],
  ["[2001:db8::5]", "2001:db8::5"],
  ["[2001:db8::5]:1024", "2001:db8::5"],
  ["2001:DB8:0:0:0::5", "2001:db8::5"],
  ["fe80::1%eth0", "fe80::1"],
  ["unknown", "unknown"],
  [":1024", ":1024"],
  ["198.51.100.7, 203.0.113.5:1", "203.0.113.5"],
])("D-1.3.18 clientAddress() takes %p for %p, however a proxy writes it", (entry, address) => {
  expect(addressOf(entry)).toBe(address);
});

test("D-1.3.18 clientAddress() believes as many entries as there are proxies", () => {
  expect(addressOf("198.51.100.7, 203.0.113.5", 0)).toBe("192.0.2.1");
  expect(addressOf("198.51.100.7, 203.0.113.5", 2)).toBe("198.51.100.7");
  expect(addressOf("198.51.100.7", 9)).toBe("198.51.100.7");
});
