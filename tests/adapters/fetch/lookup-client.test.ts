// The client for lookups against the real service, and against one that refuses in every way.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createLookupClient, LookupError } from "../../../src/lookups.ts";
import { Person } from "../../http/reputation/people.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { serveLocally } from "../../http/support/serve-locally.ts";
import { startApp } from "../../http/support/sync-app.ts";

/** A service that gives these replies, one after the other. */
function startReplies(...replies: readonly (() => Response | Promise<Response>)[]) {
  const left = [...replies];
  const paths: string[] = [];
  const url = serveLocally((request) => {
    paths.push(new URL(request.url).pathname);
    return left.shift()?.() ?? new Response(null, { status: 500 });
  });
  const make = (options = {}) =>
    createLookupClient({ baseUrl: `${url}/`, key: "rep_live_x", ...options });
  return { paths, make };
}

const DATA = {
  username: "ana",
  score: 7,
  star_level: 1,
  verified_platforms: 2,
  updated_at: "2026-11-21T00:00:00Z",
};
const good = () => Response.json({ success: true, data: DATA });
const busy = (seconds: string) => () =>
  Response.json(
    { code: "rate_limited", detail: "Wait" },
    {
      status: 429,
      headers: { "Retry-After": seconds, "X-Request-Id": "request-1" },
    },
  );

async function failureOf(lookup: Promise<unknown>): Promise<LookupError> {
  const error = await lookup.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LookupError)) throw new Error(`No LookupError: ${error}`);
  return error;
}

test("R-2.1, R-2.2, R-2.3 the client looks up score, profile and platforms of a person who has consented", async () => {
  const app = await startApp({ env: { TRUSTED_PROXY_HOPS: "1" } });
  const ana = await Person.signUp(app, "ana");
  const client = createLookupClient({ baseUrl: `${app.url}/`, key: await ana.issueKey() });
  const refused = await failureOf(client.reputation("ana"));
  expect(refused).toMatchObject({ kind: "refused", status: 403, code: "consent_required" });
  expect(refused.requestId).toMatch(/^[0-9a-f-]{36}$/);
  for (const purpose of ["reputation_lookup", "profile_lookup", "platforms_lookup"]) {
    await ana.consent(purpose);
  }
  await app.push("platform_accounts", {
    records: [{ username: "ana", platform: "github", handle: "ana", verified: true }],
  });
  expect(await client.reputation("ana")).toMatchObject({ username: "ana", verifiedPlatforms: 1 });
  expect(await client.profile("ana")).toMatchObject({ username: "ana", displayName: "" });
  expect(await client.platforms("ana")).toMatchObject([
    { platform: "github", handle: "ana", verified: true },
  ]);
  const nobody = await failureOf(client.profile("no/body ?é"));
  expect(nobody).toMatchObject({ status: 404, code: "profile_not_found" });
});

test("a limit that is used up is waited for, as long as it may take", async () => {
  const { make, paths } = startReplies(busy("0"), busy("0"), good);
  expect(await make().reputation("ana")).toEqual({
    username: "ana",
    score: 7,
    starLevel: 1,
    verifiedPlatforms: 2,
    updatedAt: "2026-11-21T00:00:00Z",
  });
  expect(paths).toEqual(Array(3).fill("/v1/public/profiles/ana/reputation"));
  const late = startReplies(busy("61"));
  expect(await failureOf(late.make().reputation("ana"))).toMatchObject({
    kind: "refused",
    status: 429,
    code: "rate_limited",
    message: "Wait",
    retryAfterSeconds: 61,
    requestId: "request-1",
  });
  const impatient = startReplies(busy("1"));
  const failure = await failureOf(impatient.make({ maxWaitMs: 0 }).reputation("ana"));
  expect(failure.retryAfterSeconds).toBe(1);
});

test("a service that never says how long to wait is not asked without end", async () => {
  for (const wait of ["0", "", "-5"]) {
    const { make, paths } = startReplies(...Array(100).fill(busy(wait)));
    const failure = await failureOf(make({ maxWaitMs: 1500 }).reputation("ana"));
    expect(failure).toMatchObject({ kind: "refused", status: 429, code: "rate_limited" });
    expect(paths.length).toBeLessThanOrEqual(2);
  }
});

test("a wait that is longer than a timer can be is not begun", async () => {
  const { make, paths } = startReplies(busy(`${60 * 60 * 24 * 30}`), good);
  const failure = await failureOf(make({ maxWaitMs: Number.MAX_SAFE_INTEGER }).reputation("ana"));
  expect(failure).toMatchObject({ kind: "refused", status: 429 });
  expect(paths.length).toBe(1);
});

test("a username that no address can carry is refused, and nothing is sent", async () => {
  const { make, paths } = startReplies(good);
  for (const username of ["", ".", "..", "\ud800"]) {
    for (const method of ["reputation", "profile", "platforms"] as const) {
      const failure = await failureOf(make()[method](username));
      expect(failure).toMatchObject({ kind: "refused", status: null, code: "invalid_request" });
      expect(failure.message).toBe("No address can carry this username");
    }
  }
  expect(paths).toEqual([]);
});

test("a signal ends a lookup, also while it waits", async () => {
  const stop = new AbortController();
  const { make } = startReplies(() => {
    setTimeout(() => stop.abort(), 0);
    return busy("30")();
  });
  const lookup = make().reputation("ana", { signal: stop.signal });
  expect((await failureOf(lookup)).kind).toBe("aborted");
  const again = make().reputation("ana", { signal: stop.signal });
  expect((await failureOf(again)).kind).toBe("aborted");
});

test("replies that are not the documented ones are told", async () => {
  const cases: [() => Response, string][] = [
    [() => new Response("no json"), "invalid_reply"],
    [() => Response.json({ success: true }), "invalid_reply"],
    [() => new Response(null, { status: 302, headers: { Location: "/elsewhere" } }), "refused"],
    [() => new Response("<html>", { status: 502 }), "refused"],
  ];
  for (const [reply, kind] of cases) {
    expect((await failureOf(startReplies(reply).make().reputation("ana"))).kind).toBe(
      kind as never,
    );
  }
  const noList = startReplies(() => Response.json({ data: [DATA] }));
  expect((await failureOf(noList.make().reputation("ana"))).kind).toBe("invalid_reply");
  const noPlatform = startReplies(() => Response.json({ data: [null] }));
  expect((await failureOf(noPlatform.make().platforms("ana"))).kind).toBe("invalid_reply");
  const hanging = startReplies(() => new Promise<Response>(() => {}));
  const lookup = hanging.make({ timeoutMs: 50 }).reputation("ana");
  expect((await failureOf(lookup)).kind).toBe("timeout");
  const nowhere = createLookupClient({ baseUrl: "http://127.0.0.1:9", key: "k" });
  expect((await failureOf(nowhere.reputation("ana"))).kind).toBe("unreachable");
});

test.each([
  { baseUrl: "ftp://a.example", key: "k" },
  { baseUrl: "a.example", key: "k" },
  { baseUrl: "https://a.example/?a=1", key: "k" },
  { baseUrl: "https://a.example/#a", key: "k" },
  { baseUrl: "https://a:b@a.example", key: "k" },
  { baseUrl: "https://a.example", key: "" },
  { baseUrl: "https://a.example", key: "a\nb" },
  { baseUrl: "https://a.example", key: undefined as unknown as string },
  { baseUrl: "https://a.example", key: "k", fetch: "fetch" as unknown as typeof fetch },
])("createLookupClient() refuses %j", (options) => {
  expect(() => createLookupClient(options)).toThrow(TypeError);
});

test.each([
  { timeoutMs: 0 },
  { timeoutMs: -1 },
  { timeoutMs: 1.5 },
  { timeoutMs: Number.NaN },
  { timeoutMs: 2_147_483_648 },
  { maxWaitMs: -1 },
  { maxWaitMs: Number.NaN },
])("createLookupClient() refuses %j at once", (options) => {
  const all = { baseUrl: "https://a.example", key: "k", ...options };
  expect(() => createLookupClient(all)).toThrow(RangeError);
});

const node = Bun.which("node");
if (node === null)
  console.error("\n*** repsync/lookups is not tested on Node: there is none ***\n");

test.skipIf(node === null)("repsync/lookups is one file that works on Node", async () => {
  const folder = makeTempFolder();
  const entry = new URL("../../../src/lookups.ts", import.meta.url).pathname;
  const built = await Bun.build({ entrypoints: [entry], target: "browser", format: "esm" });
  const text = (await built.outputs[0]?.text()) ?? "";
  expect(text).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(|\bprocess\b|\bBun\b|\bDeno\./m);
  await Bun.write(join(folder, "lookups.mjs"), text);
  const program = `
    import { createLookupClient, LookupError } from "./lookups.mjs";
    const client = createLookupClient({ baseUrl: "http://127.0.0.1:9", key: "k",
      fetch: async (url) => Response.json({ data: { username: url.split("/").at(-2), star_level: 5 } }) });
    console.log(JSON.stringify(await client.reputation("ana")), LookupError.name);`;
  await Bun.write(join(folder, "program.mjs"), program);
  const ran = spawnSync(node as string, ["program.mjs"], { cwd: folder, encoding: "utf8" });
  expect(ran.stdout).toBe('{"username":"ana","starLevel":5} LookupError\n');
});
