// The processes that use the database: each renews its row while it runs, by the server's clock. D-10.7.
import { randomBytes } from "node:crypto";
import type { PostgresDatabase } from "./database.ts";
import { MAKE_NAMESPACE } from "./schema.ts";
import { isThere, type ServerTransaction } from "./transaction.ts";

/** Seconds for which a killed process still counts. */
export const HOLD_SECONDS = 15;
const RENEW_EVERY_MS = 4_000;

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
    this.#timer ??= setInterval(() => void renew().catch(() => {}), RENEW_EVERY_MS);
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
