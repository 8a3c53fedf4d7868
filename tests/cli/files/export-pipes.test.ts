// Exports into pipes and devices.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUN, CLI, serviceEnv } from "../../e2e/support/service-process.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { runCli } from "../support/run-cli.ts";

/** A folder with a store whose notes were imported from a file. */
async function importNotes(name: string, text: string) {
  const folder = makeTempFolder();
  const env = serviceEnv(folder);
  writeFileSync(join(folder, name), text);
  await runCli(["import", "notes", name], { folder, env });
  return { folder, env };
}

/** An export of notes whose standard output goes to what a shell makes of `into`. */
function exportInto(into: string, args: string, { folder, env }: Awaited<Made>) {
  const { PATH = "" } = process.env;
  const command = [...BUN, CLI, "export", "notes", args].join(" ");
  return Bun.spawn(["sh", "-c", `${command} ${into}`], {
    ...{ cwd: folder, env: { PATH, ...env } },
    ...{ stdout: "pipe", stderr: "pipe" },
  });
}

type Made = ReturnType<typeof importNotes>;

test("D-4.12 an export to a pipe that a path names makes no file", async () => {
  const made = await importNotes("in.csv", "name\na\n");
  const before = readdirSync(made.folder);
  const shell = exportInto("| cat", "/dev/stdout --format csv", made);
  expect(await shell.stdout.text()).toMatch(/^name,.*\na,/);
  expect(readdirSync(made.folder)).toEqual(before);
});

test("D-4.12 an export to standard output leaves what stands before it", async () => {
  const made = await importNotes("in.csv", "name\na\n");
  const all = join(made.folder, "all.csv");
  writeFileSync(all, "before\n");
  await exportInto(">> all.csv", "/dev/stdout --format csv", made).exited;
  expect(readFileSync(all, "utf8")).toMatch(/^before\nname,.*\na,/);
});

test("D-4.12 a reader of an export that leaves ends it without a stack", async () => {
  const body = "x".repeat(1_000);
  const lines = Array.from({ length: 3_000 }, (_, i) => `{"name":"${i}","body":"${body}"}\n`);
  const made = await importNotes("in.ndjson", lines.join(""));
  const shell = exportInto("| head -c 10", "- --format ndjson", made);
  expect(await shell.stdout.text()).toBe('{"name":"0');
  expect(await shell.stderr.text()).not.toMatch(/\.ts|Error/);
});

test("D-4.12 an export of many rows to a full disk says so", async () => {
  const lines = Array.from({ length: 50_000 }, (_, i) => i);
  const { folder, env } = await importNotes("in.csv", `name\n${lines.join("\n")}\n`);
  const args = ["export", "notes", "/dev/full", "--format", "csv"];
  const exported = await runCli(args, { folder, env });
  expect([exported.code, exported.stderr.split("\n").at(-2)]).toEqual([
    1,
    '"/dev/full" cannot be written: the disk is full',
  ]);
});

test.skipIf(process.platform === "win32")(
  "D-4.12 an export to a file that the system lets grow no further says so",
  async () => {
    const body = "x".repeat(200_000);
    const made = await importNotes("in.csv", `name,body\na,${body}\n`);
    const limited = 'trap "" XFSZ; ulimit -f 100; exec "$@"';
    const args = ["export", "notes", "out.csv"];
    const { PATH = "" } = process.env;
    const exported = Bun.spawn(["sh", "-c", limited, "sh", ...BUN, CLI, ...args], {
      ...{ cwd: made.folder, env: { PATH, ...made.env } },
      ...{ stdout: "ignore", stderr: "pipe" },
    });
    const text = '"out.csv" cannot be written: the file is larger than the system allows\n';
    expect([await exported.stderr.text(), await exported.exited]).toEqual([text, 1]);
    expect(readdirSync(made.folder)).not.toContain("out.csv");
  },
);
