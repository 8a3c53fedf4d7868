import type { CallHistory } from "../../../domain/reputation/accounts/call-history.ts";
import type { EffectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import type { UsageReading, UsageStore } from "../../../ports/accounts/account-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { readCalls } from "./call-counter.ts";
import { readHistory } from "./call-history.ts";
import type { Subjects } from "./subjects.ts";

export class SqliteUsageStore implements UsageStore {
  readonly #database: SqliteDatabase;
  readonly #subjects: Subjects;

  constructor(database: SqliteDatabase, subjects: Subjects) {
    this.#database = database;
    this.#subjects = subjects;
  }

  async read(username: string, { callsPerMinute }: EffectiveLimits): Promise<UsageReading> {
    return this.#database.read(() => {
      const nowMs = this.#database.nowMs();
      // An account without an id has made no call.
      const accountId = this.#subjects.accountId(username) ?? "";
      return { reading: readCalls(this.#database, accountId, callsPerMinute, nowMs), nowMs };
    });
  }

  async history(username: string): Promise<CallHistory> {
    return this.#database.read(() =>
      readHistory(this.#database, this.#subjects.accountId(username) ?? ""),
    );
  }
}
