// What a body waits for: a batch of lookups is one that reads and then writes.
import { describe, expect } from "bun:test";
import { PostgresDocuments } from "../../../../src/adapters/postgres/documents/postgres-documents.ts";
import {
  bunDriver,
  type Driver,
  type Parameter,
} from "../../../../src/adapters/postgres/driver/bun-driver.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { PostgresTables } from "../../../../src/adapters/postgres/tables/postgres-tables.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Collection } from "../../../../src/ports/documents.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest as it } from "../support.ts";

interface Thing {
  readonly id: string;
  readonly n: number;
}

const THINGS: Collection<Thing> = { name: "things", keyOf: ({ id }) => [id] };

/** Counts how often something is sent after an answer has come. */
class CountingDriver implements Driver {
  readonly #driver: Driver;
  #isAnswered = true;
  roundTrips = 0;

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  async connect() {
    const connection = await this.#driver.connect();
    return {
      query: (text: string, parameters?: readonly Parameter[]) =>
        this.#send(() => connection.query(text, parameters)),
      script: (text: string) => this.#send(() => connection.script(text)),
      release: (isUsable: boolean) => connection.release(isUsable),
    };
  }

  close() {
    return this.#driver.close();
  }

  async #send<T>(statement: () => Promise<T>): Promise<T> {
    if (this.#isAnswered) this.roundTrips++;
    this.#isAnswered = false;
    try {
      return await statement();
    } finally {
      this.#isAnswered = true;
    }
  }
}

describe.skipIf(!postgresAvailable)("PostgreSQL round trips", () => {
  it("a body that reads once and then writes waits twice", async ({ url }) => {
    const options = { url, tls: false, maxConnections: 1, connectSeconds: 5 } as const;
    const driver = new CountingDriver(bunDriver(options));
    const database = new PostgresDatabase({ driver, clock: new SystemClock() });
    const documents = new PostgresDocuments(database, new PostgresTables(database, "public"));
    await documents.prepare([THINGS]);
    driver.roundTrips = 0;
    const before = await documents.transact({ name: "test" }, async (tx) => {
      const [found, versions] = await tx.read(
        { from: THINGS, keys: [["a"], ["b"]], lock: true },
        { versionsOf: ["ana", "bea"] },
      );
      tx.put(THINGS, { id: "a", n: 1 });
      tx.put(THINGS, { id: "b", n: 2 });
      tx.remove(THINGS, ["c"]);
      tx.raise(["ana"]);
      return { found, versions };
    });
    expect([before, driver.roundTrips]).toEqual([{ found: [], versions: [0, 0] }, 2]);
    const [found, versions] = await documents.read({ name: "test" }, (at) =>
      at.read({ from: THINGS, keys: [["a"], ["b"]] }, { versionsOf: ["ana", "bea"] }),
    );
    expect([found, versions[0]]).toEqual([
      [
        { id: "a", n: 1 },
        { id: "b", n: 2 },
      ],
      1,
    ]);
    await database.close();
  });
});
