// A restore that is refused because another one was faster.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { NodeMac } from "../../../../src/adapters/node-crypto/node-crypto.ts";
import { EmptyFile } from "../../../../src/adapters/sqlite/copies/empty-file.ts";
import { backUp, sealedFile } from "../../../../src/adapters/sqlite/copies/sealed-file.ts";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { restoreArchive } from "../../../../src/usecases/operations/backups.ts";
import { SQLITE_FILE } from "../../../http/support/backends.ts";
import { makeTempFolder } from "../../../http/support/make-temp-folder.ts";
import { startRunApp } from "../../../http/sync-runs/support/run-apps.ts";

test("D-10.7 a restore that is refused leaves alone what another one has filled meanwhile", async () => {
  const url = await SQLITE_FILE.makeUrl();
  const admin = { ADMIN_USERNAME: "root", ADMIN_PASSWORD: "correct horse battery" };
  await startRunApp({ env: { STORAGE_URL: url, ...admin } });
  const path = join(makeTempFolder(), "store.backup");
  const facts = { madeAt: "2026-01-01T00:00:00Z", version: "0", outsideSecrets: [] };
  await backUp({ openSqlite: openBunSqlite, path: url.slice(7) }, { path, facts });
  const target = join(makeTempFolder(), "new.db");
  const restore = (openSqlite: typeof openBunSqlite) => {
    const prepare = async () => {};
    const options = { path: target, adminUsername: null, collections: COLLECTIONS, prepare };
    const backup = sealedFile(openBunSqlite, path, COLLECTIONS);
    const claim = () => EmptyFile.claim({ ...options, openSqlite });
    return restoreArchive({ backup, path, mac: new NodeMac(), pepper: null, claim }, {});
  };
  let isFirst = true;
  // Between its first look at the file and its claim the other one does all of its work.
  const openSqlite: typeof openBunSqlite = async (opened) => {
    if (opened === target && isFirst) {
      isFirst = false;
      await restore(openBunSqlite);
    }
    return await openBunSqlite(opened);
  };
  await expect(restore(openSqlite)).rejects.toThrow("is not empty");
  expect(readdirSync(dirname(target))).toEqual([basename(target)]);
  const file = new Database(target, { readonly: true });
  expect(file.query("SELECT doc ->> 'username' AS username FROM repsync_accounts").all()).toEqual([
    { username: "root" },
  ]);
  file.close();
});
