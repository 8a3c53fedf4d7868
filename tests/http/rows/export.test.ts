// Tables as files that administrators download. D-14.4.

import { expect, spyOn, test } from "bun:test";
import { PinoLogger } from "../../../src/adapters/pino/pino-logger.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { dataOf } from "../reputation/people.ts";
import { onEveryBackend } from "../support/backends.ts";
import { fastTime } from "../support/fast-time.ts";
import { RawConnection } from "../support/raw-http.ts";
import type { JsonFields } from "../support/sync-app.ts";
import { notes, type RunApp, startRunApp, versions } from "../sync-runs/support/run-apps.ts";

/** The newest record of the audit log. */
async function lastAct({ admin }: RunApp): Promise<JsonFields | undefined> {
  const [act] = dataOf(await admin.send("/v1/admin/audit?limit=1"))["items"] as JsonFields[];
  return act;
}

/** Fills a table with 32 MB, and reads the head of its export. */
async function beginLarge(app: RunApp): Promise<RawConnection> {
  const body = "x".repeat(20_000);
  for (const prefix of ["a", "b", "c", "d"]) {
    const records = notes(400, prefix).map((note) => ({ ...note, body }));
    await app.push("notes", { records });
  }
  const connection = await RawConnection.open(app.url);
  const { token } = app.admin;
  const head = ["GET /api/v1/sync/export/notes HTTP/1.1", "Host: localhost"];
  await connection.write(`${[...head, `Authorization: Bearer ${token}`].join("\r\n")}\r\n\r\n`);
  expect(await connection.readUntil("\r\n\r\n")).toContain("200 OK");
  return connection;
}

onEveryBackend("exports", (backend) => {
  test("D-14.4 a table comes as the command line writes it, in each format, and is noted", async () => {
    const app = await startRunApp({ backend });
    await app.push("versions", { records: versions(2) });
    const csv = await app.ask("/export/versions");
    expect(csv.headers.get("content-type")).toBe("text/csv");
    expect(csv.headers.get("content-disposition")).toBe('attachment; filename="versions.csv"');
    const [head = "", ...lines] = csv.text.trimEnd().split("\n");
    expect(head.split(",")).toContain("at");
    expect(lines).toHaveLength(2);
    const ndjson = await app.ask("/export/versions?format=ndjson");
    const json = await app.ask("/export/versions?format=json");
    const rows = ndjson.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows).toEqual(JSON.parse(json.text));
    expect(rows.map(({ name }) => name)).toEqual(["n0000", "n0001"]);
    expect(await lastAct(app)).toMatchObject({
      ...{ kind: "admin", account: "root", action: "rows.exported", subject: null },
      ...{ table: "versions", counts: { rows: 2 } },
    });
  });

  test("D-14.4 since leaves earlier rows out, spreadsheet makes texts of formulas", async () => {
    const app = await startRunApp({ backend });
    const late = { name: "late", body: "=1+1", at: "2026-03-01T00:00:00Z" };
    await app.push("versions", { records: [...versions(3), late] });
    const since = "since=2026-02-01T01:00:00%2B01:00";
    const { text } = await app.ask(`/export/versions?format=ndjson&${since}`);
    expect(
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).name),
    ).toEqual(["late"]);
    const sheet = await app.ask(`/export/versions?${since}&spreadsheet=true`);
    expect(sheet.text).toContain("'=1+1");
    expect((await app.ask(`/export/versions?${since}`)).text).not.toContain("'=1+1");
    await app.push("notes", { records: notes(2) });
    const timeless = await app.ask(`/export/notes?format=ndjson&${since}`);
    expect(timeless.text).toBe((await app.ask("/export/notes?format=ndjson")).text);
    expect(timeless.text).not.toBe("");
    const none = await app.ask("/export/versions?format=json&since=2027-01-01T00:00:00Z");
    expect(JSON.parse(none.text)).toEqual([]);
  });

  test("D-11.3, D-14.4 spreadsheet makes texts of names in the first line, too", async () => {
    const columns: TableEntry["columns"] = { k: { type: "text" }, sum: { type: "integer" } };
    const sums: TableEntry = { upsert_key: ["k"], import: { columns: { sum: "=1+1" } }, columns };
    const app = await startRunApp({ backend, tables: { sums } });
    expect((await app.ask("/export/sums")).text).toBe("k,=1+1\n");
    expect((await app.ask("/export/sums?spreadsheet=true")).text).toBe("k,'=1+1\n");
  });

  test("D-14.4 a character that the encoding of the table lacks is told: at first in a reply, later in the log", async () => {
    const columns: TableEntry["columns"] = { k: { type: "text" } };
    const stock: TableEntry = { upsert_key: ["k"], import: { encoding: "latin1" }, columns };
    const app = await startRunApp({ backend, tables: { stock } });
    await app.push("stock", { records: [{ k: "a" }, { k: "ł" }] });
    const { status, json } = await app.ask("/export/stock");
    expect([status, json["error"]]).toEqual([
      400,
      expect.stringContaining('The character "ł" cannot be written in latin1'),
    ]);
    expect((await app.ask("/export/stock?format=json")).status).toBe(200);
    const many = Array.from({ length: 600 }, (_, i) => ({ k: `b${i}` }));
    await app.push("stock", { records: many });
    const warned = spyOn(PinoLogger.prototype, "warn");
    const cut = await app.ask("/export/stock").catch(() => null);
    const [logged] = warned.mock.calls;
    warned.mockRestore();
    expect(cut).toBeNull();
    expect(logged).toEqual([
      "An export was cut off",
      { table: "stock", error: expect.stringContaining("cannot be written in latin1") },
    ]);
  });

  test("D-14.4 a session that ends meanwhile ends the file before its next batch", async () => {
    const app = await startRunApp({ backend });
    const connection = await beginLarge(app);
    connection.pause();
    await app.admin.send("/v1/sessions", { method: "DELETE" });
    connection.resume();
    const bytes = await connection.readToEnd();
    expect(bytes.length).toBeLessThan(30_000_000);
    expect(Buffer.from(bytes).subarray(-5).toString("latin1")).not.toBe("0\r\n\r\n");
  });
});

test.each(["takes nothing for a minute", "leaves"])(
  "D-14.4 the file of a reader that %s ends, and is noted with the rows that were read",
  async (how) => {
    const app = await startRunApp({ time: fastTime(100) });
    const connection = await beginLarge(app);
    if (how === "leaves") connection.close();
    else connection.pause();
    let counts: unknown = null;
    await pollUntil("the note of the export", async () => {
      const act = await lastAct(app);
      counts = act?.["counts"];
      return act?.["action"] === "rows.exported";
    });
    const { rows } = counts as { readonly rows: number };
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(1_600);
  },
);

test("D-14.4 what is asked wrongly is refused before the first byte", async () => {
  const app = await startRunApp();
  for (const query of [
    ...["format=xml", "since=soon", "spreadsheet=yes", "format=json&spreadsheet=true"],
  ]) {
    const { status, json } = await app.ask(`/export/notes?${query}`);
    expect([query, status, Object.keys(json)]).toEqual([query, 400, ["error"]]);
  }
  expect((await app.ask("/export/no_such_table")).status).toBe(400);
});
