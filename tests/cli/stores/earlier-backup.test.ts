// Backups of programs with the same format of stores, but other collections.
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { BACKENDS, MONGODB, onBackends, onOneBackend } from "../../http/support/backends.ts";
import { makeBackup } from "./support/make-backup.ts";

setDefaultTimeout(180_000);

const SEAL_CHARS = 65;
const MAGIC_CHARS = "repsync backup 2\n".length;

/** Makes the file of a program that did not have a collection yet. */
function dropCollection(file: string, name: string): void {
  writeFileSync(file, readFileSync(file).subarray(0, -SEAL_CHARS));
  const database = new Database(file);
  database.run(`DROP VIEW repsync_${name}_view`);
  database.run(`DROP TABLE repsync_${name}`);
  database.run("DELETE FROM repsync_store WHERE name = 'collections'");
  database.close();
  const bytes = readFileSync(file);
  const seal = createHash("sha256").update(bytes).digest("hex");
  writeFileSync(file, Buffer.concat([bytes, Buffer.from(`\n${seal}`)]));
}

onOneBackend("a backup from before a collection came", (backend) => {
  test.each(BACKENDS.filter(({ isAvailable }) => isAvailable))(
    "D-10.7 is restored into $name, where a start goes on",
    async (into) => {
      const { file, cli, rows } = await makeBackup(backend);
      dropCollection(file, "late_rows");
      const store = await into.makeUrl();
      const restored = await cli(store, ["restore", file]);
      expect([restored.code, restored.stderr]).toEqual([0, ""]);
      expect(await rows(store)).toBe(1);
      const doctor = await cli(store, ["doctor"]);
      expect([doctor.code, doctor.stderr]).toEqual([0, ""]);
    },
  );
});

onBackends([MONGODB], "a backup with a collection that this program does not have", (backend) => {
  test("D-10.7 is refused by its name, and the store stays empty", async () => {
    const { file, cli, rows } = await makeBackup(backend);
    const bytes = readFileSync(file);
    const text = gunzipSync(bytes.subarray(MAGIC_CHARS)).toString();
    const other = text
      .replaceAll('"name":"secrets"', '"name":"riddles"')
      .replaceAll('documents of \\"secrets\\"', 'documents of \\"riddles\\"');
    expect(other).not.toBe(text);
    writeFileSync(file, Buffer.concat([bytes.subarray(0, MAGIC_CHARS), gzipSync(other)]));
    const store = await backend.makeUrl();
    const refused = await cli(store, ["restore", file]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'The backup holds documents of "riddles", which this version of repsync does not know\nRestore it with the version that made it\n',
    ]);
    expect(await rows(store)).toBe(0);
  });
});
