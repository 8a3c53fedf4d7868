import { AppError } from "../../../domain/shared/errors.ts";
import type {
  HeldLease,
  LeaseClaim,
  LeaseRefusal,
  LeaseRequest,
  LeaseStore,
} from "../../../ports/runs/lease-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** A row per held lease. `turn` is random and tells the present holder from former ones. */
export const LEASE_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_leases (
    name TEXT PRIMARY KEY, holder TEXT NOT NULL, turn INTEGER NOT NULL,
    ttl_ms INTEGER NOT NULL, expires_at_ms INTEGER NOT NULL
  ) WITHOUT ROWID`,
];

/** A lease may be taken when it has run out, or ends later than it could: then the clock was set back since. */
const IS_FREE = "(expires_at_ms <= :now OR expires_at_ms > :now + 2 * ttl_ms)";

/** 53 random bits: what a JavaScript number holds. */
const RANDOM_TURN = "random() >> 11";

const ACQUIRE = `
  INSERT INTO repsync_leases (name, holder, turn, ttl_ms, expires_at_ms)
  VALUES (?1, ?2, ${RANDOM_TURN}, ?3, ?4 + ?3)
  ON CONFLICT (name) DO UPDATE SET
    holder = excluded.holder, turn = excluded.turn,
    ttl_ms = excluded.ttl_ms, expires_at_ms = excluded.expires_at_ms
  WHERE ${IS_FREE.replaceAll(":now", "?4")}
  RETURNING turn`;

const HOLDER = "SELECT holder FROM repsync_leases WHERE name = ?";

const IS_HELD = `name = ?1 AND turn = ?2 AND NOT ${IS_FREE.replaceAll(":now", "?3")}`;

const FIND_HELD = `SELECT 1 FROM repsync_leases WHERE ${IS_HELD}`;

const RENEW = `UPDATE repsync_leases SET expires_at_ms = ?3 + ttl_ms WHERE ${IS_HELD}`;

const RELEASE = "DELETE FROM repsync_leases WHERE name = ? AND turn = ?";

/** Leases in a table, by the clock of the machine, which all processes on the file share. */
export class SqliteLeaseStore implements LeaseStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async acquire(request: LeaseRequest): Promise<HeldLease | LeaseRefusal> {
    const database = this.#database;
    const { name, holder, ttlMs } = request;
    return database.keep(() => {
      const [taken] = database.all(ACQUIRE, [name, holder, ttlMs, database.nowMs()]);
      if (taken !== undefined) return this.#lease(name, Number(taken["turn"]));
      return { heldBy: String(database.all(HOLDER, [name])[0]?.["holder"]) };
    });
  }

  #lease(name: string, turn: number): HeldLease {
    const database = this.#database;
    return {
      claim: { name, turn: String(turn) },
      renew: () => database.keep(() => database.run(RENEW, [name, turn, database.nowMs()]) > 0),
      release: () => database.keep(() => void database.run(RELEASE, [name, turn])),
    };
  }
}

/**
 * Throws `lease_lost` unless the lease is held, within the caller's write. To read it is enough: until that commits, nobody
 * else can write, and so take the lease.
 */
export function assertLeaseHeld(database: SqliteDatabase, { name, turn }: LeaseClaim): void {
  if (database.all(FIND_HELD, [name, Number(turn), database.nowMs()]).length > 0) return;
  const message = `The lease "${name}" was lost before the commit, so nothing was written; run again`;
  throw new AppError("lease_lost", message);
}
