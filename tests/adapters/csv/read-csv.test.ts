// Reading CSV in blocks, against csv-parse over the whole text.
import { expect, test } from "bun:test";
import { CsvError, parse } from "csv-parse/sync";
import fc from "fast-check";
import { readCsv } from "../../../src/adapters/csv/csv-files.ts";
import { findDelimiter } from "../../../src/adapters/csv/delimiters.ts";
import { fileFormats } from "../../../src/app/files.ts";
import { chunksOf, readAll } from "../../cli/support/read-file-text.ts";
import { checkAsyncProperty } from "../../support/seed.ts";

/** The records of a text without a header, and whether it is CSV to its end. */
function model(text: string, delimiter: string) {
  const records: (string | null)[][] = [];
  try {
    parse(text, {
      ...{ delimiter, record_delimiter: ["\r\n", "\n", "\r"] },
      cast: (field, { quoting }) => (field === "" && !quoting ? null : field),
      ...{ relax_column_count: true, skip_empty_lines: true },
      on_record: (record: (string | null)[]) => {
        records.push(record);
        return null;
      },
    });
    return { records, isWhole: true };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { records, isWhole: false };
  }
}

/** What is read below a header of two columns: fields of a record, or null for one with another number of them. */
async function read(text: string, delimiter: string, chars: number) {
  const chunks = chunksOf(`x${delimiter}y\n${text}`, chars);
  const { found, problem } = await readAll(
    readCsv(chunks, { delimiter, header: null, path: null }),
  );
  const records = found.map(({ record }) =>
    record === null ? null : Object.values(record as Record<string, string | null>),
  );
  return { records, isWhole: problem === null };
}

const piece = fc.constantFrom(
  "a",
  "b",
  ",",
  ";",
  '"',
  '""',
  "\n",
  "\r\n",
  "\r",
  '"a,b"',
  '"\n"',
  ",x\n",
);

test("D-4.12 in pieces of any length CSV is read as csv-parse reads it whole", async () => {
  const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
  const delimiter = fc.constantFrom(",", ";");
  const property = fc.asyncProperty(
    text,
    delimiter,
    fc.integer({ min: 1, max: 20 }),
    async (all, mark, chars) => {
      const expected = model(all, mark);
      const records = expected.records.map((fields) => (fields.length === 2 ? fields : null));
      expect(await read(all, mark, chars)).toEqual({ ...expected, records });
    },
  );
  await checkAsyncProperty(property, 3_000);
});

test("D-4.12 the lines of records are those of the file", async () => {
  const text = 'x,y\n1,2\n\n"3\n3",4\r\n5,"6"\n"7",8\r9,10\n';
  for (const chars of [1, 3, 1_000]) {
    const { found } = await readAll(
      readCsv(chunksOf(text, chars), { delimiter: ",", header: null, path: null }),
    );
    expect(found.map(({ line }) => line)).toEqual([2, 4, 6, 7, 8]);
  }
});

test.each(["\n", "\r\n", "\r"])(
  "D-14.1 Excel's line sep=; ends in %j: it names the delimiter and is no header",
  async (end) => {
    const text = ["sep=;", "id;name", "1;a,b", "2"].join(end);
    for (const chars of [1, 3, 5, 6, 7, 100]) {
      expect(await findDelimiter(chunksOf(text, chars))).toBe(";");
      const options = { delimiter: ",", header: null, path: null };
      const { found } = await readAll(readCsv(chunksOf(text, chars), options));
      expect(found).toMatchObject([
        { line: 3, record: { id: "1", name: "a,b" } },
        { line: 4, problem: "has 1 field where the header names 2" },
      ]);
    }
  },
);

test.each([
  ["csv", 'x,y\n1,"', "Line 2: a record is too long: is it the right format?"],
  ["ndjson", '{}\n{"x":"', "Line 2 begins a record longer than 64 Mi characters"],
  ["json", '[{},\n{"x":"', "Line 2 begins a record longer than 64 Mi characters"],
] as const)(
  "D-4.12.6 a record of %s that does not end is read no further than 64 Mi characters",
  async (format, head, told) => {
    let chunks = 0;
    async function* endless() {
      yield head;
      for (const chunk = "x".repeat(16 * 1024 * 1024); ; chunks++) yield chunk;
    }
    const options = { delimiter: ",", header: null, path: null };
    const { problem } = await readAll(fileFormats.read(format, endless(), options));
    expect(problem).toStartWith(told);
    expect(chunks).toBe(3);
  },
);
