// Tables that are guessed from files over HTTP. D-14.4.
import { expect, test } from "bun:test";
import { fileFormats } from "../../../src/app/files.ts";
import { NO_WISHES } from "../../../src/domain/sync/guess/table-guess.ts";
import type { FileFormat } from "../../../src/ports/files.ts";
import { Turns } from "../../../src/ports/runtime/turns.ts";
import { guessFile } from "../../../src/usecases/sync/files/guess-file.ts";
import { HurriedClock } from "../../support/time/fake-clock.ts";
import type { RequestOptions } from "../support/sync-app.ts";
import { startRunApp } from "../sync-runs/support/run-apps.ts";

function fileOf(body: string, type = "text/csv"): RequestOptions {
  return { method: "POST", headers: { "Content-Type": type }, body };
}

test("D-14.4.3 a guess tells what the registry needs, and why", async () => {
  const app = await startRunApp();
  const csv = "sku;price;updated_at\na1;1,50;2026-01-01T00:00:00Z\na2;2,75;2026-01-02T00:00:00Z\n";
  const { json } = await app.ask("/infer?name=prices&decimal=,&type=sku=text", fileOf(csv));
  expect(json).toMatchObject({
    ...{ table: "prices", records: 2, key: { columns: ["sku"] } },
    entry: {
      upsert_key: ["sku"],
      timestamp_column: "updated_at",
      columns: { price: { type: "numeric" } },
      import: { delimiter: ";", decimal: "," },
    },
  });
  expect(json["columns"]).toContainEqual({
    ...{ name: "sku", type: "text", problems: [], reason: expect.any(String) },
  });
  const dated = await app.ask("/infer?name=p", fileOf("id,day\n1,24.11.2025\n2,25.11.2025\n"));
  expect((dated.json["columns"] as object[])[1]).toMatchObject({
    reason: `dates such as "24.11.2025": name the date format 'DD.MM.YYYY'`,
  });
  const other = await app.ask("/infer?name=p&key=sku,price&timestamp=none", fileOf(csv));
  expect(other.json).toMatchObject({ key: { columns: ["sku", "price"] } });
  const twice = await app.ask("/infer?name=p", fileOf('[{"a":1},{"a":1}]', "application/json"));
  expect(twice.json).toMatchObject({
    ...{ entry: null, key: null, records: 2 },
    warnings: ["No columns identify a row: name the key, or number the rows"],
  });
  const numbers = await app.ask("/infer?name=p", fileOf('[{"a":1.5},{"a":2}]', "application/json"));
  expect((numbers.json["warnings"] as string[])[0]).toBe(
    "a tells rows apart, but no key may be numeric: try the type a=text and the key a",
  );
  const damaged = '{"id":1,"":1,"n":1}\n{"id":\n{"id":2,"n":"x"}\n';
  const part = await app.ask(
    "/infer?name=p&type=n=integer",
    fileOf(damaged, "application/x-ndjson"),
  );
  expect(part.json).toMatchObject({
    warnings: [
      'Left out, as no column can have the name: ""',
      "Left out: 1 that cannot be read; line 2 is not JSON",
    ],
  });
  expect((part.json["columns"] as object[])[1]).toMatchObject({
    problems: ['1 of its values, the first "x" in line 3'],
  });
});

test("D-14.4.3 what no table can be guessed from is 400", async () => {
  const app = await startRunApp();
  for (const [query, file] of [
    ["name=a-b", fileOf("a\n1\n")],
    ["", fileOf("a\n1\n")],
    ["name=t&type=a", fileOf("a\n1\n")],
    ["name=t&key=none_such", fileOf("a\n1\n")],
    ["name=t&decimal=x", fileOf("a\n1\n")],
    ["name=t", fileOf("")],
    ["name=t", fileOf("a\n", "text/plain")],
    ["name=t", fileOf("{", "application/json")],
  ] as const) {
    const { status, json } = await app.ask(`/infer?${query}`, file);
    expect([query, status, Object.keys(json)]).toEqual([query, 400, ["error"]]);
  }
});

test.each<[FileFormat, string]>([
  ["csv", `a,b\n${"1,xx\n2,yy\n".repeat(3)}3,z${"z".repeat(50)}\n`],
  ["ndjson", `${'{"a":1}\n{"a":2}\n'.repeat(3)}{"a":3,"b":"${"z".repeat(50)}"}\n`],
  ["json", `[${'{"a":1},{"a":2},'.repeat(3)}{"a":3,"b":"${"z".repeat(50)}"}]`],
])(
  "D-14.4.3 of a longer file in %s only whole records are looked at, and that is said",
  async (format, text) => {
    async function* bytes() {
      for (const letter of text) yield Buffer.from(letter);
    }
    const turns = new Turns(new HurriedClock(), async () => {});
    const file = { name: "t", format, bytes: bytes(), wishes: NO_WISHES, turns };
    const { records, unread, warnings } = await guessFile(fileFormats, file, text.length - 20);
    expect([records, unread]).toEqual([6, 0]);
    expect(warnings.join()).toContain(`Only the first ${text.length - 20} bytes`);
  },
);

test("D-11.1 others have turns while records are read, and while a key is looked for", async () => {
  async function* bytes() {
    yield Buffer.from(`a,b\n${"1,2\n".repeat(3_000)}`);
  }
  let pauses = 0;
  const turns = new Turns(new HurriedClock(), async () => {
    pauses++;
  });
  const file = { name: "t", format: "csv", bytes: bytes(), wishes: NO_WISHES, turns } as const;
  expect((await guessFile(fileFormats, file)).records).toBe(3_000);
  expect(pauses).toBeGreaterThan(3_000);
});
