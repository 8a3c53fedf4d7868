import type { ClientSession, Collection, Db } from "mongodb";
import type { MakeAlert } from "../../../domain/alerts/alert.ts";
import {
  type QuotaStep,
  quotaSteps,
  ToldQuotaSteps,
} from "../../../domain/reputation/accounts/account-alerts.ts";
import type { MeterCharge } from "../../../domain/reputation/accounts/call-meter.ts";
import { type QuotaMark, quotaMarksOf } from "../accounts/quota-marks.ts";
import { addAlerts } from "../documents/own-documents.ts";
import type { OwnedCaller } from "./lookup-cache.ts";

/** A step of a quota that is told by a batch. */
export interface ToldStep {
  readonly accountId: string;
  readonly step: QuotaStep;
}

/** Tells each step of a month's quota once, in the commit that reaches it. D-10.12. */
export class QuotaAlerts {
  readonly #db: Db;
  readonly #marks: Collection<QuotaMark>;
  readonly #makeAlert: MakeAlert | null;
  readonly #known = new ToldQuotaSteps();

  /** Without `makeAlert` it tells nothing. */
  constructor(db: Db, makeAlert: MakeAlert | null) {
    this.#db = db;
    this.#marks = quotaMarksOf(db);
    this.#makeAlert = makeAlert;
  }

  /** What a charge has reached and this process has not told. */
  reached({ accountId, limits }: OwnedCaller, charge: MeterCharge): readonly QuotaStep[] {
    if (this.#makeAlert === null) return [];
    return quotaSteps(charge, limits).filter((step) => !this.#known.has(accountId, step));
  }

  /** Tells what no instance has told, within a transaction. */
  async tell(caller: OwnedCaller, steps: readonly QuotaStep[], tx: ClientSession): Promise<void> {
    const { accountId, username: account } = caller;
    const makeAlert = this.#makeAlert;
    if (makeAlert === null) return;
    for (const step of steps) {
      const mark = { $setOnInsert: { accountId, at: new Date(`${step.month}-01T00:00:00Z`) } };
      const options = { upsert: true, session: tx };
      const _id = `${accountId}/${step.month}/${step.type}`;
      const { upsertedCount } = await this.#marks.updateOne({ _id }, mark, options);
      if (upsertedCount > 0) await addAlerts(this.#db, [makeAlert({ ...step, account })], tx);
    }
  }

  /** Call it once the transaction is committed. */
  remember(told: readonly ToldStep[]): void {
    for (const { accountId, step } of told) this.#known.note(accountId, step);
  }
}
