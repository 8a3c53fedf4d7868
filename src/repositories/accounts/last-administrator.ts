// Looks after the last administrator where a commit takes one away. The commit writes to the administrator that is left: two
// transactions that only read each other's account would both be committed. Only where an administrator goes does the body run
// again under the lock of the administrators.
import { type Account, isActiveAdministrator } from "../../domain/reputation/accounts/account.ts";
import type { Key } from "../../domain/shared/document-key.ts";
import type { DocumentStore, Transaction } from "../../ports/documents.ts";
import { ACCOUNTS, ACTIVE, ADMINISTRATORS } from "./account-collections.ts";

interface AdministratorGuard {
  /** Belongs to the first read of the body. */
  readonly lock: {
    readonly from: typeof ACCOUNTS;
    readonly keys: readonly Key[];
    readonly lock: true;
  };
  /** Whether nobody else could administer without this account. */
  isLast(account: Account): Promise<boolean>;
}

/** Thrown where a body meets an administrator without the lock. */
class NeedsLock extends Error {}

/**
 * Runs a body that may take an administrator away. Of two that take each other away at once one runs again, and finds the
 * last; what concerns nobody who administers waits for no other.
 */
export async function guardingAdministrators<T>(
  documents: DocumentStore,
  name: string,
  body: (tx: Transaction, guard: AdministratorGuard) => Promise<T>,
): Promise<T> {
  const run = (isLocked: boolean) =>
    documents.transact({ name }, (tx) =>
      body(tx, {
        lock: { from: ACCOUNTS, keys: isLocked ? [ADMINISTRATORS] : [], lock: true },
        async isLast(account) {
          if (!isActiveAdministrator(account)) return false;
          if (!isLocked) throw new NeedsLock();
          const keysOf = { index: "administrators", within: [[ACTIVE]], limit: 2 };
          const [active] = await tx.read({ from: ACCOUNTS, keysOf });
          return active.length < 2;
        },
      }),
    );
  try {
    return await run(false);
  } catch (error) {
    if (!(error instanceof NeedsLock)) throw error;
    return await run(true);
  }
}
