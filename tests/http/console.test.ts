// The console as the service sends it: its page, its files, and what every reply tells browsers. D-9.1, D-9.2.
import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { type Reply, type SyncApp, startApp } from "./support/sync-app.ts";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const PAGES = [
  "/console",
  ...["overview", "tables", "runs", "rejected", "compare", "accounts", "audit"],
  ...["my-reputation", "consents", "accesses", "api-keys", "usage", "settings"],
  ...["sign-in", "sign-up", "sign-in?next=%2Fconsole%2Fruns"],
  ...["tables/profiles", "runs/a%2Fb", "accounts/%3Cscript%3E", "rejected/5"],
].map((name) => (name.startsWith("/") ? name : `/console/${name}`));

const NOWHERE = [
  ...["/console/nowhere", "/console/tables/a/b/c", "/console/Overview"],
  ...["/console/assets", "/console/assets/x.js", "/console/assets/..%2Fconsole.json"],
];

const BROWSER = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

function expectSecured({ headers }: Reply) {
  expect(headers.get("content-security-policy")).toBe(POLICY);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
}

function referencesOf(html: string): readonly string[] {
  return [...html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, address = ""]) => address);
}

describe("pages", () => {
  test("D-9.1, D-9.2 every page answers with the console, alike with and without cookie", async () => {
    const { send } = await startApp();
    const first = await send("/console");
    for (const page of PAGES) {
      for (const headers of [{}, { Cookie: "repsync_session=x" }]) {
        const reply = await send(page, { headers: { ...BROWSER, ...headers } });
        expect([page, reply.status, reply.text]).toEqual([page, 200, first.text]);
        expect(reply.headers.get("content-type")).toBe("text/html; charset=utf-8");
        expect(reply.headers.get("cache-control")).toBe("no-cache");
        expectSecured(reply);
      }
    }
  });

  test("D-9.1, D-9.2 an unknown page is 404 in HTML", async () => {
    const { send } = await startApp();
    for (const address of NOWHERE) {
      const reply = await send(address);
      const type = reply.headers.get("content-type");
      expect([address, reply.status, type]).toEqual([address, 404, "text/html; charset=utf-8"]);
      expectSecured(reply);
    }
  });

  test("D-9.1, D-9.2 HEAD, a slash at the end, and a method that a page does not take", async () => {
    const { send, raw } = await startApp();
    const head = await send("/console/runs", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expectSecured(head);
    const wrong = await send("/console/runs", { method: "POST" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expectSecured(wrong);
    const moved = await raw("GET /console/runs//?a=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "/console/runs?a=1"]);
    expect(moved.headers.get("content-security-policy")).toBe(POLICY);
    expect(moved.headers.has("x-request-id")).toBe(true);
  });
});

/** The files that a script loads when a page is opened. */
function loadedLater(script: string): readonly string[] {
  const names = script.matchAll(/import\("\.\/([\w-]+\.js)"\)/g);
  return [...names].map(([, name]) => `/console/assets/${name}`);
}

/** A file is kept for ever, and sent with gzip to whoever takes it. */
async function expectFile(send: SyncApp["send"], url: string, file: string): Promise<Reply> {
  const reply = await send(file, { headers: { "Accept-Encoding": "br, GZIP" } });
  expect([reply.status, reply.headers.get("content-encoding")]).toEqual([200, "gzip"]);
  expect(reply.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(reply.headers.get("vary")).toBe("Accept-Encoding");
  const type = file.endsWith(".js") ? "text/javascript" : "text/css";
  expect(reply.headers.get("content-type")).toBe(`${type}; charset=utf-8`);
  expectSecured(reply);
  for (const refused of ["identity", "gzip;q=0", "br"]) {
    const headers = { "Accept-Encoding": refused };
    const plain = await fetch(new URL(file, url), { headers, decompress: false });
    expect([refused, plain.headers.get("content-encoding")]).toEqual([refused, null]);
    expect(Buffer.compare(await plain.bytes(), gunzipSync(reply.wire))).toBe(0);
  }
  return reply;
}

describe("files", () => {
  test("D-9.1 the page loads its script and style from this service, for ever and with gzip, in at most 42 KB, and more when it is opened", async () => {
    const { url, send } = await startApp();
    const { text } = await send("/console");
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=|https?:/i);
    const files = referencesOf(text).filter((address) => address.startsWith("/console/assets/"));
    expect(files.map((name) => name.replace(/.*\./, "")).sort()).toEqual(["css", "js"]);
    let wireBytes = 0;
    let script = "";
    for (const file of files) {
      const { wire, text: content } = await expectFile(send, url, file);
      wireBytes += wire.length;
      if (file.endsWith(".js")) script = content;
    }
    expect(wireBytes).toBeGreaterThan(10_000);
    expect(wireBytes).toBeLessThan(42_000);
    // Pages that are loaded when they are opened: rows and files, with the rules by which a value that is typed fits its column.
    const later = loadedLater(script);
    expect(later).toHaveLength(1);
    for (const file of later) {
      expect((await expectFile(send, url, file)).wire.length).toBeLessThan(18_000);
    }
  });

  test("D-9.1 script and style name no other host to load from", async () => {
    const { send } = await startApp();
    const files = referencesOf((await send("/console")).text);
    const assets = files.filter((address) => address.startsWith("/console/assets/"));
    // What is loaded later is found on the way.
    for (const file of assets) {
      const { text } = await send(file);
      assets.push(...loadedLater(text));
      const hosts = [...text.matchAll(/\bhttps?:\/\/([\w.-]+)/g)].map(([, host]) => host);
      // Names of markup languages.
      expect(hosts.filter((host) => host !== "www.w3.org")).toEqual([]);
      expect(text).not.toMatch(/@import|url\(/);
    }
  });
});

describe("/", () => {
  test("D-9.1 / leads browsers to the console, and tells others where things are", async () => {
    const { send, url } = await startApp();
    const browser = await fetch(url, { headers: BROWSER, redirect: "manual" });
    expect([browser.status, browser.headers.get("location")]).toEqual([303, "/console"]);
    expect(browser.headers.get("vary")).toBe("Accept");
    for (const headers of [{}, { Accept: "application/json" }, { Accept: "*/*" }]) {
      const reply = await send("/", { headers });
      expect(reply.json).toEqual({
        console: "/console",
        api: "/swagger/json",
        docs: "/swagger",
        health: "/v1/health",
      });
      expect(reply.headers.get("vary")).toBe("Accept");
    }
    for (const place of ["/console", "/swagger/json", "/swagger", "/v1/health"]) {
      expect([place, (await send(place)).status]).toEqual([place, 200]);
    }
    expect((await send("/", { method: "POST" })).status).toBe(405);
  });

  test("D-9.1, D-1.3.22 CONSOLE_ENABLED=false takes the console away", async () => {
    const { send } = await startApp({ env: { CONSOLE_ENABLED: "false" } });
    for (const address of ["/console", "/console/runs", "/console/assets/x.js"]) {
      const reply = await send(address, { headers: BROWSER });
      expect([address, reply.status]).toEqual([address, 404]);
      expectSecured(reply);
    }
    const root = await send("/", { headers: BROWSER });
    expect([root.status, root.json]).toEqual([
      200,
      { api: "/swagger/json", docs: "/swagger", health: "/v1/health" },
    ]);
  });
});
