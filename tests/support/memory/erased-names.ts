// Names of people who were erased, in memory: as in a real store only HMACs of them. D-8.2.
import type { ErasedName } from "../../../src/domain/reputation/accounts/membership.ts";
import type { MonthUsage } from "../../../src/domain/reputation/accounts/quota.ts";

/** What the reputation half brings. */
interface NameTools {
  readonly hmacOf: (username: string) => string;
  /** Lets calls of the month count for a new account. */
  readonly keepCalls: (username: string, month: MonthUsage) => void;
}

/** Erasures by the HMAC of the name. */
export class MemoryErasedNames {
  readonly #erased = new Map<string, ErasedName>();
  #tools: NameTools | null = null;

  open(tools: NameTools): void {
    this.#tools = tools;
  }

  find(username: string): ErasedName | null {
    if (this.#erased.size === 0) return null;
    return this.#erased.get(this.#hmacOf(username)) ?? null;
  }

  /** Remembers an erasure; the name is taken. */
  keep(username: string, erased: Omit<ErasedName, "isTaken">): void {
    this.#erased.set(this.#hmacOf(username), { ...erased, isTaken: true });
  }

  /** False when the name was not taken. */
  release(username: string): boolean {
    const erased = this.find(username);
    if (!erased?.isTaken) return false;
    this.#erased.set(this.#hmacOf(username), { ...erased, isTaken: false });
    return true;
  }

  /** A new person has the name. */
  begin(username: string): void {
    const erased = this.find(username);
    this.release(username);
    if (erased?.month) this.#tools?.keepCalls(username, erased.month);
  }

  #hmacOf(username: string): string {
    if (this.#tools === null) throw new Error("Erased names cannot be told before they are opened");
    return this.#tools.hmacOf(username);
  }
}
