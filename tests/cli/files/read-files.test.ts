// What the three formats are read as, whatever the pieces they arrive in.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FileFormat } from "../../../src/ports/files.ts";
import type { CsvHeader } from "../../../src/usecases/sync/files/file-records.ts";
import { LISTINGS, makeTable } from "../../support/rows/make-table.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import { readAll, recordsOf } from "../support/read-file-text.ts";

const TABLE = makeTable(LISTINGS);
const EVERY_COLUMN = "shop,sku,price,views,active,listed_on,updated_at,extra";

async function read(format: FileFormat, text: string, chunkChars?: number) {
  const options = { table: TABLE, text, ...(chunkChars === undefined ? {} : { chunkChars }) };
  const { found, problem } = await readAll(recordsOf(format, options));
  const records = found.map(({ line, record, problem }) => [
    line,
    problem ?? JSON.stringify(record),
  ]);
  return { records, problem };
}

describe("NDJSON files", () => {
  test("D-4.12 each line is a record, blank ones are not, with any line ends", async () => {
    const text = '{"a":1}\r\n\r\n  {"a":"x\u2028\u0085y"}\n\n[1]\nnull\n{"a":2}';
    expect(await read("ndjson", text)).toEqual({
      records: [
        [1, '{"a":1}'],
        [3, '{"a":"x\u2028\u0085y"}'],
        [5, "[1]"],
        [6, "null"],
        [7, '{"a":2}'],
      ],
      problem: null,
    });
  });

  test("D-4.12 a line that is no JSON is a failed record of its line, and the next ones are read", async () => {
    const { records } = await read("ndjson", '{"a":1}\n{"a":1,}\n{"a":\n{"b":2}\n');
    expect(records).toEqual([
      [1, '{"a":1}'],
      [2, "is not JSON"],
      [3, "is not JSON"],
      [4, '{"b":2}'],
    ]);
  });

  test("D-4.12 no digit of a number is lost", async () => {
    const text = '{"a":12345678901234567890.10,"b":1e400}';
    expect((await read("ndjson", text)).records).toEqual([[1, text]]);
  });
});

describe("JSON files", () => {
  test("D-4.12 each element of the array is a record of the line on which it begins", async () => {
    const text = '\n[ {"a": "]},[\\"{"},\n\n{"b": [1, {"c": []}]} , 5,\n"x,\\\\" ]\n\n';
    expect(await read("json", text)).toEqual({
      records: [
        [2, '{"a":"]},[\\"{"}'],
        [4, '{"b":[1,{"c":[]}]}'],
        [4, "5"],
        [5, '"x,\\\\"'],
      ],
      problem: null,
    });
  });

  test.each(["[]", " [ ] ", "[\n]\n"])("D-4.12 %p has no records", async (text) => {
    expect(await read("json", text)).toEqual({ records: [], problem: null });
  });

  test("D-4.12 an element that is no JSON is a failed record, and the next ones are read", async () => {
    expect((await read("json", "[{a:1},\n{]},\n1 2, {}]")).records).toEqual([
      [1, "is not JSON"],
      [2, "is not JSON"],
      [3, "is not JSON"],
      [3, "{}"],
    ]);
  });

  test.each([
    ["", "Line 1: a JSON file must hold one array"],
    ['\n{"a":1}', "Line 2: a JSON file must hold one array"],
    ["[1,\n2", "Line 2: the file ends inside the JSON array"],
    ['["a', "Line 1: the file ends inside the JSON array"],
    ["[1]\n[2]", "Line 2: there is more after the JSON document"],
    ["[1,,2]", "Line 1: the JSON array lacks a value before this place"],
    ["[1,\n]", "Line 2: the JSON array lacks a value before this place"],
    ["[,1]", "Line 1: the JSON array lacks a value before this place"],
  ])("D-4.12 %p is refused: %s", async (text, problem) => {
    expect((await read("json", text)).problem).toStartWith(problem);
  });

  test("D-4.12 what stands before the place that cannot be read is read", async () => {
    const { records } = await read("json", '[{"a":1}, {"a":2}, {"a":');
    expect(records).toEqual([
      [1, '{"a":1}'],
      [1, '{"a":2}'],
    ]);
  });

  test.each([
    ['{"of":[{"a":1}]}\n{"of":[{"a":2}]}', "Line 2: there is more after the JSON document"],
    ['{"of":[{"a":1}]} ]', "Line 1: there is more after the JSON document"],
    ['{"of":[{"a":1}],\n"of":[{"a":2}]}', 'Line 2: there is a second array at "of"'],
    ['{"of":[{"a":1}],"to":{"of":[2]},"list":[{"of":[3]}]}', null],
  ])("D-14.1 of %p all is read, or told: %s", async (text, problem) => {
    const table = { ...TABLE, files: { ...TABLE.files, path: "of" } };
    for (const chunkChars of [1, 7, 1_000]) {
      const read = await readAll(recordsOf("json", { table, text, chunkChars }));
      expect(read.found.map(({ record }) => record)).toEqual([{ a: 1 }]);
      expect(read.problem).toBe(problem);
    }
  });

  test("D-4.12 any array is read as the parser reads it, in pieces of any length", async () => {
    const json = fc.array(fc.jsonValue(), { maxLength: 6 });
    const format = fc.constantFrom(undefined, 1, "\t");
    const property = fc.asyncProperty(json, format, fc.nat(9), async (values, indent, length) => {
      const text = JSON.stringify(values, null, indent);
      const { records, problem } = await read("json", text, length + 1);
      expect(problem).toBeNull();
      expect(records.map(([, record]) => record)).toEqual(
        values.map((value) => JSON.stringify(JSON.parse(JSON.stringify(value)))),
      );
    });
    await checkAsyncProperty(property, 300);
  });
});

describe("CSV files", () => {
  test("D-4.12 fields become the values of their columns' types", async () => {
    const row = `a,"b ""c"", d",1.10,+5,TRUE,2024-02-03,2024-02-03 04:05,"{""n"": 1.0}"`;
    const { records, problem } = await read("csv", `${EVERY_COLUMN}\n${row}\n`);
    expect(problem).toBeNull();
    expect(records).toEqual([
      [
        2,
        '{"shop":"a","sku":"b \\"c\\", d","price":"1.10","views":"+5","active":"TRUE",' +
          '"listed_on":"2024-02-03","updated_at":"2024-02-03 04:05","extra":{"n":1.0}}',
      ],
    ]);
  });

  test("D-4.12, D-4.12.7 an empty field is null; a quoted one is the empty text, and null where no text belongs", async () => {
    const text = `${EVERY_COLUMN},secret\na,"","","","","","","",""\n,b,,,,,,,\n`;
    const empty = '"price":null,"views":null,"active":null,"listed_on":null,"updated_at":null';
    expect((await read("csv", text)).records).toEqual([
      [2, `{"shop":"a","sku":"",${empty},"extra":null,"secret":""}`],
      [3, `{"shop":null,"sku":"b",${empty},"extra":null,"secret":null}`],
    ]);
  });

  test("D-4.12 any line ends, blank lines, and line ends inside of quotes count as lines", async () => {
    const text = 'shop,sku\r\na,"1\n2"\r\n\r\nb,3\nc,"4\r\n5"\rd,6';
    expect((await read("csv", text)).records).toEqual([
      [2, '{"shop":"a","sku":"1\\n2"}'],
      [5, '{"shop":"b","sku":"3"}'],
      [6, '{"shop":"c","sku":"4\\r\\n5"}'],
      [8, '{"shop":"d","sku":"6"}'],
    ]);
  });

  test("D-4.12, D-4.12.7 a field that begins with a backslash is JSON text, when it is some", async () => {
    const text = 'shop,sku,views\n\\5,\\x,\\true\n"\\""\\\\n""",\\,"\\"""""\n';
    expect((await read("csv", text)).records).toEqual([
      [2, '{"shop":5,"sku":"\\\\x","views":true}'],
      [3, '{"shop":"\\\\n","sku":"\\\\","views":""}'],
    ]);
  });

  test("D-4.12 records with fields too many or too few fail with their lines; a text for json that is none stays one", async () => {
    const text = "shop,sku,extra\na,1\nb,2,{},\nc,3,{\nd,4,[]\n";
    expect((await read("csv", text)).records).toEqual([
      [2, "has 2 fields where the header names 3"],
      [3, "has 4 fields where the header names 3"],
      [4, '{"shop":"c","sku":"3","extra":"{"}'],
      [5, '{"shop":"d","sku":"4","extra":[]}'],
    ]);
  });

  test("D-4.12 the header may name columns in any order, others than the table's, and not all", async () => {
    const headers: CsvHeader[] = [];
    const text = "sku,color,shop,id\n1,red,a,9\n";
    const onHeader = (header: CsvHeader) => headers.push(header);
    const { found } = await readAll(recordsOf("csv", { table: TABLE, text, onHeader }));
    expect(found.map(({ record }) => record)).toEqual([
      { sku: "1", color: "red", shop: "a", id: 9 },
    ]);
    expect(headers).toEqual([
      {
        line: 1,
        unknown: ["color"],
        numbered: ["id"],
        missing: ["price", "views", "active", "listed_on", "updated_at", "extra"],
      },
    ]);
  });

  test.each([
    ["", "The CSV file is empty"],
    ["sku,price\n1,2\n", 'it lacks the key of "items": "shop"'],
    ["shop,sku,shop\na,b,c\n", 'Line 1 names the column "shop" twice'],
    ['shop,sku\na,"b\n', "Line 2: a quoted field does not end"],
    ['shop,sku\na,b\n\nc,"d\ne,f\ng,h\n', "Line 4: a quoted field does not end"],
    ['shop,sku\n"a",b\n"c","d\ne,f\n', "Line 3: a quoted field does not end"],
    ['shop,sku\na,"b" c\n', "Line 2: text follows the closing quote of a field"],
    ['shop,sku\na,b\na,b "c"\n', "Line 3: a field that is not quoted contains a quote"],
  ])("D-4.12 %p is refused: %s", async (text, problem) => {
    expect((await read("csv", text, 1_000)).problem).toContain(problem);
  });

  test("D-4.12.6, D-10.3 records before the place that is no CSV are read, whatever the pieces", async () => {
    for (const chunkChars of [1, 7, 1_000]) {
      const { records, problem } = await read(
        "csv",
        'shop,sku\na,1\nb,2\nc,"3" x\nd,4\n',
        chunkChars,
      );
      expect(records).toEqual([
        [2, '{"shop":"a","sku":"1"}'],
        [3, '{"shop":"b","sku":"2"}'],
      ]);
      expect(problem).toBe("Line 4: text follows the closing quote of a field");
    }
  });

  test("D-10.3 names in the header may be in any letter case, with blanks around them", async () => {
    expect((await read("csv", "SHOP, Sku ,PRICE\na,1,2\n")).records).toEqual([
      [2, '{"shop":"a","sku":"1","price":"2"}'],
    ]);
    expect((await read("csv", "shop,sku,Shop\na,1,2\n")).problem).toBe(
      'Line 1 names the column "shop" twice',
    );
  });

  test("D-10.3 fields may be separated by another character, and a header that shows one says so", async () => {
    const text = 'shop;sku;price\na;"1;2";1,5\n';
    const { found } = await readAll(recordsOf("csv", { table: TABLE, text, delimiter: ";" }));
    expect(found.map(({ record }) => record)).toEqual([{ shop: "a", sku: "1;2", price: "1,5" }]);
    expect((await read("csv", text)).problem).toBe(
      'Line 1 must name the columns of the file; it lacks the key of "items": "shop", "sku"; ' +
        'name the delimiter ";", which seems to separate the fields of the file',
    );
    expect((await read("csv", '"Shop"\t"SKU"\na\tb\n')).problem).toContain(
      "name the delimiter tab",
    );
  });
});
