// What pages of others can make a browser do here, whose owner is signed in. D-8.6, D-9.2.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { ADMIN_ENV, dataOf, PASSWORD, Person } from "../http/reputation/people.ts";
import { serveLocally } from "../http/support/serve-locally.ts";
import { type SyncApp, startApp } from "../http/support/sync-app.ts";
import { chromiumAvailable, openContext } from "../support/browser.ts";

/** A page of another port of the same host, which is the same site, or of another site. */
type Neighbour = "127.0.0.1" | "localhost" | "evil.test";

async function signedIn() {
  const app = await startApp({ env: { ...ADMIN_ENV, SYNC_REMOTE_URL: "http://127.0.0.1:9" } });
  const root = await Person.signIn(app, "root");
  const context = await openContext();
  const cookie = { name: "repsync_session", value: root.token, domain: "127.0.0.1", path: "/" };
  await context.addCookies([{ ...cookie, httpOnly: true, sameSite: "Strict" }]);
  return { app, root, context, page: await context.newPage() };
}

/** Serves one page, and opens it. */
async function openNeighbour(page: Page, host: Neighbour, html: string): Promise<void> {
  const headers = { "Content-Type": "text/html; charset=utf-8" };
  const { port } = new URL(serveLocally(() => new Response(html, { headers })));
  await page.goto(`http://${host}:${port}/`);
}

/** Nothing was made by anybody but the test. */
async function expectUntouched(app: SyncApp, root: Person): Promise<void> {
  expect(dataOf(await root.send("/v1/me/api-keys"))["items"]).toEqual([]);
  expect((await root.send("/api/v1/sync/runs")).json["items"]).toEqual([]);
  expect((await app.send("/api/v1/sync/status")).json["last_sync"]).toEqual({});
}

const TARGETS = [
  { path: "/v1/me/api-keys", body: { name: "stolen" } },
  { path: "/api/v1/sync/trigger", body: { table: "notes", direction: "pull" } },
  { path: "/v1/sessions", body: { username: "root", password: PASSWORD } },
];

/** A form whose text is JSON: the name of its field is cut where the `=` comes. */
function formOf(address: string, body: object, type: string): string {
  const text = JSON.stringify({ ...body, x: "" });
  const [name, value] = [text.slice(0, -2), '"}'];
  const quoted = (part: string) => part.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<!doctype html><form method="post" action="${address}" enctype="${type}">
    <input name="${quoted(name)}" value="${quoted(value)}"><button>Go</button></form>`;
}

describe.skipIf(!chromiumAvailable)("pages of others", () => {
  const HOSTS: readonly Neighbour[] = ["127.0.0.1", "localhost", "evil.test"];

  test.each(HOSTS)("D-8.6 a form on %s makes nothing and signs nobody in", async (host) => {
    const { app, root, context, page } = await signedIn();
    for (const { path, body } of TARGETS) {
      for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
        const isForSignIn = path === "/v1/sessions";
        if (isForSignIn) await context.clearCookies();
        await openNeighbour(page, host, formOf(app.url + path, body, type));
        const replying = page.waitForResponse(app.url + path);
        await page.getByRole("button", { name: "Go" }).click();
        const reply = await replying;
        // The cookie comes along from the same site only; then the page is refused.
        const expected = isForSignIn || host === "127.0.0.1" ? 403 : 401;
        expect([path, type, reply.status()]).toEqual([path, type, expected]);
        if (isForSignIn) expect(await context.cookies()).toEqual([]);
      }
    }
    await expectUntouched(app, root);
  });

  test.each(HOSTS)("D-8.6 a script on %s makes nothing and reads nothing", async (host) => {
    const { app, root, context, page } = await signedIn();
    await openNeighbour(page, host, "<!doctype html><title>x</title>");
    const ask = async (path: string, options: object) =>
      await page.evaluate(
        `fetch(${JSON.stringify(app.url + path)}, ${JSON.stringify(options)}).then(
          async (reply) => reply.type === "opaque" ? "opaque" : reply.status + await reply.text(),
          () => "refused")`,
      );
    const credentials = "include";
    for (const { path, body } of TARGETS) {
      const text = JSON.stringify(body);
      const request = { method: "POST", body: text, credentials };
      const json = { "Content-Type": "application/json" };
      expect(await ask(path, { ...request, headers: json })).toBe("refused");
      expect(await ask(path, { ...request, headers: json, mode: "no-cors" })).toBe("opaque");
      expect(await ask(path, { ...request, mode: "no-cors" })).toBe("opaque");
    }
    for (const path of ["/v1/me", "/console", "/api/v1/sync/runs"]) {
      expect([path, await ask(path, { credentials })]).toEqual([path, "refused"]);
    }
    await expectUntouched(app, root);
    const cookies = await context.cookies(app.url);
    expect(cookies.map(({ value }) => value)).toEqual([root.token]);
  });

  test.each(HOSTS)("D-8.6, D-9.2 no frame on %s shows /swagger or the console", async (host) => {
    const { app, page } = await signedIn();
    for (const path of ["/swagger", "/console", "/console/nowhere"]) {
      const refusal = page.waitForEvent("console", {
        predicate: (message) => message.text().includes("frame-ancestors 'none'"),
      });
      await openNeighbour(page, host, `<!doctype html><iframe src="${app.url}${path}"></iframe>`);
      expect((await refusal).text()).toContain(new URL(app.url).host);
    }
  });

  test("D-8.6 a page of this service can do what it likes", async () => {
    const { app, root, page } = await signedIn();
    await page.goto(`${app.url}/console/sign-in`);
    const status = await page.evaluate(
      `fetch("/v1/me/api-keys", { method: "POST", body: '{"name":"mine"}',
        headers: { "Content-Type": "application/json" } }).then(({ status }) => status)`,
    );
    expect(status).toBe(201);
    expect(dataOf(await root.send("/v1/me/api-keys"))["items"]).toHaveLength(1);
  });
});
