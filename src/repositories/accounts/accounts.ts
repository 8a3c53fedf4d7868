import {
  type Account,
  emailKey,
  hasAccountText,
  isIssuedSince,
} from "../../domain/reputation/accounts/account.ts";
import { MAX_SEARCHED_ACCOUNTS } from "../../domain/shared/limits.ts";
import { dateTimeMs } from "../../domain/shared/time.ts";
import type { DocumentStore, Transaction } from "../../ports/documents.ts";
import {
  ACCOUNTS,
  ACTIVE,
  accountOf,
  CLAIMS,
  ERASED_NAMES,
  findAccount,
  SUSPENDED,
} from "../account-collections.ts";
import type { Subjects } from "../lookups/audit-chains.ts";
import { keepMonth } from "../lookups/usage.ts";
import { Repository } from "../repository.ts";
import type { HmacOfName } from "./names.ts";
import { endSessionsOf } from "./sessions.ts";

export type AccountConflict = "username_taken" | "email_taken";

interface AccountPage {
  /** Text that the name or the address contains, whatever the case of A to Z; null for all. */
  readonly text: string | null;
  /** 1 or more. */
  readonly limit: number;
  readonly afterUsername: string | null;
}

interface PasswordChange {
  /** The hash that the account has to have now. */
  readonly from: string;
  readonly to: string;
  /** The session that goes on; null for none. */
  readonly keptSession: string | null;
}

/** Where a new account may meet an earlier one of its name. */
export interface NameDeps {
  readonly documents: DocumentStore;
  readonly hmacOf: HmacOfName;
  readonly subjects: Subjects;
}

/** Accounts that one read of a list looks through. */
const LISTED_AT_ONCE = 1_000;

/** Accounts by username, compared exactly. E-mail addresses are kept as written; those with one `emailKey` are the same. */
export class Accounts extends Repository {
  readonly #deps: NameDeps;

  constructor(deps: NameDeps) {
    super(deps.documents);
    this.#deps = deps;
  }

  /**
   * Keeps a new account durably, or tells what is taken: `username_taken` when both are. Of several at once exactly one wins. Where
   * the name was erased a new person begins: the name is taken no more, and the calls of its month go on counting. A token that is
   * not `isIssuedSince` the erasure makes no account: `erased_since`. D-8.2.
   */
  async create(
    account: Account,
    by?: { readonly tokenIssuedAtMs: number | null },
  ): Promise<"created" | AccountConflict | "erased_since"> {
    const { hmacOf } = this.#deps;
    return await this.writing("accounts.create", async (tx) => {
      if (by !== undefined) {
        const hmac = hmacOf(account.username);
        const [[erased]] = await tx.read({ from: ERASED_NAMES, keys: [[hmac]] });
        const isOld =
          erased !== undefined &&
          !isIssuedSince(dateTimeMs(erased.at), by.tokenIssuedAtMs, tx.nowMs);
        if (isOld) return "erased_since";
      }
      return await createAccount(tx, this.#deps, account);
    });
  }

  /** True when any account is an administrator's. */
  async hasAdministrator(): Promise<boolean> {
    const keysOf = { index: "administrators", within: [[ACTIVE], [SUSPENDED]], limit: 1 };
    const [found] = await this.ask("accounts.has_administrator", { from: ACCOUNTS, keysOf });
    return found.length > 0;
  }

  /** The account as last written by any instance; null when there is none. */
  async find(username: string): Promise<Account | null> {
    return await this.reading("accounts.find", async (at) => {
      const found = await findAccount(at, username);
      return found === null ? null : accountOf(found);
    });
  }

  /**
   * Lists accounts in the order of their names by code point. A search lets other work go between its parts, and ends after many
   * accounts: `next` is the name behind which it goes on, null where none is left or enough are found.
   */
  async list({ text, limit, afterUsername }: AccountPage) {
    const found: Account[] = [];
    const atOnce = text === null ? limit : LISTED_AT_ONCE;
    let next = afterUsername;
    for (let looked = 0; looked < MAX_SEARCHED_ACCOUNTS; looked += atOnce) {
      const after = next === null ? {} : { after: [next] };
      const [part] = await this.ask("accounts.list", {
        from: ACCOUNTS,
        stretch: { ...after, limit: atOnce },
      });
      const wanted = text === null ? part : part.filter((one) => hasAccountText(one, text));
      found.push(...wanted.slice(0, limit - found.length).map(accountOf));
      next = part.at(-1)?.username ?? null;
      if (part.length < atOnce || found.length === limit) return { found, next: null };
    }
    return { found, next };
  }

  /**
   * Changes the password and ends the account's sessions in one durable commit. Once it has resolved no instance knows them any
   * more. False, and nothing is changed, for no such account or one with another password.
   */
  async changePassword(
    username: string,
    { from, to, keptSession }: PasswordChange,
  ): Promise<boolean> {
    return await this.writing("accounts.change_password", async (tx) => {
      const account = await findAccount(tx, username);
      if (account?.passwordHash !== from) return false;
      tx.put(ACCOUNTS, { ...account, passwordHash: to });
      await endSessionsOf(tx, username, keptSession);
      return true;
    });
  }
}

/** As `Accounts.create`, in the commit of a body. */
export async function createAccount(
  tx: Transaction,
  { hmacOf, subjects }: NameDeps,
  account: Account,
): Promise<"created" | AccountConflict> {
  const { username, email } = account;
  const claim = email === null ? null : emailClaim(email, username);
  const [[taken], claimed, [erased]] = await tx.read(
    { from: ACCOUNTS, keys: [[username]] },
    { from: CLAIMS, keys: claim === null ? [] : [CLAIMS.keyOf(claim)] },
    { from: ERASED_NAMES, keys: [[hmacOf(username)]] },
  );
  if (taken !== undefined) return "username_taken";
  if (claimed.length > 0) return "email_taken";
  tx.put(ACCOUNTS, account);
  if (claim !== null) tx.put(CLAIMS, claim);
  await endSessionsOf(tx, username);
  // From now on the audit log names the person by their own key, though they hide: erasure destroys it.
  const accountId = await subjects.makeId(username, tx);
  tx.raise([username]);
  if (erased === undefined) return "created";
  tx.put(ERASED_NAMES, { ...erased, isTaken: false });
  if (erased.month !== null) keepMonth(tx, accountId, erased.month);
  return "created";
}

/** Removes an account with its sessions and frees its address, in the commit of a body. */
export async function removeAccount(tx: Transaction, { username, email }: Account): Promise<void> {
  tx.remove(ACCOUNTS, [username]);
  if (email !== null) tx.remove(CLAIMS, CLAIMS.keyOf(emailClaim(email, username)));
  await endSessionsOf(tx, username);
}

function emailClaim(email: string, username: string) {
  return { kind: "email", text: emailKey(email), username } as const;
}
