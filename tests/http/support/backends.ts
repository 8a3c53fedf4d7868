// The stores that the same HTTP tests run on.
import { describe } from "bun:test";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { mongoAvailable, sharedMongo } from "../../support/shared-mongo.ts";
import { makeTempFolder } from "./make-temp-folder.ts";

/** One kind of store. */
export interface Backend {
  readonly name: string;
  /** False: there is none here, and why has been printed. */
  readonly isAvailable: boolean;
  /** A `STORAGE_URL` that nobody else uses. */
  makeUrl(): Promise<string>;
}

/** A file, removed after the test. */
export const SQLITE_FILE: Backend = {
  name: "SQLite file",
  isAvailable: true,
  makeUrl: async () => `sqlite:${join(makeTempFolder(), "repsync.db")}`,
};

/** A database of the replica set that all tests share. */
export const MONGODB: Backend = {
  name: "MongoDB",
  isAvailable: mongoAvailable,
  async makeUrl() {
    const mongo = await sharedMongo();
    if (mongo === null) throw new Error("There is no mongod");
    return mongo.uri(`http_${randomUUID().replaceAll("-", "")}`);
  },
};

/** Declares the same tests for each kind of store. */
export function onEveryBackend(name: string, tests: (backend: Backend) => void): void {
  for (const backend of [SQLITE_FILE, MONGODB]) {
    describe.skipIf(!backend.isAvailable)(`${name} on ${backend.name}`, () => tests(backend));
  }
}
