// A dump as a compressed file.
import { expect, test } from "bun:test";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { NodeBackupFiles } from "../../src/adapters/backup-files/node-backup-files.ts";
import { NodeMac } from "../../src/adapters/node-crypto/node-crypto.ts";
import { isAppError } from "../../src/domain/shared/errors.ts";
import type { BackupFacts } from "../../src/ports/copies/store-copies.ts";
import type { DumpedPart } from "../../src/ports/copies/store-dump.ts";
import { archiveAt, writeArchive } from "../../src/usecases/operations/archive.ts";
import { ABOUT, contentOf, dumpedDeployment, PARTS } from "../contract/copies/dumped-deployment.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";

const FACTS: BackupFacts = {
  store: "mongodb",
  format: 2,
  madeAt: "2026-01-01T00:00:00Z",
  version: "0.0.0",
  outsideSecrets: ["JWT_SECRET"],
};
const COUNTS = { tables: 4, rows: 12, accounts: 0 };
const MAGIC_BYTES = "repsync backup 2\n".length;

function newFile() {
  const path = join(makeTempFolder(), "x.backup");
  writeFileSync(path, "");
  return { files: new NodeBackupFiles(), path, mac: new NodeMac() };
}

const WITH_REST: DumpedPart = {
  of: "rows",
  name: "notes",
  items: [{ row: { name: "a" }, rest: "DAAAAA==" }],
};
const WITH_BYTES: DumpedPart = {
  of: "documents",
  name: "exchanged",
  items: [{ name: "b", n: 12345678901234.125, block: Uint8Array.of(0, 255) }],
};

test("D-10.7 an archive gives back what was put into it, digits, bytes and rests included", async () => {
  const file = newFile();
  const long = Array.from({ length: 3 }, (_, i) => ({ row: { name: `${i}`.repeat(50_000) } }));
  const parts = [
    ...PARTS,
    { of: "rows", name: "notes", items: long },
    WITH_REST,
    WITH_BYTES,
  ] as const;
  const told: number[] = [];
  const job = {
    facts: FACTS,
    onProgress: ({ part }: { part: number | null }) => told.push(part ?? -1),
  };
  expect(await writeArchive(file, dumpedDeployment(ABOUT, parts), job)).toEqual(COUNTS);
  expect(told.at(-1)).toBe(1);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  const archive = archiveAt(file);
  expect(await archive.check({})).toEqual({ facts: FACTS, counts: COUNTS });
  const read: DumpedPart[] = [];
  for await (const part of (await archive.dump()).parts) read.push(part);
  expect(JSON.stringify(read)).toBe(JSON.stringify(parts));
  expect(read.at(-1)).toEqual(WITH_BYTES);
  expect(await contentOf(await archive.dump())).toEqual(
    await contentOf(dumpedDeployment(ABOUT, parts)),
  );
});

test("D-10.7 an archive can be read by people: lines of JSON, compressed", async () => {
  const file = newFile();
  await writeArchive(file, dumpedDeployment(ABOUT, [WITH_REST]), { facts: FACTS });
  const lines = gunzipSync(readFileSync(file.path).subarray(MAGIC_BYTES)).toString().split("\n");
  expect(lines).toHaveLength(5);
  expect(JSON.parse(lines[0] ?? "").facts).toEqual(FACTS);
  expect(lines[1]).toBe('{"of":"rows","name":"notes","count":1}');
  expect(lines[2]).toBe('{"row":{"name":"a"},"rest":"DAAAAA=="}');
});

test("D-10.7 a backup is refused that no restore would bring back whole, and names the rows", async () => {
  const file = newFile();
  const items = ["a", "b", "c"].map((name) => ({ row: { name }, rest: "" }));
  const unkept = { row: { name: "d" }, unkept: "its time has no end" };
  const part: DumpedPart = { of: "rows", name: "samples", items: [...items, unkept] };
  const writing = writeArchive(file, dumpedDeployment(ABOUT, [part]), { facts: FACTS });
  const detail = 'table "samples", row ["d"]: its time has no end';
  await expect(writing).rejects.toMatchObject({ kind: "conflict", problems: [{ detail }] });
});

test("D-10.7 an archive that cannot be written fails", async () => {
  const file = newFile();
  const nowhere = { ...file, path: join(file.path, "x.backup") };
  const writing = writeArchive(nowhere, dumpedDeployment(), { facts: FACTS });
  await expect(writing).rejects.toMatchObject({ kind: "file_failed" });
});

test("D-10.7 an archive that was changed anywhere, or cut, is damaged", async () => {
  const file = newFile();
  await writeArchive(file, dumpedDeployment(), { facts: FACTS });
  const whole = readFileSync(file.path);
  const isDamaged = async (bytes: Uint8Array) => {
    writeFileSync(file.path, bytes);
    const refused = await archiveAt(file)
      .check({})
      .catch((error: unknown) => error);
    return isAppError(refused, "file_failed");
  };
  for (let at = MAGIC_BYTES; at < whole.length; at += 7) {
    // The time in a gzip header, its system and its flags of no meaning are no content.
    if (at >= MAGIC_BYTES + 4 && at < MAGIC_BYTES + 10) continue;
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect([at, await isDamaged(changed)]).toEqual([at, true]);
    expect([at, await isDamaged(whole.subarray(0, at))]).toEqual([at, true]);
  }
  expect(await isDamaged(whole)).toBe(false);
});

test.skipIf(process.platform === "win32")(
  "D-10.7 a backup is for its owner alone, though another instance has removed what was begun",
  async () => {
    const { files, path: other, mac } = newFile();
    const path = `${other}.whole`;
    const file = await files.begin(path, { isForced: false, storePaths: [] });
    rmSync(file.tempPath);
    const archive = { files, path: file.tempPath, mac };
    await writeArchive(archive, dumpedDeployment(), { facts: FACTS });
    await file.commit();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  },
);

test("D-10.7 an archive whose lines were left out or put in is damaged", async () => {
  const file = newFile();
  await writeArchive(file, dumpedDeployment(), { facts: FACTS });
  const lines: string[] = [];
  for await (const line of file.files.readLines(file.path)) lines.push(line);
  const at = lines.findIndex((line) => line.startsWith('{"row":{"id":2'));
  const changes = [
    lines.toSpliced(at, 1),
    lines.toSpliced(at, 0, lines[at] ?? ""),
    lines.with(at, (lines[at] ?? "").replace("two", "owt")),
    lines.slice(0, -1),
    [...lines, lines.at(-1) ?? ""],
    [],
  ];
  for (const changed of changes) {
    await file.files.writeLines(
      file.path,
      (async function* () {
        yield* changed;
      })(),
    );
    const refused = await archiveAt(file)
      .check({})
      .catch((error: unknown) => error);
    expect(isAppError(refused, "file_failed")).toBe(true);
  }
});
