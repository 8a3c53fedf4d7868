// A process of its own on a shared file: competes with others for accounts, a lease and a sign-in limit, and prints what
// it won as one JSON line. Arguments: the file, the number of the process, the number of rounds.

import { setImmediate as nextTurn } from "node:timers/promises";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { SignIns } from "../../../../src/repositories/accounts/sessions.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { Secrets } from "../../../../src/repositories/kept-values.ts";
import { makeAccount, People } from "../../../repositories/support/people.ts";
import { runParts } from "../../../support/run-parts.ts";
import { driverOfRuntime } from "../driver/driver-of-runtime.ts";

/** What one process won. */
export interface Winnings {
  /** Usernames that it created. */
  readonly accounts: readonly string[];
  /** Sign-in failures that were let through. */
  readonly counted: number;
  readonly secret: string;
}

/** Events that are too many in the window. */
export const SIGN_IN_LIMIT = 10;

/** What has a count that every holder of the lease raises by one, in two steps that others must not come between. */
export const COUNTED = "count";

async function main(path: string, process_: number, rounds: number): Promise<void> {
  const storage = await SqliteStorage.open(await driverOfRuntime(), path, {
    clock: new SystemClock(),
    collections: COLLECTIONS,
  });
  const secret = await new Secrets(storage.documents).getOrCreate(
    "jwt_secret",
    `secret ${process_}`,
  );
  const people = new People(storage.documents);
  const accounts: string[] = [];
  let counted = 0;
  for (let round = 0; round < rounds; round++) {
    const username = `user${round}`;
    const outcome = await people.accounts.create(
      makeAccount(username, { email: `${process_}.${round}@example.org` }),
    );
    if (outcome === "created") accounts.push(username);
    const counter = { key: ["a"], limit: SIGN_IN_LIMIT, windowMs: 1000, nowMs: 0 };
    if ((await new SignIns(storage.documents).count([counter])) === null) counted++;
    await raiseCount(storage, `process ${process_}`);
  }
  await storage.close();
  console.log(JSON.stringify({ accounts, counted, secret } satisfies Winnings));
}

async function raiseCount({ documents }: SqliteStorage, holder: string): Promise<void> {
  const { leases, memory } = runParts(documents);
  for (;;) {
    const lease = await leases.acquire({ name: "count", holder, ttlMs: 60_000 });
    if ("heldBy" in lease) {
      await nextTurn();
      continue;
    }
    const count = (await memory.drifts()).get(COUNTED) ?? 0;
    if (!(await lease.renew())) throw new Error("The lease was lost");
    await memory.keepDrifts(new Map([[COUNTED, count + 1]]));
    return await lease.release();
  }
}

if (import.meta.main) {
  const [path = "", process_, rounds] = process.argv.slice(2);
  await main(path, Number(process_), Number(rounds));
}
