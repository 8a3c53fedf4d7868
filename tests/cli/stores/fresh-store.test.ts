// What a command leaves in a store that no service has used yet.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { MongoClient } from "mongodb";
import { MONGODB } from "../../http/support/backends.ts";
import { keepResource, releaseResources } from "../../http/support/resources.ts";
import { runCli } from "../support/run-cli.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

async function collectionsOf(url: string): Promise<readonly string[]> {
  const client = new MongoClient(url);
  keepResource(() => client.close());
  const found = await client.db().listCollections({}, { nameOnly: true }).toArray();
  return found.map(({ name }) => name).sort();
}

/** What tells a store and its time, and the secrets that all instances share. */
const FIRST = ["repsync_secrets", "repsync_store", "repsync_time", "repsync_versions"];

test.skipIf(!MONGODB.isAvailable)(
  "D-10.4 a command makes in MongoDB what it writes to, and a start the rest",
  async () => {
    const url = await MONGODB.makeUrl();
    const cli = (...args: readonly string[]) => runCli(args, { env: { STORAGE_URL: url } });
    const none = await cli("keys", "list", "ana");
    expect(none).toMatchObject({ code: 1, stderr: 'There is no account "ana"\n' });
    expect(await collectionsOf(url)).toEqual(FIRST);
    expect((await cli("runs")).code).toBe(0);
    expect((await cli("rejected", "list")).code).toBe(0);
    expect((await cli("audit", "heads", "--json")).code).toBe(0);
    expect(await collectionsOf(url)).toEqual(FIRST);
    const made = await runCli(["admin", "create", "ana"], {
      env: { STORAGE_URL: url },
      input: "correct horse\n",
    });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const more = (await collectionsOf(url)).filter((name) => !FIRST.includes(name));
    expect(more).toEqual(["repsync_accounts"]);
    expect((await cli("keys", "create", "ana", "--name", "till")).code).toBe(0);
    expect((await cli("keys", "list", "ana")).stdout).toContain("till");
    expect((await cli("status")).code).toBe(0);
    expect(await collectionsOf(url)).toContain("profiles");
  },
);
