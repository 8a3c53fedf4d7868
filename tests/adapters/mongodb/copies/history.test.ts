// A server that no longer has the snapshot of a backup.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { backUpDeps } from "../../../../src/app/backups.ts";
import { readConfig } from "../../../../src/app/config.ts";
import { openServices } from "../../../../src/app/services.ts";
import { isAppError } from "../../../../src/domain/shared/errors.ts";
import { backUp as makeBackUp } from "../../../../src/usecases/operations/backups.ts";
import { MONGODB } from "../../../http/support/backends.ts";
import { makeTempFolder } from "../../../http/support/make-temp-folder.ts";
import { keepResource } from "../../../support/resources.ts";

const SNAPSHOT_TOO_OLD = 239;
const SNAPSHOT_UNAVAILABLE = 246;

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 a backup that takes longer than the history names the setting, a broken connection is told, one of a new collection begins again",
  async () => {
    const url = await MONGODB.makeUrl();
    const config = readConfig({ STORAGE_URL: url, LOG_LEVEL: "silent" }, () => "");
    const services = await openServices(config);
    keepResource(() => services.close());
    await services.prepare();
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const fail = (failure: object, mode: object = { times: 1 }) =>
      client.db("admin").command({
        configureFailPoint: "failCommand",
        mode,
        data: {
          ...{ failCommands: ["find"], ...failure },
          namespace: `${client.db().databaseName}.repsync_secrets`,
        },
      });
    const path = join(makeTempFolder(), "x.backup");
    const deps = backUpDeps(config, services);
    const backUp = () =>
      makeBackUp(deps, { path, isForced: true }).catch((error: unknown) => error);
    // At the beginning, and at the documents.
    for (const mode of [{ times: 1 }, { skip: 1 }]) {
      await fail({ errorCode: SNAPSHOT_TOO_OLD }, mode);
      const refused = await backUp();
      expect(isAppError(refused, "store_unavailable")).toBe(true);
      expect(String(refused)).toContain("raise minSnapshotHistoryWindowInSeconds (300 by default)");
    }
    await fail({ closeConnection: true }, { times: 2 });
    const broken = await backUp();
    expect(isAppError(broken, "store_unavailable")).toBe(true);
    expect(String(broken)).toContain("MongoDB cannot be reached");
    await fail({ errorCode: SNAPSHOT_UNAVAILABLE });
    expect(await backUp()).toMatchObject({ tables: 2, rows: 0, accounts: 0 });
  },
);
