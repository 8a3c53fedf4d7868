// Whatever opens a database closes its connections again, also where it is refused.
import { expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { NodeMac } from "../../../../src/adapters/node-crypto/node-crypto.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { storeAt } from "../../../../src/app/stores.ts";
import { copyStore } from "../../../../src/usecases/operations/copy-store.ts";
import { ABOUT, dumpedDeployment } from "../../../contract/copies/dumped-deployment.ts";
import { writeFact } from "../../../http/stores/support/raw-store.ts";
import { MONGODB } from "../../../http/support/backends.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { keepResource } from "../../../support/resources.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";

const TOOLS = { clock: new SystemClock(), logger: new MemoryLogger() };
const CLAIM = { ...TOOLS, adminUsername: null, by: "move" } as const;
const TABLES = ABOUT.tables.map(({ name }) => name);

/** The address of a database with a name for the connections to it, and their number once it is as expected. */
async function watchedUrl(appName: string) {
  const url = await MONGODB.makeUrl();
  const client = new MongoClient(url);
  keepResource(() => client.close());
  const everybody = { $currentOp: { idleConnections: true, allUsers: true } };
  const expectNone = () =>
    pollUntil(`the end of the connections of ${appName}`, async () => {
      const open = client.db("admin").aggregate([everybody, { $match: { appName } }]);
      return (await open.toArray()).length === 0;
    });
  return { url, address: `${url}&appName=${appName}`, expectNone };
}

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 a copy closes its connections: filled, given up or refused",
  async () => {
    const { url, address, expectNone } = await watchedUrl("copies_that_end");
    const store = storeAt(address);
    const options = { ...CLAIM, tables: TABLES };
    await (await store.claim(options)).giveUp();
    await expectNone();
    const target = await store.claim(options);
    await copyStore({ dump: async () => dumpedDeployment() }, { target, mac: new NodeMac() }, {});
    await target.finish("5f1e");
    await expectNone();
    await expect(store.claim(options)).rejects.toThrow("is not empty");
    await (await store.openStopped(TOOLS)).close();
    await expectNone();
    await writeFact(url, "format", "3");
    await expect(store.open(TOOLS)).rejects.toThrow("The store has format 3");
    await expectNone();
  },
);
