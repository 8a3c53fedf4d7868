// Options of `tables infer` and `import` by the real command line: what is wanted goes before what is guessed or registered.
import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { runCli } from "../support/run-cli.ts";

setDefaultTimeout(120_000);

let folder: string;
beforeEach(() => {
  folder = makeTempFolder();
  file(".env", "STORAGE_URL=sqlite:./store.db\nSYNC_TABLES=tables.json\n");
  file("tables.json", '{ "tables": {} }\n');
});

const file = (name: string, data: string | Uint8Array) => writeFileSync(join(folder, name), data);
const cli = (...args: string[]) => runCli(args, { folder });
const infer = (...args: string[]) => cli("tables", "infer", ...args, "--into", "tables.json");
const registry = () => JSON.parse(readFileSync(join(folder, "tables.json"), "utf8")).tables;
const TIMELESS = ["--timestamp", "none"];
const rowsOf = async (table: string) =>
  (await cli("export", table, "-", "--format", "ndjson")).stdout.trim().split("\n");

describe("tables infer and import", () => {
  test("D-14.1 what a file needs is kept, later imports need no options, and CSV goes out as it came", async () => {
    const text = "Nr;Preis €;Tag\r\n1;1.234,50;24.11.2025\r\n2;-0,5;01.02.2025\r\n";
    const bytes = Uint8Array.from([...text], (c) => (c === "€" ? 0x80 : c.charCodeAt(0)));
    file("preise.csv", bytes);
    const options = ["--encoding", "latin1", "--decimal", ",", "--date-format", "DD.MM.YYYY"];
    options.push("--key", "Nr", "--type", "Tag=datetime", "--type", "Nr=integer", ...TIMELESS);
    const inferred = await infer("preise.csv", ...options);
    expect([inferred.code, inferred.stdout]).toEqual([0, "tables.json: preise added\n"]);
    expect(registry().preise).toEqual({
      upsert_key: ["Nr"],
      import: {
        ...{ delimiter: ";", decimal: ",", date_format: "DD.MM.YYYY", encoding: "latin1" },
        columns: { Preis: "Preis €" },
      },
      columns: {
        ...{ Nr: { type: "integer", nullable: false }, Preis: { type: "numeric" } },
        Tag: { type: "datetime" },
      },
    });
    expect((await cli("import", "preise", "preise.csv")).stdout).toBe(
      "preise: 2 rows imported: 2 new\n",
    );
    expect(await rowsOf("preise")).toEqual([
      '{"Nr":1,"Preis":"1234.50","Tag":"2025-11-24T00:00:00Z"}',
      '{"Nr":2,"Preis":"-0.5","Tag":"2025-02-01T00:00:00Z"}',
    ]);
    expect((await cli("export", "preise", "out.csv")).code).toBe(0);
    const out = readFileSync(join(folder, "out.csv"));
    expect(out.toString("latin1")).toBe(
      "Nr;Preis \u0080;Tag\n1;1234,50;24.11.2025\n2;-0,5;01.02.2025\n",
    );
    file("us.csv", "Nr,Preis,Tag\n3,5.5,2025-12-01\n");
    const other = ["--delimiter", ",", "--decimal", ".", "--encoding", "utf-8"];
    expect((await cli("import", "preise", "us.csv", ...other)).code).toBe(0);
    expect((await rowsOf("preise"))[2]).toBe('{"Nr":3,"Preis":"5.5","Tag":"2025-12-01T00:00:00Z"}');
  });

  test("D-14.1 what no entry tells of a file, the import that is proposed says", async () => {
    file(
      "latin.dat",
      Uint8Array.from([..."id,v\n1,\xfc\n"], (c) => c.charCodeAt(0)),
    );
    file(
      "latin.ndjson",
      Uint8Array.from([...'{"id":1,"v":"\xfc"}\n'], (c) => c.charCodeAt(0)),
    );
    const csv = await infer("latin.dat", "--format", "csv", "--encoding", "latin1");
    expect(csv.stderr).toEndWith("Next: repsync import latin latin.dat --format csv\n");
    const args = ["latin.ndjson", "--table", "lines", "--encoding", "latin1"];
    for (const more of [[], ["--update"]]) {
      const { stderr } = await infer(...args, ...more);
      const next = "repsync import lines latin.ndjson --encoding latin1";
      expect(stderr).toEndWith(`Next: ${next}\n`);
      expect(registry().lines).not.toHaveProperty("import");
      expect((await cli(...next.split(" ").slice(1))).code).toBe(0);
    }
    expect(registry().latin.import).toEqual({ encoding: "latin1" });
    // An export as JSON is UTF-8, and so is its import.
    file("more.ndjson", '{"id":2,"v":"ü","w":1}\n');
    const updated = await infer("more.ndjson", "--table", "latin", "--update");
    expect(updated.stderr).toContain("latin: w (integer) is new");
    expect(registry().latin.import).toEqual({ encoding: "latin1" });
  });

  test("D-14.1 numbered rows stay what they are, and --append numbers on behind the last one", async () => {
    file("jan.csv", "city,n\nUlm,1\nBonn,2\n");
    file("feb.csv", "city,n\nUlm,1\nKiel,3\n");
    expect((await infer("jan.csv", "--number-rows", "--table", "sales", ...TIMELESS)).code).toBe(0);
    expect((await cli("import", "sales", "jan.csv")).stdout).toBe(
      "sales: 2 rows imported: 2 new\n",
    );
    expect((await cli("import", "sales", "jan.csv")).stdout).toBe(
      "sales: 2 rows imported: 2 same\n",
    );
    const other = await cli("import", "sales", "feb.csv", "--dry-run");
    expect(other.stdout).toBe("sales: 2 rows would be imported: 1 changed, 1 same\n");
    const message =
      "1 row got other contents, as records have the numbers that they had: --append numbers on behind the last row";
    expect(other.stderr).toBe(`1 warning:\n  line 1: ${message}\n`);
    const told = await cli("import", "sales", "feb.csv", "--dry-run", "--json");
    expect(JSON.parse(told.stdout)).toMatchObject({
      ...{ warnings: [{ line: 1, column: null, value: null, message }], warning_count: 1 },
    });
    expect((await cli("import", "sales", "feb.csv", "--append")).stdout).toBe(
      "sales: 2 rows imported: 2 new\n",
    );
    expect(await rowsOf("sales")).toEqual([
      ...['{"row":2,"city":"Ulm","n":1}', '{"row":3,"city":"Bonn","n":2}'],
      ...['{"row":4,"city":"Ulm","n":1}', '{"row":5,"city":"Kiel","n":3}'],
    ]);
    file("out.csv", (await cli("export", "sales", "-", "--format", "csv")).stdout);
    expect((await cli("import", "sales", "out.csv")).stdout).toBe(
      "sales: 4 rows imported: 4 same\n",
    );
    file("cut.json", '[{"city":"Bari","n":4},{"ci');
    const cut = await cli("import", "sales", "cut.json", "--append");
    expect([cut.code, cut.stderr]).toEqual([
      1,
      "1 row written, up to line 1, before this failure; the whole file again would add them once more: import the rest alone\n" +
        "Line 1: the file ends inside the JSON array\n",
    ]);
  });

  test("D-14.1 of a file with numbers of its own infer names the rows that an import fails", async () => {
    file("r.csv", "Row;name\n1;w\nA1;x\n;y\n1;z\n");
    const inferred = await infer("r.csv", "--number-rows", ...TIMELESS);
    expect(inferred.stderr).toContain(
      'as asked, but 1 of 3 values is none, the first "A1" in line 3, empty in 1',
    );
    expect(inferred.stderr).toContain("Row 2 records lack or repeat a value: line 4, 5");
    expect(registry().r).toMatchObject({
      ...{ upsert_key: ["row"], import: { number_rows: true, columns: { row: "Row" } } },
      columns: { row: { type: "integer", nullable: false }, name: { type: "text" } },
    });
    const imported = await cli("import", "r", "r.csv");
    expect([imported.code, await rowsOf("r")]).toEqual([3, ['{"row":1,"name":"z"}']]);
    expect(imported.stderr).toContain("line 3");
    expect((await cli("export", "r", "-", "--format", "csv")).stdout).toBe("Row;name\n1;z\n");
  });

  test("D-14.1 a file of Excel that names its delimiter needs no option, and goes out with it", async () => {
    file("x.csv", "sep=;\r\nid;name;id\r\n");
    expect((await infer("x.csv")).stderr).toContain('Line 2 names the column "id" twice');
    file("x.csv", "\ufeffsep=;\r\nid;name\r\n1;a,b\r\nx;c\r\n");
    expect((await infer("x.csv", "--type", "id=integer", ...TIMELESS)).stderr).toContain("line 4");
    expect(registry().x).toMatchObject({ import: { delimiter: ";" }, upsert_key: ["id"] });
    const imported = await cli("import", "x", "x.csv");
    expect([imported.code, await rowsOf("x")]).toEqual([3, ['{"id":1,"name":"a,b"}']]);
    expect(imported.stderr).toContain("line 4");
    expect((await cli("export", "x", "-", "--format", "csv")).stdout).toBe("id;name\n1;a,b\n");
  });

  test("D-14.1 --update adds the columns of a newer file, and says what else differs", async () => {
    file("stock.csv", "sku,qty,old\na,5,x\n");
    await infer("stock.csv", ...TIMELESS);
    const before = readFileSync(join(folder, "tables.json"), "utf8");
    file("tables.json", before.replace("{", "// ours\n{"));
    file("new.csv", "sku,qty,Größe,seen_at\na,many,L,1767225600\n");
    const updated = await infer("new.csv", "--table", "stock", "--update");
    expect([updated.code, updated.stdout]).toEqual([0, "tables.json: stock updated\n"]);
    for (const line of [
      "  stock: qty is integer in the registry, and text by the file\n",
      "  stock: Gro_e (text) is new\n",
      "  stock: not in the file: old\n",
      "  stock: its timestamp column stays none\n",
    ]) {
      expect(updated.stderr).toContain(line);
    }
    const after = readFileSync(join(folder, "tables.json"), "utf8");
    expect(after).toStartWith("// ours\n");
    expect(JSON.parse(after.slice("// ours\n".length)).tables.stock).toEqual({
      upsert_key: ["sku"],
      import: { columns: { Gro_e: "Größe" }, epoch: { seen_at: "seconds" } },
      columns: {
        ...{
          sku: { type: "text", nullable: false },
          qty: { type: "integer" },
          old: { type: "text" },
        },
        ...{ Gro_e: { type: "text" }, seen_at: { type: "datetime" } },
      },
    });
    // A column is the one whose header the registry names, whatever it is called there.
    const renamed = after.replaceAll("Gro_e", "size");
    file("tables.json", renamed);
    const again = await infer("new.csv", "--table", "stock", "--update");
    expect([again.code, again.stderr.includes("is new")]).toEqual([0, false]);
    const asked = await infer("new.csv", "--table", "stock", "--update", "--key", "qty");
    expect(asked.stderr).toContain("  stock: its key stays sku\n");
    expect(readFileSync(join(folder, "tables.json"), "utf8")).toBe(renamed);
  });

  test("D-14.1 import --all takes all tables of a SQLite file that the registry has", async () => {
    const database = new Database(join(folder, "shop.db"));
    database.run("CREATE TABLE a (id INTEGER PRIMARY KEY)");
    database.run('CREATE TABLE "b c" (id INTEGER PRIMARY KEY, v)');
    const numbers =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)";
    database.run(`INSERT INTO a ${numbers} SELECT i FROM n`);
    database.run("INSERT INTO \"b c\" VALUES (1, x'00'), (2, x'01')");
    database.run("CREATE VIEW seen AS SELECT * FROM a");
    const inferred = await infer("shop.db");
    expect(inferred.stderr).toContain("\n  warn: v: 2 blobs become texts in base64\n");
    expect(inferred.stderr).toContain("Left out: view seen\n");
    expect(inferred.stderr).toEndWith("\nNext: repsync import --all shop.db\n");
    const imported = await cli("import", "--all", "shop.db");
    expect(imported).toMatchObject({
      ...{ code: 0, stderr: "" },
      stdout: "a: 2,500 rows imported: 2,500 new\nb_c: 2 rows imported: 2 new\n",
    });
    database.run("CREATE TABLE z (id INTEGER PRIMARY KEY)");
    database.close();
    const again = await cli("import", "--all", "shop.db", "--json");
    expect(again.stderr).toBe("Left out, as the registry has no such table: z\n");
    expect(again.json.tables.map((one: { same: number }) => one.same)).toEqual([2_500, 2]);
    const path = join(folder, "tables.json");
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace('"type": "text"', '"type": "text", "max_length": 1'),
    );
    expect((await cli("import", "--all", "shop.db")).code).toBe(3);
  });

  test("D-14.1 of tables of a SQLite file that would have one name, one has it, and the others are told", async () => {
    const database = new Database(join(folder, "twins.db"));
    for (const name of ["a b", "a_b", "c d", "c-d"]) {
      database.run(`CREATE TABLE "${name}" (id INTEGER PRIMARY KEY, origin TEXT)`);
      database.run(`INSERT INTO "${name}" VALUES (1, '${name}')`);
    }
    const inferred = await infer("twins.db");
    expect(inferred.stderr).toContain(
      "Left out: table a b, as a_b is another one's name, table c-d, as c_d is another one's name\n",
    );
    for (const name of ["e f", "e-f"]) database.run(`CREATE TABLE "${name}" (id INTEGER)`);
    database.close();
    const imported = await cli("import", "--all", "twins.db");
    expect([imported.code, imported.stdout]).toEqual([
      0,
      "a_b: 1 row imported: 1 new\nc_d: 1 row imported: 1 new\n",
    ]);
    expect(imported.stderr).toBe(
      "Left out, as the registry has no such table: e f, e-f\n" +
        "Left out, as the registry's name is another table's: a b, c-d\n",
    );
    const named = await cli("import", "a_b", "twins.db");
    expect(named.stdout).toContain("1 same");
  });

  test.each([
    [["infer", "a.csv", "--type", "x"], "It must be a column, =, and one of text"],
    [["infer", "a.csv", "--type", "x=text"], '"a" has no column "x"; it has id, v'],
    [["infer", "a.csv", "--key", "id,x"], '"a" has no column "x"; it has id, v'],
    [["infer", "a.csv", "--date-format", "DD.MM.YY"], "is no date format"],
    [["infer", "a.csv", "--encoding", "ebcdic"], "It must be one of utf-8"],
    [["infer", "a.csv", "--path", "x"], "--path is for JSON files"],
    [["infer", "a.csv", "--update"], "--update is for a table of the file of --into"],
    [["import", "a", "a.csv", "--append"], "--append is for tables whose rows are numbered"],
    [["import", "a", "a.csv", "--number-rows"], '--number-rows needs the upsert key ["row"]'],
    [["import", "a"], "Name a file to import"],
    [["import", "a", "-"], "Standard input or output has no known file extension"],
    [["delete", "a", "9223372036854775808"], 'No row of "a" can have this key: id (integer)'],
    [["import", "--all", "others.db"], "The registry has no table of the file: orders"],
    [["import", "--all", "empty.db"], "The registry has no table of the file: none"],
    [["import", "a", "empty.db"], 'The SQLite file has no table "a"; it has none'],
    [["import", "--all", "a.csv"], '--all is for SQLite files, and "a.csv" is none'],
  ])("D-14.1 %p is a wrong command line, exit code 2", async ([command = "", ...args], message) => {
    file("a.csv", "id,v\n1,2\n");
    const others = new Database(join(folder, "others.db"));
    others.run("CREATE TABLE orders (id INTEGER)");
    others.close();
    const empty = new Database(join(folder, "empty.db"));
    empty.run("PRAGMA user_version = 1");
    empty.close();
    if (command !== "infer") await infer("a.csv");
    const ended = await cli(...(command === "infer" ? ["tables"] : []), command, ...args);
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toContain(message);
  });
});
