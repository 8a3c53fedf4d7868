// What becomes of values between push and pull, on every store: compared as text, so that no digit can hide.
import { describe, expect, test } from "bun:test";
import { type Backend, onEveryBackend } from "../support/backends.ts";
import { type SyncApp, startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";

const { samples } = TABLES;

/** Pushes one value as JSON source text and returns its source text in the page, or the record's error. */
async function roundTrip(app: SyncApp, column: string, source: string): Promise<string> {
  const body = `{"records":[{"name":"v","required":"r","${column}":${source}}]}`;
  const { json } = await app.push("samples", body);
  const errors = json["errors"] as readonly string[] | undefined;
  if (errors !== undefined) return errors[0] ?? "";
  const { text } = await app.pull("samples");
  const columns = Object.keys(samples.columns);
  const next = columns[columns.indexOf(column) + 1];
  return text.slice(text.indexOf(`"${column}":`) + column.length + 3, text.indexOf(`,"${next}":`));
}

const LONG = "12345678901234567890.123456789012345678901234567890";

const ROUND_TRIPS: readonly (readonly [column: string, pushed: string, pulled: string])[] = [
  // S-4.2.8: numeric and big integer.
  ["a_numeric", '"1.10"', '"1.10"'],
  ["a_numeric", "1.10", '"1.10"'],
  ["a_numeric", LONG, `"${LONG}"`],
  ["a_numeric", `"-${LONG}"`, `"-${LONG}"`],
  ["a_numeric", "1e3", '"1000"'],
  ["a_numeric", "1e400", '"1e400"'],
  ["a_numeric", '"abc"', '"abc"'],
  ["a_numeric", '"NaN"', '"NaN"'],
  ["a_numeric", "true", "true"],
  ["a_numeric", '""', '""'],
  ["a_bigint", "12345678901234567890123", '"12345678901234567890123"'],
  ["a_bigint", '"9007199254740993"', '"9007199254740993"'],
  ["a_bigint", "9007199254740993", '"9007199254740993"'],
  ["a_bigint", "-0", '"0"'],
  // S-4.2.8: datetime and date.
  ["a_datetime", '"2026-03-01T10:00:00+02:00"', '"2026-03-01T08:00:00Z"'],
  ["a_datetime", '"2026-03-01 10:00"', '"2026-03-01T10:00:00Z"'],
  ["a_datetime", '"2026-03-01T10:00:00.123456789Z"', '"2026-03-01T10:00:00.123456Z"'],
  ["a_datetime", '"2026-03-01T10:00:00.5Z"', '"2026-03-01T10:00:00.500Z"'],
  ["a_datetime", '"2026-03-01"', '"2026-03-01T00:00:00Z"'],
  ["a_datetime", '"soon"', '"soon"'],
  ["a_datetime", "1767225600", "1767225600"],
  ["a_datetime", '"2026-02-30T00:00:00Z"', '"2026-02-30T00:00:00Z"'],
  ["a_date", '"2026-03-01T23:30:00-05:00"', '"2026-03-01"'],
  ["a_date", '"2026-03-01"', '"2026-03-01"'],
  ["a_date", '"1st of March"', '"1st of March"'],
  // S-4.2.8, D-3.3.8: boolean.
  ["a_boolean", '"TRUE"', "true"],
  ["a_boolean", '"1"', "true"],
  ["a_boolean", '"Yes"', "true"],
  ["a_boolean", '"on"', "false"],
  ["a_boolean", '""', "false"],
  ["a_boolean", '"0"', "false"],
  ["a_boolean", "0", "false"],
  ["a_boolean", "0.0", "false"],
  ["a_boolean", "-0", "false"],
  ["a_boolean", "1e400", "true"],
  ["a_boolean", "2", "true"],
  ["a_boolean", "[]", "false"],
  ["a_boolean", "{}", "false"],
  ["a_boolean", "[0]", "true"],
  // D-3.3.5: integer and real.
  ["an_integer", "9223372036854775807", "9223372036854775807"],
  ["an_integer", "-9223372036854775807", "-9223372036854775807"],
  ["an_integer", "9007199254740993", "9007199254740993"],
  ["an_integer", "1.0", "1"],
  ["an_integer", "1.5", "1.5"],
  ["an_integer", '"5"', '"5"'],
  [
    "an_integer",
    "9223372036854775808",
    "name=v: an_integer is beyond the range of an integer, ±(2^63-1)",
  ],
  ["an_integer", "1e400", "name=v: an_integer is beyond the range of an integer, ±(2^63-1)"],
  ["a_real", "0.1", "0.1"],
  ["a_real", "1e308", "1e+308"],
  ["a_real", "1e400", "1e400"],
  ["a_real", "0.10000000000000000001", "0.10000000000000000001"],
  ["a_real", "-0", "-0"],
  ["a_real", "-0.0", "-0"],
  ["a_real", "-0E5", "-0"],
  // D-3.3.6: json as it is.
  [
    "a_json",
    '{"b":1.10,"a":[9007199254740993,null,true,"é"]}',
    '{"b":1.10,"a":[9007199254740993,null,true,"é"]}',
  ],
  ["a_json", "[]", "[]"],
  ["a_json", '"text"', '"text"'],
  ["a_json", "0", "0"],
  ["a_json", "1e400", "1e400"],
  ["a_json", '{"":{"$gt":1,"a.b":2}}', '{"":{"$gt":1,"a.b":2}}'],
  ["a_json", '{"b":1,"10":2,"9":3,"b":4}', '{"9":3,"10":2,"b":4}'],
  // D-3.3: text as it is.
  ["a_text", '"\\u0000\\u001f\\ud83e\\udd8a"', '"\\u0000\\u001f🦊"'],
  ["a_text", "5", "5"],
  ["a_text", "1.10", "1.10"],
  ["a_text", "false", "false"],
  // D-3.3.11, D-3.3.12: what fails.
  ["a_text", '"\\ud800"', "name=v: a_text must not hold a lone surrogate"],
  ["a_text", '"\\udd8a\\ud83e"', "name=v: a_text must not hold a lone surrogate"],
  ["a_boolean", '"\\ud800"', "name=v: a_boolean must not hold a lone surrogate"],
  ["a_json", '["\\ud800"]', "name=v: a_json must not hold a lone surrogate"],
  ["a_json", '{"\\udfff":1}', "name=v: a_json must not hold a lone surrogate"],
  ["a_numeric", "[1]", "name=v: a_numeric must not be an object or an array"],
  ["a_datetime", "{}", "name=v: a_datetime must not be an object or an array"],
];

/** What columns of their own types cannot hold. D-12.1. */
const UNHELD: Readonly<Record<string, readonly string[]>> = {
  a_numeric: ['"abc"', "true", '""'],
  a_datetime: ['"soon"', "1767225600", '"2026-02-30T00:00:00Z"'],
  a_date: ['"1st of March"'],
  an_integer: ["1.5", '"5"'],
  a_real: ["1e400", "0.10000000000000000001"],
  a_text: ['"\\u0000\\u001f\\ud83e\\udd8a"', "5", "1.10", "false"],
};

/** The refusal of what a store cannot hold; null where it can. */
function refusalOf({ holds }: Backend, column: string, source: string): string | null {
  if (holds !== "own types" || !UNHELD[column]?.includes(source)) return null;
  const kind = { '"': "text", t: "boolean", f: "boolean" }[source[0] ?? ""] ?? "number";
  const { type } = samples.columns[column as keyof typeof samples.columns];
  const shown = source.replace(String.raw`\ud83e\udd8a`, "🦊");
  return `name=v: column "${column}" (${type}) cannot hold the ${kind} ${shown}`;
}

onEveryBackend("values of push()", (backend) => {
  test("S-4.2.8, D-3.3, D-12.1 push() and pull() keep values of every type as documented", async () => {
    const app = await startApp({ backend, tables: { samples } });
    for (const [column, pushed, pulled] of ROUND_TRIPS) {
      expect([column, pushed, await roundTrip(app, column, pushed)]).toEqual([
        column,
        pushed,
        refusalOf(backend, column, pushed) ?? pulled,
      ]);
      expect(await roundTrip(app, column, "null")).toBe("null");
    }
  });

  test("D-3.3 a row that was pulled comes back the same when it is pushed", async () => {
    const app = await startApp({ backend, tables: { samples } });
    const values = ROUND_TRIPS.filter(
      ([column, pushed, pulled]) =>
        !pulled.startsWith("name=") && refusalOf(backend, column, pushed) === null,
    );
    const records = values.map(
      ([column, pushed], i) => `{"name":"${i + 1000}","required":"r","${column}":${pushed}}`,
    );
    await app.push("samples", `{"records":[${records.join(",")}]}`);
    const first = await app.pull("samples");
    expect(first.json["total"]).toBe(values.length);
    const page = first.text.slice(first.text.indexOf('"records":'), -1);
    const again = await app.push("samples", `{${page}}`);
    expect(again.json["upserted"]).toBe(values.length);
    expect((await app.pull("samples")).text).toBe(first.text);
  });
});

describe("hostile values of push()", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

  test("D-3.3.6 push() keeps json of 500 levels and fails the record of 501", async () => {
    const app = await startApp();
    expect(await roundTrip(app, "a_json", nested(500))).toBe(nested(500));
    expect(await roundTrip(app, "a_json", nested(501))).toBe(
      "name=v: a_json must not be nested deeper than 500 levels",
    );
  });

  test.each([1_000, 10_000, 100_000, 1_000_000])(
    "S-7, D-3.5.14 push() answers a body nested %i levels without an error of ours",
    async (levels) => {
      const app = await startApp();
      const [open, close] = ['{"a":'.repeat(levels), "}".repeat(levels)];
      // 1.10 is read with its source text, by another way of the parser.
      const values = [nested(levels), `${open}1${close}`, `${open}1.10${close}`];
      values.push(nested(levels).replace("[]", "[1.10]"));
      for (const value of values) {
        const body = `{"records":[{"name":"deep","a":${value}},{"name":"b"}]}`;
        for (const reply of [await app.push("notes", body), await app.pushGzip("notes", body)]) {
          // Either all of it was understood, or the caller is told that it was not.
          const isWritten = reply.status === 200 && reply.json["upserted"] === 2;
          expect([isWritten ? 400 : reply.status, reply.json["type"]]).toEqual([400, undefined]);
        }
      }
    },
  );

  test("S-7 push() answers a number of a million digits without an error of ours", async () => {
    const app = await startApp();
    const digits = "9".repeat(1_000_000);
    for (const column of ["a_bigint", "a_numeric", "a_real", "a_json", "a_boolean", "an_integer"]) {
      const body = `{"records":[{"name":"v","required":"r","${column}":${digits}}]}`;
      expect((await app.push("samples", body)).status).toBe(200);
    }
    expect(await roundTrip(app, "a_bigint", digits)).toBe(`"${digits}"`);
  });
});
