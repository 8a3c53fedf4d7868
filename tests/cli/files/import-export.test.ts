// Files into and out of a store, by the real command line, also while the service runs on that store.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  createWriteStream,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { writeText } from "../../../src/app/write-file.ts";
import { BUN, CLI, serviceEnv, startProcess } from "../../e2e/support/service-process.ts";
import { onOneBackend } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { startApp } from "../../http/support/sync-app.ts";
import { keepResource } from "../../support/resources.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { startInTerminal } from "../support/cli-process.ts";
import { runCli } from "../support/run-cli.ts";

setDefaultTimeout(120_000);

const ROWS = [
  '{"shop":"a","sku":"1","price":"1.10","views":"12345678901234567890","active":true,' +
    '"listed_on":"2024-02-03","updated_at":"2024-02-03T04:05:06.789012Z","extra":{"n":1.0,"t":"ü\\n"}}',
  '{"shop":"a","sku":"2 \\"x\\", y","price":null,"views":null,"active":null,' +
    '"listed_on":null,"updated_at":null,"extra":null}',
];
const FILES = {
  json: `[\n${ROWS.join(",\n")}\n]\n`,
  ndjson: `${ROWS.join("\n")}\n`,
  csv:
    "shop,sku,price,views,active,listed_on,updated_at,extra\n" +
    'a,1,1.10,12345678901234567890,true,2024-02-03,2024-02-03T04:05:06.789012Z,"{""n"":1.0,""t"":""ü\\n""}"\n' +
    'a,"2 ""x"", y",,,,,,\n',
};

/** A deployment's settings and its folder. */
function makeDeployment() {
  const folder = makeTempFolder();
  const env = serviceEnv(folder);
  const write = (name: string, data: string | Uint8Array) =>
    writeFileSync(join(folder, name), data);
  return { folder, env, write };
}

onOneBackend("repsync import and export", (backend) => {
  test.each(["json", "ndjson", "csv"] as const)(
    "D-4.12 a %s file is imported and exported again as it was",
    async (format) => {
      const { folder, env: settings, write } = makeDeployment();
      const env = { ...settings, STORAGE_URL: await backend.makeUrl() };
      write(`in.${format}`, FILES[format]);
      const imported = await runCli(["import", "listings", `in.${format}`], { folder, env });
      const done = { code: 0, stderr: "" };
      expect(imported).toMatchObject({ ...done, stdout: "listings: 2 rows imported: 2 new\n" });
      const exported = await runCli(["export", "listings", `out.${format}`], { folder, env });
      expect(exported).toMatchObject({ ...done, stdout: "listings: 2 rows exported\n" });
      expect(await Bun.file(join(folder, `out.${format}`)).text()).toBe(FILES[format]);
    },
  );

  test("D-11.3 --spreadsheet marks what a spreadsheet would run, and an import takes it as it stands", async () => {
    const { folder, env: settings, write } = makeDeployment();
    const env = { ...settings, STORAGE_URL: await backend.makeUrl() };
    const bodies = ["=1+2", "+1,5", "-2.50", "+3", "@SUM(A1)", "\tx", "\rx", "", "a=1"];
    const records = bodies.map((body, i) => ({ name: `n${i}`, body }));
    write("in.json", JSON.stringify([...records, { name: "=A1", body: null }]));
    expect((await runCli(["import", "notes", "in.json"], { folder, env })).code).toBe(0);
    const exact = await runCli(["export", "notes", "-", "--format", "csv"], { folder, env });
    const lines = [
      ...["=A1,", "n0,=1+2", 'n1,"+1,5"', "n2,-2.50", "n3,+3", "n4,@SUM(A1)", 'n5,"\tx"'],
      ...['n6,"\rx"', 'n7,""', "n8,a=1"],
    ];
    expect(exact.stdout).toBe(`name,body\n${lines.join("\n")}\n`);
    const args = ["export", "notes", "out.csv", "--spreadsheet"];
    expect((await runCli(args, { folder, env })).code).toBe(0);
    const marked = [
      ...["'=A1,", "n0,'=1+2", 'n1,"\'+1,5"', "n2,-2.50", "n3,+3", "n4,'@SUM(A1)", "n5,'\tx"],
      ...['n6,"\'\rx"', 'n7,""', "n8,a=1"],
    ];
    expect(await Bun.file(join(folder, "out.csv")).text()).toBe(
      `name,body\n${marked.join("\n")}\n`,
    );
    await runCli(["import", "notes", "out.csv"], { folder, env });
    const again = await runCli(["export", "notes", "-", "--format", "csv"], { folder, env });
    expect(again.stdout).toContain("n0,'=1+2\n");
  });
});

describe("repsync import and export", () => {
  test("D-14.7 an export as JSON tells of values that are not of their types, and an import of it needs --lax", async () => {
    const { folder, env, write } = makeDeployment();
    const cli = (...args: string[]) => runCli(args, { folder, env });
    write("in.csv", FILES.csv);
    expect((await cli("import", "listings", "in.csv")).code).toBe(0);
    expect((await cli("export", "listings", "out.json")).stderr).toBe("");
    write("odd.ndjson", '{"shop":"odd","sku":"1","price":"n/a","views":"many"}\n');
    expect((await cli("import", "listings", "odd.ndjson", "--lax")).code).toBe(0);
    for (const name of ["out.json", "out.ndjson"]) {
      const { code, stderr } = await cli("export", "listings", name);
      const told = "2 values not of the type of the column: price, views; an import of the file";
      expect([code, stderr]).toEqual([0, `${told} needs --lax, one of CSV does not\n`]);
      expect((await cli("import", "listings", name)).code).toBe(3);
      expect((await cli("import", "listings", name, "--lax")).code).toBe(0);
    }
    expect((await cli("export", "listings", "out.csv")).stderr).toBe("");
    expect((await cli("import", "listings", "out.csv")).code).toBe(0);
  });

  test("D-14.7 an export as JSON tells of values that no import of JSON takes: an empty text in the key, a timestamp that is none", async () => {
    const { folder, env, write } = makeDeployment();
    const cli = (...args: string[]) => runCli(args, { folder, env });
    const marked = ['"\\""""",1,n/a,', 'odd,1,"\\""n/a""","\\""soon"""'];
    write("in.csv", ["shop,sku,price,updated_at", ...marked, ""].join("\n"));
    expect((await cli("import", "listings", "in.csv", "--lax")).code).toBe(0);
    for (const name of ["out.json", "out.ndjson"]) {
      const { code, stderr } = await cli("export", "listings", name);
      const [lax, refused] = stderr.split("\n");
      expect([code, lax]).toEqual([
        0,
        "2 values not of the type of the column: price; an import of the file needs --lax, one of CSV does not",
      ]);
      expect(refused).toBe(
        "2 values that no import of JSON takes: shop, updated_at; export them as CSV",
      );
      const { json } = await cli("import", "listings", name, "--lax", "--json");
      expect([json.read, json.failed]).toEqual([2, 2]);
    }
    expect((await cli("export", "listings", "out.csv")).stderr).toBe("");
    const again = await cli("import", "listings", "out.csv", "--json");
    expect([again.code, again.json.same]).toEqual([0, 2]);
  });

  test("D-11.3 --spreadsheet is for CSV files: for others exit code 2, and nothing is written", async () => {
    const { folder, env } = makeDeployment();
    const args = ["export", "notes", "out.json", "--spreadsheet"];
    const { code, stdout, stderr } = await runCli(args, { folder, env });
    expect([code, stdout, stderr]).toEqual([2, "", "--spreadsheet is for CSV files\n"]);
    expect(existsSync(join(folder, "out.json"))).toBe(false);
    expect(existsSync(join(folder, "repsync.db"))).toBe(false);
  });

  test("D-4.12, D-4.12.8 standard input and output, gzip, a byte order mark and CRLF are understood, and a new file is its owner's alone", async () => {
    const { folder, env, write } = makeDeployment();
    const piped = ["import", "listings", "-", "--format", "csv", "--json"];
    const input = gzipSync(`\ufeff${FILES.csv.replaceAll("\n", "\r\n")}`);
    const imported = await runCli(piped, { folder, env, input });
    expect(imported.json).toEqual({
      ...{ table: "listings", dry_run: false, read: 2, written: 2, failed: 0, last_line: 3 },
      ...{ deleted: 0, new: 2, changed: 0, same: 0, failures: [], warnings: [], warning_count: 0 },
    });

    const exported = await runCli(["export", "listings", "-", "--format", "csv"], { folder, env });
    expect(exported).toMatchObject({ code: 0, stdout: FILES.csv, stderr: "" });

    const packed = await runCli(["export", "listings", "out.JSON.gz"], { folder, env });
    expect(packed.code).toBe(0);
    expect(gunzipSync(await Bun.file(join(folder, "out.JSON.gz")).bytes()).toString()).toBe(
      FILES.json,
    );
    write("packed.bin", await Bun.file(join(folder, "out.JSON.gz")).bytes());
    const again = ["import", "listings", "packed.bin", "--format", "json"];
    expect(await runCli(again, { folder, env })).toMatchObject({ code: 0 });
    expect(readdirSync(folder).filter((name) => name.includes(".part"))).toEqual([]);

    const mode = (name: string) => statSync(join(folder, name)).mode & 0o777;
    expect(mode("out.JSON.gz")).toBe(0o600);
    write("kept.csv", "x");
    chmodSync(join(folder, "kept.csv"), 0o640);
    expect((await runCli(["export", "listings", "kept.csv"], { folder, env })).code).toBe(0);
    expect(mode("kept.csv")).toBe(0o640);
  });

  test("D-4.12.8 what is written before a file has its name goes through no link", async () => {
    const { folder } = makeDeployment();
    const [path, other] = [join(folder, "linked.csv"), join(folder, "other.txt")];
    writeFileSync(other, "of somebody else");
    symlinkSync(other, `${path}.part-${process.pid}`);
    await writeText(path, ["name\n"]);
    expect(readFileSync(path, "utf8")).toBe("name\n");
    expect(readFileSync(other, "utf8")).toBe("of somebody else");
  });

  test("D-4.12 a running service shows what is imported, and what it is given is exported", async () => {
    const { env } = makeDeployment();
    const service = await startApp({ env: { STORAGE_URL: env["STORAGE_URL"] ?? "" } });
    await service.push("notes", { records: [{ name: "b", body: "two" }] });
    const input = "name,body\na,one\n";
    const imported = await runCli(["import", "notes", "-", "--format", "csv"], { env, input });
    expect(imported.code).toBe(0);
    expect(await service.records("notes")).toEqual([
      { name: "a", body: "one" },
      { name: "b", body: "two" },
    ]);
    const exported = await runCli(["export", "notes", "-", "--format", "ndjson"], { env });
    expect(exported.stdout).toBe('{"name":"a","body":"one"}\n{"name":"b","body":"two"}\n');
  });

  test("D-4.12, D-4.12.6 records that fail are named with line and reason, the others are written, exit code 3", async () => {
    const { folder, env } = makeDeployment();
    const input = [
      '{"name":"a","required":"x"}',
      "",
      '{"name":"b"}',
      "{oops",
      '{"name":null,"required":"x"}',
      "7",
      '{"name":"c","required":"x","short":"four"}',
      '{"name":"d","required":"x","an_integer":9223372036854775808}',
      '{"name":"e","required":"x"}',
    ].join("\n");
    const command = ["import", "samples", "-", "--format", "ndjson"];
    const text = await runCli(command, { folder, env, input });
    expect(text.code).toBe(3);
    expect(text.stdout).toBe("samples: 2 rows imported: 2 new\n");
    expect(text.stderr.split("\n")).toEqual([
      "6 records failed:",
      "  line 3: name=b: required must not be null",
      "  line 4: is not JSON",
      "  line 5: name=null: name is part of the key and must not be missing or null",
      "  line 6: name=null: record is not an object",
      '  line 7: name=c: short must not be longer than 3 characters: "four"',
      '  line 8: name=d: an_integer is beyond the range of an integer, ±(2^63-1): "9223372036854775808"',
      "",
    ]);
    const json = await runCli([...command, "--json"], { folder, env, input });
    expect(json.code).toBe(3);
    expect(json.json).toMatchObject({ table: "samples", read: 8, written: 2, failed: 6 });
    const whole = { key: null, column: null, value: null };
    expect(json.json.failures[1]).toEqual({ line: 4, ...whole, message: "is not JSON" });
  });

  test("D-4.12 a file of the same key twice counts as if written one by one", async () => {
    const { folder, env } = makeDeployment();
    const input = '[{"name":"a","value":"1","note":"x"},{"name":"a","value":"2","note":"y"}]';
    const command = ["import", "settings", "-", "--format", "json"];
    expect((await runCli(command, { folder, env, input })).stdout).toBe(
      "settings: 2 rows imported: 1 new, 1 changed\n",
    );
    const exported = await runCli(["export", "settings", "-", "--format", "ndjson"], {
      folder,
      env,
    });
    expect(exported.stdout).toBe('{"name":"a","value":"2","note":"x"}\n');
  });

  test.each([
    ["nothing.csv", null, '"nothing.csv" cannot be read: there is no such file or folder'],
    ["folder.csv", null, '"folder.csv" is a folder'],
    ["latin.csv", Buffer.from("name,body\na,\xe9\n", "latin1"), '"latin.csv" is not text in UTF-8'],
    ["cut.csv.gz", gzipSync("name,body\na,b\n").subarray(0, 20), "its gzip data is cut short"],
    ["bad.csv.gz", Buffer.from([0x1f, 0x8b, 1, 2, 3, 4]), "its gzip data is damaged"],
    ["object.json", Buffer.from('{"name":"a"}'), "a JSON file must hold one array of objects"],
    ["keyless.csv", Buffer.from("body\nx\n"), 'it lacks the key of "notes": "name"'],
  ])("D-4.12 %s is no file to import", async (name, data, message) => {
    const { folder, env, write } = makeDeployment();
    if (data !== null) write(name, data);
    else if (name.startsWith("folder")) await Bun.write(join(folder, name, "x"), "");
    const ended = await runCli(["import", "notes", name], { folder, env });
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toMatch(/\.ts|Error/);
    // A wrong argument, or a file that cannot be used.
    expect([ended.code, ended.stdout]).toEqual([data === null ? 2 : 1, ""]);
  });

  test("D-4.12, D-4.12.6 what stands before a place that cannot be read is written, and told, exit code 1", async () => {
    const { folder, env } = makeDeployment();
    const input = '[{"name":"a"},{"name":"b"},{"na';
    const ended = await runCli(["import", "notes", "-", "--format", "json"], {
      folder,
      env,
      input,
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toBe(
      "2 rows written, up to line 1, before this failure; importing the file again is safe\n" +
        "Line 1: the file ends inside the JSON array\n",
    );
  });

  test("D-4.12, D-4.12.8 an export that fails leaves the file that was there, and no other", async () => {
    const { folder, env, write } = makeDeployment();
    write("kept.csv", "kept");
    const unknown = await runCli(["export", "nothing", "kept.csv"], { folder, env });
    expect([unknown.code, unknown.stdout]).toEqual([2, ""]);
    expect(unknown.stderr).toContain('Unknown table "nothing"; tables here: profiles, ');
    expect(await Bun.file(join(folder, "kept.csv")).text()).toBe("kept");
    const nowhere = await runCli(["export", "notes", "no/where.csv"], { folder, env });
    expect([nowhere.code, nowhere.stdout]).toEqual([1, ""]);
    expect(nowhere.stderr).toContain(
      '"no/where.csv" cannot be written: there is no such file or folder',
    );
    expect(existsSync(join(folder, "no"))).toBe(false);
  });

  test("D-4.12, D-4.12.4 SIGTERM stops an import before its next write, and what was written is told", async () => {
    const { folder, env } = makeDeployment();
    const command = [...BUN, CLI, "import", "notes", "endless.ndjson"] as const;
    expect(Bun.spawnSync(["mkfifo", join(folder, "endless.ndjson")]).exitCode).toBe(0);
    const started = startProcess(command as unknown as [string, ...string[]], { folder, env });
    const writer = createWriteStream(join(folder, "endless.ndjson"));
    writer.on("error", () => {});
    keepResource(() => void writer.destroy());
    const rows = (from: number) =>
      Array.from({ length: 100_000 }, (_, i) => `{"name":"${from + i}"}\n`).join("");
    writer.write(rows(0));
    writer.write(rows(100_000));
    const rowsNow = async () =>
      (await runCli(["status", "--json"], { folder, env })).json.local.table_counts.notes;
    await pollUntil("rows to be written", async () => (await rowsNow()) >= 100_000);
    started.kill("SIGTERM");
    expect(await started.ended).toEqual({ code: 1, signal: null });
    expect(started.stderr()).toMatch(
      /^[\d,]+ rows written, up to line [\d,]+, before this failure; importing the file again is safe\nStopped by SIGTERM\n$/,
    );
    const [, written] = /([\d,]+) rows written/.exec(started.stderr()) ?? [];
    expect((await rowsNow()).toLocaleString("en-US")).toBe(written);
  });

  test("D-4.12, D-4.12.5 npm's own folder does not matter: files are those of the caller's", async () => {
    const { folder, env, write } = makeDeployment();
    write("in.csv", "name,body\na,b\n");
    const npm = { npm_lifecycle_event: "repsync", INIT_CWD: folder };
    const imported = await runCli(["import", "notes", "in.csv"], { env: { ...env, ...npm } });
    expect(imported.code).toBe(0);
    const cli = (...args: string[]) => runCli(args, { env: { ...env, ...npm } });
    expect((await cli("backup", "all.backup")).code).toBe(0);
    expect((await cli("audit", "heads", "--out", "heads")).code).toBe(0);
    expect((await cli("audit", "heads", "--out", "-")).stdout).toContain("heads");
    expect((await cli("audit", "verify", "--heads", "heads")).code).toBe(0);
    const empty = { ...env, ...npm, STORAGE_URL: `sqlite:${join(folder, "other.db")}` };
    expect((await runCli(["restore", "all.backup"], { env: empty })).code).toBe(0);
    expect(["all.backup", "heads"].map((name) => existsSync(join(folder, name)))).toEqual([
      ...[true, true],
    ]);
  });

  test("D-4.12, D-4.12.2 on a terminal an import shows a bar, and no escape reaches a pipe", async () => {
    const { folder, env, write } = makeDeployment();
    write("in.csv", `name\n${Array.from({ length: 50_000 }, (_, i) => i).join("\n")}\n`);
    const shown = startInTerminal(["import", "notes", "in.csv"], { folder, env });
    expect(await shown.exited).toBe(0);
    await shown.waitFor("notes: 50,000 rows imported");
    expect(shown.shown()).toContain("import notes [");
    const piped = await runCli(["import", "notes", "in.csv"], { folder, env });
    expect(piped.stdout).toBe("notes: 50,000 rows imported: 50,000 same\n");
    expect(piped.stderr).toBe(
      "1 warning:\n  line 1: Set to null, because the file does not have this column: body\n",
    );
  });

  test("D-4.12 a narrow terminal shows fewer figures, none of them cut, and a dumb one lines", async () => {
    const { folder, env, write } = makeDeployment();
    write("in.csv", `name\n${Array.from({ length: 50_000 }, (_, i) => i).join("\n")}\n`);
    const args = ["import", "notes", "in.csv"];
    const narrow = startInTerminal(args, { folder, env, cols: 40 });
    expect(await narrow.exited).toBe(0);
    await narrow.waitFor("notes: 50,000 rows imported");
    expect(narrow.shown()).toContain("import notes 100% | 50,000 rows\u001b");
    const tiny = startInTerminal(args, { folder, env, cols: 5 });
    expect(await tiny.exited).toBe(0);
    await tiny.waitFor("notes: 50,000 rows imported");
    const dumb = startInTerminal(args, { folder, env: { ...env, TERM: "dumb" } });
    expect(await dumb.exited).toBe(0);
    await dumb.waitFor("notes: 50,000 rows imported");
    expect(dumb.shown()).not.toContain("\u001b");
  });
});
