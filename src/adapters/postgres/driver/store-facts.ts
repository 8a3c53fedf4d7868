// The facts that a database tells about itself, and the processes that use it. D-10.4, D-10.7.
import { randomBytes } from "node:crypto";
import {
  checkFormat,
  HOLD_SECONDS,
  RENEW_HOLD_MS,
  STORE_FORMAT,
  type StoreFactName,
  type StoreFacts,
  type StoreIdentity,
} from "../../../domain/shared/store-format.ts";
import type { PostgresDatabase } from "./database.ts";
import { MAKE_NAMESPACE, MAKE_SCHEMA } from "./schema.ts";
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

/**
 * Checks the format before any change, and makes what is missing of the schema and of its facts. Throws `invalid_request` for a store
 * that this program must not use.
 */
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
    await tx.script(MAKE_SCHEMA);
    const known = facts.get("deployment_id");
    if (known !== undefined) return { deploymentId: known, isNew: false };
    const deploymentId = randomBytes(12).toString("hex");
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

/** The one id of the process that fills a database. */
const FILLER = "filler";

const MAKE = `${MAKE_NAMESPACE}
create table if not exists repsync._holders (id text primary key, process text not null, ends_at timestamptz not null)`;
const RENEW = `
insert into repsync._holders as h (id, process, ends_at)
values ($1::text, $2::text, clock_timestamp() + interval '${HOLD_SECONDS} seconds')
on conflict (id) do update set process = excluded.process, ends_at = excluded.ends_at
where h.process = excluded.process or h.ends_at <= clock_timestamp()
returning id`;
const END = "delete from repsync._holders where id = $1::text and process = $2::text";
const FIND = "select from repsync._holders where ends_at > clock_timestamp() and id <> $1::text";

/** Drops the table in a database that was not filled; the schema of another owner stays. */
const LEAVE = `
do $body$ declare called regprocedure; is_held bool;
begin
  if to_regclass('repsync._facts') is not null or to_regclass('repsync._holders') is null then return; end if;
  execute 'select exists (select from repsync._holders)' into is_held;
  if is_held then return; end if;
  for called in select oid from pg_proc where pronamespace = to_regnamespace('repsync') loop
    execute format('drop function %s cascade', called);
  end loop;
  drop table repsync._holders;
  begin drop schema repsync; exception when others then null; end;
end $body$`;

/** A process that uses the database: it renews its row while it runs, by the server's clock. */
export class Holder {
  readonly id: string;
  readonly #database: PostgresDatabase;
  readonly #own: readonly [id: string, process: string];
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(database: PostgresDatabase, { isFiller = false } = {}) {
    this.#database = database;
    const process = randomBytes(12).toString("hex");
    this.id = isFiller ? FILLER : process;
    this.#own = [this.id, process];
  }

  /** False when another process has the id. The next renewal makes up for a failed one. */
  async begin(): Promise<boolean> {
    const { length } = await this.#database.change("holder.begin", async (tx) => {
      // Not at the time of a claim, which looks for holders first.
      await tx.script(MAKE);
      return await tx.query(RENEW, this.#own);
    });
    if (length === 0) return false;
    const renew = () => this.#database.ask("holder.renew", RENEW, this.#own);
    this.#timer ??= setInterval(() => void renew().catch(() => {}), RENEW_HOLD_MS);
    this.#timer.unref();
    return true;
  }

  /** Never rejects: a row that stays expires. */
  async end(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await this.#database.ask("holder.end", END, this.#own).catch(() => {});
    if (this.id !== FILLER) return;
    await this.#database.change("holder.leave", (tx) => tx.script(LEAVE)).catch(() => {});
  }
}

/** True when a process other than `but` uses the database, or did a moment ago. */
export async function isHeld(tx: ServerTransaction, but = FILLER): Promise<boolean> {
  return (await isThere(tx, "repsync._holders")) && (await tx.query(FIND, [but])).length > 0;
}
