// The facts that a database tells about itself. D-10.4, D-10.7.
import { randomBytes } from "node:crypto";
import {
  checkFormat,
  STORE_FORMAT,
  type StoreFactName,
  type StoreFacts,
  type StoreIdentity,
} from "../../../domain/shared/store-format.ts";
import type { PostgresDatabase } from "./database.ts";
import { MAKE_SCHEMA } from "./schema.ts";
import { isThere, type ServerTransaction } from "./transaction.ts";

interface FactsOptions {
  readonly isFilling?: boolean;
  /** Checks what else has to fit, before any write. */
  readonly examine: (tx: ServerTransaction) => Promise<void>;
}

export async function readFacts(tx: ServerTransaction): Promise<StoreFacts> {
  if (!(await isThere(tx, "repsync._facts"))) return new Map();
  const lines = await tx.query("select name, value from repsync._facts");
  return new Map(lines.map(([name, value]) => [name as StoreFactName, String(value)]));
}

/** True where any version has made tables. */
export async function isPrepared(tx: ServerTransaction): Promise<boolean> {
  return await isThere(tx, "repsync._tables");
}

/** Checks the format before any change, and keeps missing facts. Throws `invalid_request` for a store that this program must not use. */
export async function prepareFacts(
  database: PostgresDatabase,
  { isFilling = false, examine }: FactsOptions,
): Promise<StoreIdentity> {
  return await database.change("store.open", async (tx) => {
    const isOld = await isPrepared(tx);
    const facts = new Map(await readFacts(tx));
    if (isFilling) facts.delete("filled_by");
    const isNew = !isOld || (isFilling && facts.size === 0);
    checkFormat(facts, isNew);
    await examine(tx);
    const known = facts.get("deployment_id");
    if (known !== undefined) return { deploymentId: known, isNew: false };
    const deploymentId = randomBytes(12).toString("hex");
    await tx.script(MAKE_SCHEMA);
    await setFact(tx, "deployment_id", deploymentId);
    await setFact(tx, "format", String(STORE_FORMAT));
    return { deploymentId, isNew: true };
  });
}

export async function setFact(
  tx: ServerTransaction,
  name: StoreFactName,
  value: string,
): Promise<void> {
  const text =
    "insert into repsync._facts (name, value) values ($1::text, $2::text) on conflict (name) do update set value = excluded.value";
  await tx.query(text, [name, value]);
}

export async function removeFact(tx: ServerTransaction, name: StoreFactName): Promise<void> {
  await tx.query("delete from repsync._facts where name = $1::text", [name]);
}
