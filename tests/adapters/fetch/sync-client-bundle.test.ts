// The client as other programs get it: one file, run by other runtimes against the same peers.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { gzipReply, plainReply, rawHead, startPeer, startRawPeer } from "./sync-client-support.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FOLDER = mkdtempSync(join(tmpdir(), "sync-client-"));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

const RECORDS = `[{"id":1,"name":"${"é".repeat(1000)}"}]`;
const PAGE = `{"table":"t","since":"2026-01-01T00:00:00+00:00","count":1,"total":1,"offset":0,"limit":1000,"has_more":false,"next_offset":null,"records":${RECORDS}}`;

/** Pulls, pushes, and tells how each failure is seen; prints what came of it as JSON. */
const PROGRAM = `
import { createSyncClient } from "./client.js";
const [url, cutUrl, damagedUrl] = (globalThis.Deno?.args ?? process.argv.slice(2));
const make = (baseUrl) => createSyncClient({ baseUrl, key: "k", timeoutMs: 2000 });
const failure = (request) => request.then(() => "none", (error) => error.name + " " + error.kind);
const since = "2026-01-01T00:00:00+00:00";
const pulled = await make(url).pullPage("t", { since });
const pushed = await make(url).pushBatch("t", { records: pulled.page.records });
const stop = new AbortController();
setTimeout(() => stop.abort(), 0);
const aborted = await failure(make(url).pullPage("slow", { signal: stop.signal }));
console.log(JSON.stringify({
  runtime: globalThis.Deno ? "deno" : globalThis.Bun ? "bun" : "node",
  name: pulled.page.records[0].name.length,
  bytes: pulled.bytesUncompressed,
  isSmaller: pulled.bytesCompressed < 200,
  result: pushed.result,
  refused: await failure(make(url).pullPage("refused")),
  redirected: await failure(make(url).pullPage("redirected")),
  mismatched: await failure(make(url).pullPage("mismatched")),
  endless: await failure(createSyncClient({ baseUrl: url, key: "k", maxReplyBytes: 99999 }).pullPage("endless")),
  aborted,
  cut: await failure(make(cutUrl).pullPage("t")),
  damaged: await failure(createSyncClient({ baseUrl: damagedUrl, key: "k", timeoutMs: 200 }).pullPage("t")),
}));
`;

const node = Bun.which("node");
const deno = Bun.which("deno", {
  PATH: `${join(ROOT, "node_modules", ".bin")}:${process.env.PATH}`,
});

/** Without the runtime the test is skipped, and says so; under CI it fails. */
function isMissing(runtime: string, path: string | null): boolean {
  if (path === null)
    console.warn(`Skipped: ${runtime} is not installed, the client is not run on it`);
  return path === null && Bun.env.CI !== "true";
}

async function bundle(name: string): Promise<string> {
  const entry = join(ROOT, "src", name);
  const built = await Bun.build({ entrypoints: [entry], target: "browser", format: "esm" });
  expect(built.outputs.length).toBe(1);
  return await (built.outputs[0] as Blob).text();
}

async function buildClient(): Promise<string> {
  const text = await bundle("client.ts");
  await Bun.write(join(FOLDER, "client.js"), text);
  await Bun.write(join(FOLDER, "program.mjs"), PROGRAM);
  return text;
}

function answer({ target }: { readonly target: string }): Response | Promise<Response> {
  if (target.includes("/push/")) {
    return Response.json({ table: "t", received: 1, upserted: 1, integrity: "verified" });
  }
  const table = /pull\/(\w+)/.exec(target)?.[1];
  if (table === "refused") return Response.json({ error: "No such table" }, { status: 400 });
  if (table === "redirected") return Response.redirect("http://127.0.0.1:9/elsewhere", 307);
  if (table === "mismatched") return plainReply(PAGE, { "X-Content-SHA256": "00" });
  if (table === "slow") return new Promise(() => {});
  if (table === "endless") {
    const blanks = new Uint8Array(65_536).fill(32);
    return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(blanks) }));
  }
  return gzipReply(PAGE);
}

async function runProgram(command: readonly string[]) {
  await buildClient();
  const peer = startPeer(answer);
  const cut = await startRawPeer((socket) =>
    socket.end(`${rawHead("200 OK", { "Content-Length": 1000 })}{"table"`),
  );
  const damaged = await startRawPeer((socket) =>
    socket.write(`${rawHead("200 OK", { "Content-Encoding": "gzip", "Content-Length": 5 })}hello`),
  );
  const program = join(FOLDER, "program.mjs");
  const urls = [peer.baseUrl, cut.baseUrl, damaged.baseUrl];
  const child = Bun.spawn([...command, program, ...urls], { stdout: "pipe", stderr: "inherit" });
  const [text, exitCode] = await Promise.all([child.stdout.text(), child.exited]);
  expect(exitCode).toBe(0);
  return { said: JSON.parse(text), seen: peer.seen };
}

const SAID = {
  name: 1000,
  bytes: 2160,
  isSmaller: true,
  result: { table: "t", received: 1, upserted: 1, integrity: "verified" },
  refused: "RemotePeerError status",
  redirected: "RemotePeerError status",
  mismatched: "RemotePeerError checksum_mismatch",
  endless: "RemotePeerError invalid_reply",
  aborted: "RemotePeerError aborted",
  cut: "RemotePeerError unreachable",
  damaged: "RemotePeerError unreachable",
};

const FOREIGN = /^\s*import\b|\bimport\(|\brequire\(|\bprocess\b|\bBun\b|\bDeno\./m;

test("repsync/client is one small file that imports nothing", async () => {
  const text = await buildClient();
  expect(text).not.toMatch(FOREIGN);
  // Of these some 5,000 are what to do about each kind of failure.
  expect(text.length).toBeLessThan(52_000);
});

test("repsync/lookups is one small file that imports nothing", async () => {
  const text = await bundle("lookups.ts");
  expect(text.length).toBeLessThan(8_000);
  expect(text).not.toMatch(FOREIGN);
});

test.skipIf(isMissing("Node", node))("repsync/client works on Node", async () => {
  const { said, seen } = await runProgram([node as string]);
  // Node 20 says nothing of damaged gzip and only waits; later versions say it at once.
  const { damaged, ...others } = said;
  expect({ ...others, damaged: "RemotePeerError unreachable" }).toEqual({
    runtime: "node",
    ...SAID,
  });
  expect(["RemotePeerError unreachable", "RemotePeerError timeout"]).toContain(damaged);
  expectPush(seen[1]);
});

test.skipIf(isMissing("Deno", deno))("repsync/client works on Deno", async () => {
  const { said, seen } = await runProgram([deno as string, "run", "--quiet", "--allow-net"]);
  expect(said).toEqual({ runtime: "deno", ...SAID });
  expectPush(seen[1]);
});

test("repsync/client works on Bun as a bundle too", async () => {
  const { said, seen } = await runProgram([process.execPath]);
  expect(said).toEqual({ runtime: "bun", ...SAID });
  expectPush(seen[1]);
});

function expectPush(request: { readonly body: Uint8Array; readonly headers: Headers } | undefined) {
  expect(request?.headers.get("X-Content-SHA256")).toBe(
    "8da9a530b80ba533c58320ef07b17147b5c6bf0eac96a330ee64d1335e0213b1",
  );
  expect(gunzipSync(request?.body ?? new Uint8Array()).toString()).toBe(`{"records":${RECORDS}}`);
}
