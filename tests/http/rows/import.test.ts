// Files that administrators import over HTTP. D-14.4, D-14.7.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { dataOf } from "../reputation/people.ts";
import { onEveryBackend } from "../support/backends.ts";
import { gzip } from "../support/bytes.ts";
import { fastTime } from "../support/fast-time.ts";
import { RawConnection } from "../support/raw-http.ts";
import { type JsonFields, SYNC_KEY } from "../support/sync-app.ts";
import {
  type RunApp,
  readEvents,
  SYNC,
  startPair,
  startRunApp,
} from "../sync-runs/support/run-apps.ts";
import { CSV, fileOf, resultOf, STOCK } from "./support/import-replies.ts";

async function skusOf(app: RunApp): Promise<readonly unknown[]> {
  return (await app.rows("stock")).map(({ sku }) => sku);
}

async function lastAct({ admin }: RunApp): Promise<JsonFields | undefined> {
  const [act] = dataOf(await admin.send("/v1/admin/audit?limit=1"))["items"] as JsonFields[];
  return act;
}

function csvOf(count: number): string {
  return `name,body\n${Array.from({ length: count }, (_, i) => `k${i},b${i}\n`).join("")}`;
}

/** A request whose body comes bit by bit. */
async function begin(app: RunApp, path: string): Promise<RawConnection> {
  const connection = await RawConnection.open(app.url);
  const lines = [`POST ${SYNC}${path} HTTP/1.1`, "Host: localhost", `Content-Type: ${CSV}`];
  const token = `Authorization: Bearer ${app.admin.token}`;
  await connection.write(`${[...lines, token, "Transfer-Encoding: chunked"].join("\r\n")}\r\n\r\n`);
  return connection;
}

async function sendChunk(connection: RawConnection, text: string): Promise<void> {
  await connection.write(`${text.length.toString(16)}\r\n${text}\r\n`);
}

onEveryBackend("imports", (backend) => {
  test("D-14.4.2 a file is written as the command line does, told by events that can be read again, and noted", async () => {
    const storageUrl = await backend.makeUrl();
    const app = await startRunApp({ backend, env: { STORAGE_URL: storageUrl } });
    await app.push("notes", {
      records: [
        { name: "k0", body: "b0" },
        { name: "k1", body: "x" },
      ],
    });
    const reply = await app.ask("/import/notes", fileOf(`${csvOf(2_500)}"",gap\n`));
    expect(resultOf(reply)).toMatchObject({
      ...{ type: "done", table: "notes", dry_run: false, read: 2_501, written: 2_500 },
      ...{ new: 2_498, changed: 1, same: 1, failed: 1, warnings: [], warning_count: 0 },
      failures: [{ line: 2_502, column: "name" }],
    });
    expect(readEvents(reply)[0]).toEqual({ type: "progress", rows: 1_000 });
    expect(await app.rows("notes")).toHaveLength(2_500);
    expect(await lastAct(app)).toMatchObject({
      ...{ kind: "admin", account: "root", action: "rows.imported", table: "notes" },
      counts: { new: 2_498, changed: 1, same: 1, failed: 1 },
    });
    const runId = reply.headers.get("x-run-id");
    const other = await startRunApp({ backend, env: { STORAGE_URL: storageUrl } });
    for (const one of [app, other]) {
      const told = await one.ask(`/runs/${runId}/events`);
      expect(resultOf(told)).toEqual(resultOf(reply));
      expect((await one.ask(`/runs/${runId}`)).status).toBe(404);
      expect(await one.items("/runs")).toEqual([]);
    }
  });

  test("D-14.4.2 a dry run writes and notes nothing; JSON, NDJSON and gzip are understood", async () => {
    const app = await startRunApp({ backend });
    const dry = await app.ask("/import/notes?dry_run=true", fileOf(csvOf(3)));
    expect(resultOf(dry)).toMatchObject({ type: "done", dry_run: true, new: 3 });
    expect(await app.rows("notes")).toEqual([]);
    expect(await lastAct(app)).toBeUndefined();
    const json = '{"list":{"of":[{"name":"a","body":"1"}]}}';
    const inside = await app.ask("/import/notes?path=list.of", fileOf(json, "application/json"));
    expect(resultOf(inside)).toMatchObject({ new: 1 });
    const lines = '{"name":"b","body":"2"}\n{"name":"c"}\n';
    const ndjson = await app.ask("/import/notes", fileOf(lines, "application/x-ndjson"));
    expect(resultOf(ndjson)).toMatchObject({ new: 2 });
    const packed = fileOf(gzip("name;body\nd;\xfc\n"));
    expect(resultOf(await app.ask("/import/notes?delimiter=;", packed))).toMatchObject({ new: 1 });
    expect(await app.rows("notes")).toHaveLength(4);
  });

  test("D-14.7 a field that is marked as JSON null is null: no text in a column of numbers, and no key", async () => {
    const app = await startRunApp({ backend, tables: { stock: STOCK } });
    const file = fileOf("sku,qty,updated_at\na,\\null,2026-01-01\n\\null,1,2026-01-01\n");
    expect(resultOf(await app.ask("/import/stock", file))).toMatchObject({
      ...{ new: 1, failed: 1 },
      failures: [{ line: 3, column: "sku", value: null }],
    });
    expect(await app.rows("stock")).toMatchObject([{ sku: "a", qty: null }]);
    expect(await app.items("/rows/stock?where=qty:%5Cnull")).toHaveLength(1);
  });

  test("D-11.2.1 a record of more than 2,000,000 values fails, in a field of CSV as on a line of JSON", async () => {
    const columns = { sku: { type: "text" }, tags: { type: "json" } } as const;
    const app = await startRunApp({
      backend,
      tables: { tagged: { upsert_key: ["sku"], columns } },
    });
    // The key and the list are values too.
    const tags = (count: number) => `[${"1,".repeat(count - 3)}1]`;
    const csv = fileOf(`sku,tags\na,"${tags(2_000_000)}"\nb,"${tags(2_000_001)}"\n`);
    const json = ["a", "b"].map((sku, i) => `{"sku":"${sku}","tags":${tags(2_000_000 + i)}}\n`);
    const ndjson = fileOf(json.join(""), "application/x-ndjson");
    for (const [file, line, key] of [[csv, 3, "sku=b"] as const, [ndjson, 2, null] as const]) {
      expect(resultOf(await app.ask("/import/tagged?dry_run=true", file))).toMatchObject({
        ...{ new: 1, failed: 1 },
        failures: [{ line, key, value: null, message: "has more than 2000000 values" }],
      });
    }
  });

  test("D-14.4.2 a file that is damaged or in another encoding ends with what was written", async () => {
    const app = await startRunApp({ backend });
    const bytes = Buffer.from(`${csvOf(20_000)}last,M\xfcller\n`, "latin1");
    const encoded = resultOf(await app.ask("/import/notes", fileOf(new Uint8Array(bytes))));
    expect(encoded).toMatchObject({
      type: "error",
      error: expect.stringContaining("is not text in UTF-8"),
    });
    const { result } = encoded as unknown as { result: { written: number } };
    expect(result.written).toBeGreaterThan(1_000);
    expect(await app.rows("notes")).toHaveLength(result.written);
    const json = '[{"name":"x","body":"1"},{"name":"y",';
    const cut = resultOf(await app.ask("/import/notes", fileOf(json, "application/json")));
    expect(cut).toMatchObject({ type: "error", result: { written: 1, new: 1 } });
    expect(await lastAct(app)).toMatchObject({ counts: { new: 1, changed: 0 } });
  });

  test("D-14.4.4 whole removes what the file does not have, as deletes that travel; a dry run counts", async () => {
    const app = await startRunApp({ backend, tables: { stock: STOCK } });
    await app.ask("/import/stock", fileOf("sku,qty\na,1\nb,2\nc,3\n"));
    const week = fileOf("sku,qty\nb,2\nd,4\n");
    const dry = resultOf(await app.ask("/import/stock?whole=true&dry_run=true", week));
    expect(dry).toMatchObject({ type: "done", new: 1, same: 1, removed: 2 });
    expect(await skusOf(app)).toEqual(["a", "b", "c"]);
    const others = fileOf("sku,qty\na,1\nb,5\nb,7\nd,4\n");
    expect(resultOf(await app.ask("/import/stock?dry_run=true", others))).toMatchObject({
      ...{ new: 1, changed: 2, same: 1 },
      changes: [
        {
          ...{ line: 4, key: "sku=b" },
          here: { qty: 2, updated_at: expect.any(String) },
          record: { qty: 7, updated_at: expect.any(String) },
        },
      ],
    });
    const done = resultOf(await app.ask("/import/stock?whole=true", week));
    expect(done).toMatchObject({ type: "done", new: 1, same: 1, removed: 2 });
    expect(await skusOf(app)).toEqual(["b", "d"]);
    const deleted = await app.send(`${SYNC}/deleted/stock`, {
      headers: { "X-Sync-Key": SYNC_KEY },
    });
    const keys = (deleted.json["items"] as { key: object }[]).map(({ key }) => key);
    expect(keys).toEqual([{ sku: "a" }, { sku: "c" }]);
    expect(await lastAct(app)).toMatchObject({
      ...{ action: "rows.imported", table: "stock" },
      counts: { new: 1, changed: 0, same: 1, failed: 0, removed: 2 },
    });
  });

  test("D-7.8, D-14.4.2 cancel() ends an import before its next batch, on any instance, and it tells what was written", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const app = await startRunApp({ backend, env });
    const other = await startRunApp({ backend, env });
    const connection = await begin(app, "/import/notes");
    await sendChunk(connection, csvOf(1_000));
    await sendChunk(connection, "late,1\n");
    await pollUntil("a batch", async () => (await app.records("notes")).length > 0);
    const head = await connection.readUntil("\r\n\r\n");
    const runId = /x-run-id: (\S+)/i.exec(head)?.[1];
    const cancel = () => other.ask(`/runs/${runId}/cancel`, { method: "POST" });
    const { status, json } = await cancel();
    expect([status, json]).toMatchObject([
      200,
      { run_id: runId, kind: "import", status: "failed", error: "Cancelled by root" },
    ]);
    expect((await cancel()).status).toBe(409);
    expect(resultOf(await other.ask(`/runs/${runId}/events`))).toMatchObject({
      ...{ type: "error", error: "Cancelled by root" },
      result: { read: 1_000, written: 1_000, new: 1_000 },
    });
    expect(await app.rows("notes")).toHaveLength(1_000);
  });

  test("D-14.4.2 a session that ends meanwhile ends it before the next batch", async () => {
    const app = await startRunApp({ backend });
    const connection = await begin(app, "/import/notes");
    await sendChunk(connection, csvOf(1_000));
    await sendChunk(connection, "late,1\n");
    await pollUntil("a batch", async () => (await app.records("notes")).length > 0);
    await app.admin.send("/v1/sessions", { method: "DELETE" });
    const rest = Array.from({ length: 1_500 }, (_, i) => `r${i},b\n`).join("");
    await sendChunk(connection, rest);
    await connection.write("0\r\n\r\n");
    const told = await connection.readUntil('{"type":"finished"}');
    expect(told).toContain('"type":"error"');
    expect(told).toContain("session has ended");
    expect(await app.rows("notes")).toHaveLength(1_000);
  });
});

test("D-14.4.2 a minute without a byte, or an end before its time, ends it with what was written", async () => {
  const app = await startRunApp({ time: fastTime(100) });
  const silent = await begin(app, "/import/notes");
  await sendChunk(silent, csvOf(10));
  const told = await silent.readUntil('{"type":"finished"}');
  expect(told).toContain("No byte of the body came for a minute");
  expect(await app.rows("notes")).toHaveLength(10);
  const broken = await begin(app, "/import/versions");
  await sendChunk(broken, "name,at\na,2026-01-01T00:00:00Z\nb,2026-01-01T00:00:00Z\nc");
  const head = await broken.readUntil("\r\n\r\n");
  const runId = /x-run-id: (\S+)/i.exec(head)?.[1];
  broken.close();
  const error = resultOf(await app.ask(`/runs/${runId}/events`));
  expect(error).toMatchObject({ type: "error", table: "versions" });
  expect((await app.rows("versions")).length).toBeLessThanOrEqual(3);
});

test("D-14.4.4 whole removes nothing when a row fails, the file has none, or is damaged, and no more than may be", async () => {
  const app = await startRunApp({ tables: { stock: { ...STOCK, max_deletes: 1 } } });
  await app.ask("/import/stock", fileOf("sku,qty\na,1\nb,2\nc,3\n"));
  const whole = async (text: string, more = "") =>
    resultOf(await app.ask(`/import/stock?whole=true${more}`, fileOf(text)));
  const reason = (text: string) => [{ line: 1, column: null, value: null, message: text }];
  expect(await whole("sku,qty\na,many\n")).toMatchObject({
    ...{ type: "done", failed: 1, removed: 0 },
    warnings: reason("No row was removed, as records failed"),
  });
  expect(await whole("sku,qty\n")).toMatchObject({
    ...{ type: "done", read: 0, removed: 0 },
    warnings: reason("No row was removed, as the file has no records"),
  });
  expect(await whole('sku,qty\na,1\n"b')).toMatchObject({ type: "error" });
  for (const more of ["", "&dry_run=true", "&max_deletes=0"]) {
    const limit = more.includes("=0") ? 0 : 1;
    expect(await whole("sku,qty\na,1\n", more)).toMatchObject({
      type: "error",
      error: expect.stringContaining(`2 rows of "stock" are not in the file, at most ${limit} may`),
      result: { read: 1, same: 1 },
    });
  }
  expect(await skusOf(app)).toEqual(["a", "b", "c"]);
  expect(await whole("sku,qty\na,1\n", "&max_deletes=2")).toMatchObject({ removed: 2 });
  expect(await skusOf(app)).toEqual(["a"]);
});

test("D-14.4.4 a session that ends meanwhile ends the removal before its next batch", async () => {
  const app = await startRunApp({ tables: { stock: STOCK } });
  await app.ask("/import/stock", fileOf("sku,qty\na,1\nb,2\n"));
  const connection = await begin(app, "/import/stock?whole=true");
  await sendChunk(connection, "sku,qty\nc,3\n");
  // It has begun.
  await connection.readUntil("200 OK");
  await app.admin.send("/v1/sessions", { method: "DELETE" });
  await connection.write("0\r\n\r\n");
  const told = await connection.readUntil('{"type":"finished"}');
  expect(told).toContain("session has ended");
  expect(await app.records("stock")).toHaveLength(2);
});

test("D-14.4.2 what is asked wrongly is refused before the first byte", async () => {
  const columns: TableEntry["columns"] = { name: { type: "text" }, at: { type: "datetime" } };
  const notes: TableEntry = { upsert_key: ["name"], columns };
  const tables = { notes, theirs: { ...notes, direction: "pull" as const } };
  const app = await startRunApp({ tables });
  const csv = fileOf("name\na\n");
  for (const query of [
    ...[
      "dry_run=1",
      "whole=yes",
      "whole=true",
      "append=true",
      "append=true&whole=true",
      "delimiter=ab",
      "encoding=klingon",
    ],
    ...["decimal=;", "date_format=soon", "path=a.b", "whole=true&max_deletes=-1"],
  ]) {
    const { status, json } = await app.ask(`/import/notes?${query}`, csv);
    expect([query, status, Object.keys(json)]).toEqual([query, 400, ["error"]]);
  }
  expect((await app.ask("/import/no_such_table", csv)).status).toBe(400);
  expect((await app.ask("/import/notes", fileOf("a", "text/plain"))).status).toBe(400);
  expect((await app.ask("/import/theirs", csv)).status).toBe(409);
  const forced = await app.ask("/import/theirs?force=true", csv);
  expect(resultOf(forced)).toMatchObject({ type: "done", new: 1 });
  expect(forced.text).toContain("Set to null, because the file does not have this column: at");
});

test("D-14.4.2, D-14.4.3 what a file needs is told by names that its parameters have too", async () => {
  const app = await startRunApp({ tables: { stock: STOCK } });
  const bytes = Uint8Array.from([...Buffer.from("sku\n"), 0xe4]);
  const encoding = "The file is not text in UTF-8: name its encoding, such as latin1 or utf-16";
  for (const [query, file, error] of [
    ["", fileOf(bytes), encoding],
    [
      "?delimiter=,",
      fileOf("sku;qty\na;1\n"),
      'Line 1 must name the columns of the file; it lacks the key of "stock": "sku"; name the delimiter ";", which seems to separate the fields of the file',
    ],
    [
      "",
      fileOf('{"sku":"a"}\n', "application/json"),
      "Line 1: a JSON file must hold one array of objects; for one object per line name the format ndjson",
    ],
  ] as const) {
    expect(resultOf(await app.ask(`/import/stock${query}`, file))).toMatchObject({ error });
  }
  const guess = await app.ask("/infer?name=p", fileOf(bytes));
  expect(guess.json).toEqual({ error: encoding });
});

test("D-8.6, D-14.4.2 with the session cookie a file comes from a page of this service, as one of the three types", async () => {
  const app = await startRunApp();
  const cookie = { Cookie: `repsync_session=${app.admin.token}` };
  const send = (headers: Readonly<Record<string, string>>) =>
    app.send(`${SYNC}/import/notes`, {
      ...{ method: "POST", body: "name\na\n", headers: { ...cookie, ...headers } },
    });
  const own = { "Sec-Fetch-Site": "same-origin" };
  expect(resultOf(await send({ ...own, "Content-Type": `${CSV}; charset=utf-8` }))).toMatchObject({
    type: "done",
  });
  expect((await send({ ...own, "Content-Type": "text/plain" })).status).toBe(400);
  const other = { "Sec-Fetch-Site": "cross-site", "Content-Type": CSV };
  expect((await send(other)).status).toBe(403);
});

test("D-14.7.2 into an empty stamped table whose remote has rows, the preview and the import say so: pull instead", async () => {
  const { local, remote } = await startPair({ tables: { stock: STOCK } });
  await remote.push("stock", { records: [{ sku: "a", qty: 1 }] });
  const message =
    'The remote has 1 row of "stock", and this end none: pull them instead, with their times';
  const said = [{ line: 1, column: null, value: null, message }];
  const file = fileOf("sku,qty\nb,2\n");
  for (const query of ["?dry_run=true", ""]) {
    const told = resultOf(await local.ask(`/import/stock${query}`, file));
    expect(told).toMatchObject({ type: "done", new: 1, warnings: said, warning_count: 1 });
  }
  expect(resultOf(await local.ask("/import/stock", file))).toMatchObject({ warnings: [] });
  const [tables, env] = [{ constructor: STOCK }, { SYNC_REMOTE_URL: remote.url }];
  const other = await startRunApp({ tables, env });
  const told = resultOf(await other.ask("/import/constructor", file));
  expect(told).toMatchObject({ type: "done", warnings: [] });
});
