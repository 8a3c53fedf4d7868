import type { MakeAlert } from "../../../domain/alerts/alert.ts";
import {
  type QuotaStep,
  quotaSteps,
  ToldQuotaSteps,
} from "../../../domain/reputation/accounts/account-alerts.ts";
import type { MeterCharge } from "../../../domain/reputation/accounts/call-meter.ts";
import type { LimitedCaller } from "../../../domain/reputation/lookups/lookup-batch.ts";
import { addAlerts } from "../documents/own-documents.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** A step of a quota that is told by a batch. */
export interface ToldStep {
  readonly accountId: string;
  readonly step: QuotaStep;
}

const FORGET = "DELETE FROM repsync_quota_alerts WHERE month < ?";
const MARK =
  "INSERT INTO repsync_quota_alerts (account_id, month, type) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";

/** Tells each step of a month's quota once, in the commit that reaches it. D-10.12. */
export class QuotaAlerts {
  readonly #database: SqliteDatabase;
  readonly #makeAlert: MakeAlert | null;
  readonly #known = new ToldQuotaSteps();

  /** Without `makeAlert` it tells nothing. */
  constructor(database: SqliteDatabase, makeAlert: MakeAlert | null) {
    this.#database = database;
    this.#makeAlert = makeAlert;
  }

  /** Tells what a charge has reached, within its write; returns it for `remember`, once that is committed. */
  tell(caller: LimitedCaller, username: string, charge: MeterCharge): readonly ToldStep[] {
    const { accountId, limits } = caller;
    const makeAlert = this.#makeAlert;
    if (makeAlert === null) return [];
    const steps = quotaSteps(charge, limits).filter((step) => !this.#known.has(accountId, step));
    for (const step of steps) {
      this.#database.run(FORGET, [step.month]);
      const isNew = this.#database.run(MARK, [accountId, step.month, step.type]) > 0;
      if (isNew) addAlerts(this.#database, [makeAlert({ ...step, account: username })]);
    }
    return steps.map((step) => ({ accountId, step }));
  }

  remember(told: readonly ToldStep[]): void {
    for (const { accountId, step } of told) this.#known.note(accountId, step);
  }
}
