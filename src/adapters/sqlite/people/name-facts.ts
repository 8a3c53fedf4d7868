// What documents of repositories tell of the people whom rows name, within a write of rows. D-8.1, D-8.2.
import type { Account } from "../../../domain/reputation/accounts/account.ts";
import type { Erasure } from "../../../domain/sync/people/erasure.ts";
import type { NameFacts } from "../../../domain/sync/people/owned-row.ts";
import { keyBytes } from "../driver/key-bytes.ts";
import type { SqliteWork } from "../driver/run-body.ts";

const ACCOUNT = "SELECT doc FROM repsync_accounts WHERE key = ?";
const IS_ANY_ERASED = "SELECT 1 FROM repsync_erased_names LIMIT 1";
const ERASED = "SELECT doc FROM repsync_erased_names WHERE key = ?";

/** The names that were erased. */
export class ErasedNames {
  readonly #database: Pick<SqliteWork, "all">;
  #hmacOf: ((username: string) => string) | null = null;

  constructor(database: Pick<SqliteWork, "all">) {
    this.#database = database;
  }

  /** Until then no name may have been erased. */
  open(hmacOf: (username: string) => string): void {
    this.#hmacOf = hmacOf;
  }

  find(username: string): Erasure | null {
    // An HMAC for each name would cost more than all of the rest.
    if (this.#database.all(IS_ANY_ERASED).length === 0) return null;
    if (this.#hmacOf === null)
      throw new Error("Erased names cannot be told before they are opened");
    const [row] = this.#database.all(ERASED, [keyBytes([this.#hmacOf(username)])]);
    if (row === undefined) return null;
    const { at, isTaken } = JSON.parse(String(row["doc"])) as Erasure;
    return { at, isTaken };
  }
}

/** Null when nothing is known of the name. */
export function readNameFacts(
  database: Pick<SqliteWork, "all">,
  erasedNames: ErasedNames,
  username: string,
): NameFacts | null {
  const [row] = database.all(ACCOUNT, [keyBytes([username])]);
  const account = row === undefined ? null : JSON.parse(String(row["doc"]));
  const { passwordHash, hidesProfile = false } = (account ?? { passwordHash: null }) as Account & {
    readonly hidesProfile?: true;
  };
  const ownsProfile = passwordHash !== null;
  const erased = erasedNames.find(username);
  const isKnown = ownsProfile || hidesProfile || erased !== null;
  return isKnown ? { ownsProfile, hidesProfile, erased } : null;
}
