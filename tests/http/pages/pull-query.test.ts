// Which rows a pull answers, in which order, on every store.
import { describe, expect, test } from "bun:test";
import { onEveryBackend } from "../support/backends.ts";
import { type JsonFields, type SyncApp, startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";

const { versions, notes, days, listings } = TABLES;
/** Of a page when the query names no number. */
const DEFAULT_ROWS = 1000;

/** Names of a page's records. */
async function namesOf(app: SyncApp, tableName: string, query = ""): Promise<unknown[]> {
  return (await app.records(tableName, query)).map((record) => record["name"]);
}

/** The fields of a page that say which page it is, `has_more` and `next_offset` last. */
function frame({ count, total, offset, limit, has_more, next_offset }: JsonFields): unknown[] {
  return [count, total, offset, limit, has_more, next_offset];
}

onEveryBackend("pull()", (backend) => {
  async function startWithVersions(records: readonly (readonly [string, string | null])[]) {
    const app = await startApp({ backend, tables: { versions } });
    const pushed = records.map(([name, at]) => ({ name, at }));
    await app.push("versions", { records: pushed });
    return app;
  }

  test("S-4.1.2, D-3.1 pull() orders by timestamp, then by key", async () => {
    const app = await startWithVersions([
      ["c", "2026-01-02T00:00:00Z"],
      ["a", "2026-01-02T00:00:00Z"],
      ["b", "2026-01-01T23:59:59.999999Z"],
      ["d", "2026-01-02T00:00:00.000001Z"],
      ["e", "2026-01-02T05:00:00+05:30"],
    ]);
    expect(await namesOf(app, "versions")).toEqual(["e", "b", "a", "c", "d"]);
  });

  test("D-3.1.2, D-3.1.3 pull() puts null and unparseable timestamps first", async () => {
    const app = await startWithVersions([
      ["a", "0001-01-01"],
      ["b", null],
      ["d", "yesterday"],
      ["c", ""],
    ]);
    const withoutTime = backend.holds === "own types" ? ["b"] : ["b", "c", "d"];
    expect(await namesOf(app, "versions")).toEqual([...withoutTime, "a"]);
    expect(await namesOf(app, "versions", "?since=0001-01-01")).toEqual(["a"]);
  });

  test("D-3.1, D-3.1.1 pull() orders tables without a timestamp by the bytes of the key", async () => {
    const app = await startApp({ backend, tables: { notes } });
    const names = ["b", "B", "a", "é", "z", "ab", "", " ", "10", "9", "\u{ffff}", "🦊"];
    if (backend.holds === undefined) names.push("a\u0000");
    await app.push("notes", { records: names.map((name) => ({ name })) });
    const sorted = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(sorted.slice(0, 5)).toEqual(["", " ", "10", "9", "B"]);
    expect(sorted.at(-1)).toBe("🦊");
    expect(await namesOf(app, "notes")).toEqual(sorted);
  });

  test("D-3.1.1 pull() orders numbers by value, and several key columns in their order", async () => {
    const app = await startApp({ backend, tables: { days, listings } });
    const ids = ["-9223372036854775807", "-2", "0", "9", "10", "9007199254740993"];
    await app.push("days", { records: ids.toReversed().map((id) => ({ id, day: "2026-01-01" })) });
    expect((await app.records("days")).map(({ id }) => id)).toEqual(ids);
    const keys = [
      ["a", "b"],
      ["a", "c"],
      ["aa", "a"],
      ["b", "a"],
    ];
    await app.push("listings", {
      records: keys.toReversed().map(([shop, sku]) => ({ shop, sku })),
    });
    expect((await app.records("listings")).map(({ shop, sku }) => [shop, sku])).toEqual(keys);
  });

  test("S-4.1, S-1.6 pull() with since answers what is at or after it", async () => {
    const app = await startWithVersions([
      ["a", "2026-03-01T09:59:59.999999Z"],
      ["b", "2026-03-01T10:00:00Z"],
      ["c", "2026-03-01T10:00:00.000001Z"],
      ["n", null],
    ]);
    const { json } = await app.pull("versions", "?since=2026-03-01T10:00:00Z");
    expect(frame(json)).toEqual([2, 2, 0, DEFAULT_ROWS, false, null]);
    expect(await namesOf(app, "versions", "?since=2026-03-01T10:00:00.000001Z")).toEqual(["c"]);
    expect(await namesOf(app, "versions", "?since=2026-03-01T10:00:00.000002Z")).toEqual([]);
    expect(await namesOf(app, "versions", "?since=2026-03-01T10:00:00Z&limit=1")).toEqual(["b"]);
    expect(await namesOf(app, "versions", "?since=2026-03-01T10:00:00Z&offset=1")).toEqual(["c"]);
  });

  test("D-3.2.4, D-3.2.5 pull() reads since in every form of ISO 8601 the document names", async () => {
    const app = await startWithVersions([
      ["a", "2026-03-01T09:59:59Z"],
      ["b", "2026-03-01T10:00:00Z"],
    ]);
    const forms = ["2026-03-01T10:00:00Z", "2026-03-01%2010:00:00", "2026-03-01T10:00"];
    forms.push("2026-03-01T12:00:00%2B02:00", "2026-03-01T12:00:00+02:00", "2026-03-01T12:00+0200");
    forms.push("2026-03-01T04:30:00-05:30", "2026-03-01+10:00:00.000000000", "2026-03-01%2B10:00");
    for (const form of forms) {
      const reply = await app.pull("versions", `?since=${form}`);
      expect([form, reply.json["total"]]).toEqual([form, form.endsWith("%2B10:00") ? 2 : 1]);
    }
    expect(await namesOf(app, "versions", "?since=2026-03-02")).toEqual([]);
    expect(await namesOf(app, "versions", "?since=2026-03-01")).toEqual(["a", "b"]);
  });

  test("S-4.1, D-3.2.2 pull() ignores a since that is empty or cannot be parsed", async () => {
    const app = await startWithVersions([
      ["a", "2026-03-01T09:59:59Z"],
      ["n", null],
    ]);
    for (const since of [
      "",
      "yesterday",
      "2026-13-01",
      "2026-02-30",
      "1767225600",
      "null",
      "%00",
    ]) {
      const reply = await app.pull("versions", `?since=${since}`);
      expect([since, reply.status, reply.json["total"]]).toEqual([since, 200, 2]);
    }
  });

  test("S-4.1 pull() ignores since for a table without timestamps", async () => {
    const app = await startApp({ backend, tables: { notes } });
    await app.push("notes", { records: [{ name: "a" }] });
    const { json } = await app.pull("notes", "?since=2999-01-01");
    expect([json["since"], json["total"]]).toEqual(["2999-01-01", 1]);
  });

  test("S-4.1 pull() compares since with a date column", async () => {
    const app = await startApp({ backend, tables: { days } });
    const records = ["2026-01-01", "2026-01-02"].map((day, id) => ({ id, day }));
    await app.push("days", { records });
    const total = async (since: string) =>
      (await app.pull("days", `?since=${since}`)).json["total"];
    expect(await total("2026-01-02")).toBe(1);
    expect(await total("2026-01-02T00:00:00Z")).toBe(1);
    expect(await total("2026-01-02T00:00:01Z")).toBe(0);
    expect(await total("2026-01-01T12:00:00Z")).toBe(1);
  });

  test("S-1.1, S-2.2, D-3.4 pull() pages through a table without loss or repetition", async () => {
    const app = await startApp({ backend, tables: { versions } });
    const records = Array.from({ length: 25 }, (_, i) => ({
      name: `n${String(i).padStart(2, "0")}`,
      at: i % 3 === 0 ? null : `2026-01-01T00:00:0${i % 5}Z`,
    }));
    await app.push("versions", { records });
    const whole = await namesOf(app, "versions");
    expect(whole.toSorted()).toEqual(records.map(({ name }) => name));
    const seen: unknown[] = [];
    let offset: unknown = 0;
    const frames: unknown[] = [];
    while (offset !== null) {
      const { json } = await app.pull("versions", `?limit=10&offset=${offset}`);
      frames.push(frame(json));
      seen.push(...(json["records"] as JsonFields[]).map(({ name }) => name));
      offset = json["next_offset"];
    }
    expect(seen).toEqual(whole);
    expect(frames).toEqual([
      [10, 25, 0, 10, true, 10],
      [10, 25, 10, 10, true, 20],
      [5, 25, 20, 10, false, null],
    ]);
  });

  test("S-2.2 pull() says has_more only when rows come after the page", async () => {
    const app = await startApp({ backend, tables: { notes } });
    await app.push("notes", { records: [{ name: "a" }, { name: "b" }] });
    const of = async (query: string) => frame((await app.pull("notes", query)).json);
    expect(await of("?limit=2")).toEqual([2, 2, 0, 2, false, null]);
    expect(await of("?limit=1")).toEqual([1, 2, 0, 1, true, 1]);
    expect(await of("?limit=1&offset=1")).toEqual([1, 2, 1, 1, false, null]);
    expect(await of("?limit=1&offset=2")).toEqual([0, 2, 2, 1, false, null]);
    const beyond = "?limit=5&offset=99999999999999999999";
    expect(await of(beyond)).toEqual([0, 2, 9_007_199_254_740_991, 5, false, null]);
  });

  test("D-2.2.5 pull() leaves out columns with serialize: false", async () => {
    const app = await startApp({ backend, tables: { listings } });
    await app.push("listings", { records: [{ shop: "s", sku: "1", secret: "hidden" }] });
    const { text } = await app.pull("listings");
    expect(text).toEndWith(
      '"records":[{"id":1,"shop":"s","sku":"1","price":null,"views":null,"active":null,"listed_on":null,"updated_at":null,"extra":null}]}',
    );
  });
});

describe("the query of pull()", () => {
  const frameOf = async (app: SyncApp, query: string) => {
    const { json } = await app.pull("notes", query);
    return [json["offset"], json["limit"]];
  };

  test.each([
    ["", [0, DEFAULT_ROWS]],
    ["?offset=3&limit=4", [3, 4]],
    ["?offset=%2B3&limit=%2B4", [3, 4]],
    ["?offset=+3&limit=+4", [0, DEFAULT_ROWS]],
    ["?offset=abc&limit=ten", [0, DEFAULT_ROWS]],
    ["?offset=&limit=", [0, DEFAULT_ROWS]],
    ["?offset&limit", [0, DEFAULT_ROWS]],
    ["?offset=%201&limit=1%20", [0, DEFAULT_ROWS]],
    ["?offset=１&limit=２", [0, DEFAULT_ROWS]],
    ["?offset=1&offset=2&limit=3&limit=4", [1, 3]],
    ["?OFFSET=1&Limit=2", [0, DEFAULT_ROWS]],
    ["?offset[]=1&limit[$gt]=2", [0, DEFAULT_ROWS]],
    ["?%6fffset=1&limit=%32", [1, 2]],
    ["?;offset=1&&limit=2&", [0, 2]],
    ["?offset=%zz&limit=%ff", [0, DEFAULT_ROWS]],
  ] as const)(
    "S-4.1, D-3.2, D-3.2.1 pull() reads %p as offset and limit %p",
    async (query, expected) => {
      expect(await frameOf(await startApp(), query)).toEqual([...expected]);
    },
  );

  test("S-8.3, S-8.4 pull() answers 1000 rows by default and at most 5000", async () => {
    const app = await startApp();
    const records = Array.from({ length: 5001 }, (_, i) => ({ name: String(i) }));
    await app.pushGzip("notes", JSON.stringify({ records }));
    const frameOfPage = async (query: string) => frame((await app.pull("notes", query)).json);
    expect(await frameOfPage("")).toEqual([1000, 5001, 0, 1000, true, 1000]);
    expect(await frameOfPage("?limit=5001")).toEqual([5000, 5001, 0, 5000, true, 5000]);
  });

  test("S-8.4, D-1.3.5 SYNC_MAX_BATCH_SIZE caps the page, the default one too", async () => {
    const app = await startApp({ env: { SYNC_MAX_BATCH_SIZE: "3" } });
    expect(await frameOf(app, "")).toEqual([0, 3]);
    expect(await frameOf(app, "?limit=2")).toEqual([0, 2]);
    expect(await frameOf(app, "?limit=4")).toEqual([0, 3]);
    expect(await frameOf(app, "?limit=0")).toEqual([0, 3]);
    const large = await startApp({ env: { SYNC_MAX_BATCH_SIZE: "100000" } });
    expect(await frameOf(large, "?limit=60000")).toEqual([0, 60_000]);
    expect(await frameOf(large, "")).toEqual([0, DEFAULT_ROWS]);
  });

  test.each([
    ["", null],
    ["?since=", ""],
    ["?since", ""],
    ["?since=2026-01-01", "2026-01-01"],
    ["?since=2026-01-01T00:00:00%2B02:00", "2026-01-01T00:00:00+02:00"],
    ["?since=2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00 02:00"],
    ["?since=%20a+b%26c%3D%25&limit=1", " a b&c=%"],
    ["?since=%C3%A9%F0%9F%A6%8A", "é🦊"],
    ["?since=a&since=b", "a"],
    ["?since=a%00b", "a\u0000b"],
    ["?since=%zz%4", "%zz%4"],
    ["?since=%3Cscript%3E", "<script>"],
  ])("D-3.2.3 pull() echoes since of %p as %p", async (query, expected) => {
    const app = await startApp();
    expect((await app.pull("versions", query)).json["since"]).toBe(expected);
  });
});
