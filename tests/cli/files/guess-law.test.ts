// The law of guessing: an import by the registry that a guess made of the same file fails only rows that the guess named.
import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { GuessWishes } from "../../../src/domain/sync/guess/table-guess.ts";
import { COLUMN_TYPES, type ColumnType } from "../../../src/domain/sync/table/column-types.ts";
import type { ImportEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import { tryFile } from "../support/try-file.ts";

setDefaultTimeout(120_000);

const NAMES = ["updated_at", "seen_at", "is_new", "größe", "v", "qty", "数"];

/** Values of one kind, as they stand in a field. */
const ofOneKind = fc.constantFrom(
  fc.integer().map(String),
  fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom("1.234,50", "0,5", "-1.000", "12", "1.5"),
  fc.constantFrom("24.11.2025", "1.2.2025", "2025-11-24", "24.11.2025 10:00"),
  fc.constantFrom("1767225600", "1767225601", "2026-01-01T00:00:00Z"),
  fc.constantFrom("1767225600123", "12"),
  fc.constantFrom("1767225600", "1767225600123", "1767225601123"),
  fc.constantFrom("yes", "no", "TRUE", "f", "1", "0"),
  fc.constantFrom("2026-01-31", "2026-01-31 10:00", "2026-02-30"),
  fc.constantFrom("{}", "[1]", '{"a":1.0}', "5", "x", String.raw`["\ud800"]`),
  fc.constantFrom('\\"a"', "\\5", "\\{}", "\\x", "\\null", "\\", String.raw`\"\ud800"`),
  fc.string(),
);
const noise = fc.constantFrom(
  "",
  "n/a",
  "soon",
  "007",
  "+5",
  ".5",
  "1e400",
  "1e9999999999999",
  "{}",
  "0000-01-01",
);
const column = ofOneKind.chain((one) =>
  fc.array(fc.oneof({ weight: 8, arbitrary: one }, { weight: 1, arbitrary: noise }), {
    minLength: 1,
    maxLength: 8,
  }),
);
const files = fc.constantFrom<ImportEntry>(
  {},
  { decimal: "," },
  { decimal: ".", delimiter: ";" },
  { date_format: "D.M.YYYY HH:mm" },
  { decimal: ",", date_format: "DD.MM.YYYY" },
);

const csvField = (text: string) => `"${text.replaceAll('"', '""')}"`;

interface Made {
  readonly name: string;
  readonly data: string;
  readonly wishes: Partial<GuessWishes>;
}

const named = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 });
const asked = fc.option(fc.tuple(fc.nat(2), fc.constantFrom(...COLUMN_TYPES)), { nil: null });

const csvFile = fc
  .record({ names: named, columns: fc.array(column, { minLength: 3, maxLength: 3 }), asked, files })
  .map(({ names, columns, asked, files }): Made => {
    const delimiter = files.delimiter ?? ",";
    const rows = Math.max(...columns.map(({ length }) => length));
    const lines = Array.from({ length: rows }, (_, i) =>
      [String(i + 1), ...names.map((_, c) => columns[c]?.[i] ?? "")].map(csvField).join(delimiter),
    );
    const data = `${["id", ...names].map(csvField).join(delimiter)}\n${lines.join("\n")}\n`;
    return { name: "made.csv", data, wishes: wishesOf(names, asked, { delimiter, ...files }) };
  });

const jsonFile = fc
  .record({
    names: named,
    rows: fc.array(
      fc.array(
        fc.oneof(
          fc.jsonValue({ maxDepth: 1 }),
          fc.constantFrom<unknown>("\ud800", ["\udfff"], { "\ud800": 1 }),
          fc.constantFrom<unknown>(...["1.50", "2026-01-31", true, 7, null, 1767225600, 0, "yes"]),
          fc.constantFrom<unknown>("5", "0.5", "{}", 1767225600123, 2 ** 70, 1e300),
        ),
        { minLength: 3, maxLength: 3 },
      ),
      { minLength: 1, maxLength: 6 },
    ),
    asked,
  })
  .map(({ names, rows, asked }): Made => {
    const records = rows.map((values, i) =>
      Object.fromEntries([["id", i + 1], ...names.map((name, c) => [name, values[c]])]),
    );
    const data = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    return { name: "made.ndjson", data, wishes: wishesOf(names, asked, {}) };
  });

function wishesOf(
  names: readonly string[],
  asked: readonly [number, ColumnType] | null,
  files: ImportEntry,
): Partial<GuessWishes> {
  const name = asked === null ? undefined : names[asked[0]];
  const types = name === undefined || asked === null ? [] : [[name, asked[1]] as const];
  return { key: ["id"], types: new Map(types), files };
}

test("D-14.1 an import by the registry that infer made of a file fails only rows that infer named", async () => {
  const folder = makeTempFolder();
  const property = fc.asyncProperty(fc.oneof(csvFile, jsonFile), async (made) => {
    const { guess, counts, failures } = await tryFile(folder, made, true);
    expect(counts.read).toBe(guess.records);
    const misfits = new Map(guess.columns.map(({ name, misfits }) => [name, misfits]));
    for (const { column, line, message } of failures) {
      const named = misfits.get(column ?? "") ?? null;
      if (named === null) throw new Error(`${message} in line ${line} was not named`);
      expect(line).toBeGreaterThanOrEqual(named.line);
    }
    for (const [name, named] of misfits) {
      const failed = failures.filter(({ column }) => column === name).length;
      // Types that are asked for are judged by the import itself.
      if (made.wishes.types?.has(name) === true) expect(failed).toBe(named?.count ?? 0);
      expect(failed).toBeLessThanOrEqual(named?.count ?? 0);
    }
  });
  await checkAsyncProperty(property, 400);
});
