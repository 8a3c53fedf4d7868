// Rejected records of one table and direction: kept in the commit that passes them, and tried again by the next run unless
// dropped. D-4.6, D-7.7.
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_NEW_REJECTIONS, MAX_RECORD_MESSAGE_CHARS } from "../../../domain/shared/limits.ts";
import { cutText, hashHex } from "../../../domain/shared/text.ts";
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import { type RowKey, rowKey, rowText } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import type { RejectedRecord, Rejection } from "../../../domain/sync/run/rejections.ts";
import type { CommitExtras } from "../shared/write-rows.ts";
import type { OwnTransfer } from "./open-transfer.ts";
import { commitExtras } from "./transfer-commits.ts";

const RETRIED_AT_ONCE = 500;
/** Notes of records: waiting, and settled, which are not tried again unless they change. */
const WAITING = 1;
const SETTLED = 2;
/** Refused by this transfer. */
const REFUSED = 3;

export class TableRejections {
  readonly #transfer: OwnTransfer;
  /** The only entry to look at; null for all that earlier runs left. */
  readonly #only: RejectedRecord | null;
  readonly #known = new RowMemory();
  /** Entries that earlier runs left. */
  waiting = 0;
  /** Records that this transfer rejected before it met their next version: they wait no more. */
  replaced = 0;
  /** Id of the last entry that waits; later entries have greater ids. */
  #lastId = "";
  #newlyRejected = 0;
  #accepted = 0;

  private constructor(transfer: OwnTransfer, only: RejectedRecord | null) {
    this.#transfer = transfer;
    this.#only = only;
  }

  static async open(
    transfer: OwnTransfer,
    only: RejectedRecord | null = null,
  ): Promise<TableRejections> {
    const { deps, table, direction } = transfer;
    const rejections = new TableRejections(transfer, only);
    for await (const part of rejections.#parts(null)) {
      for (const { id, record, key } of part) {
        rejections.#known.note(rejections.#textsOf(record ?? key), WAITING);
        rejections.waiting++;
        rejections.#lastId = id;
      }
    }
    for (const { key, fingerprint } of await deps.rejected.dropped(table.name, direction)) {
      rejections.#known.note(textsOf(rowKey(table, key), fingerprint), SETTLED);
    }
    return rejections;
  }

  /** Entries that earlier runs left, the oldest first; some may be retried between two parts. */
  async *waitingParts(): AsyncGenerator<readonly RejectedRecord[], void, undefined> {
    if (this.waiting > 0) yield* this.#parts(this.#lastId);
  }

  /** True for a record that this transfer has tried already, or that somebody dropped, with the same content. */
  isSettled(record: JsonObject): boolean {
    if (this.#known.size === 0) return false;
    const { note, isSame } = this.#find(record);
    return note >= SETTLED && isSame;
  }

  /** The state to commit for rejected and accepted records. Changes nothing here. */
  extras(
    rejected: readonly Rejection[],
    accepted: readonly JsonObject[],
  ): Pick<CommitExtras, "rejected" | "accepted"> {
    const { deps, table, direction } = this.#transfer;
    const lastAtMs = deps.clock.nowMs();
    const place = { table: table.name, direction };
    return {
      accepted: {
        ...place,
        keys: this.#knownOf(accepted).map((row) => rowKey(table, row).columns),
      },
      rejected: rejected.map(({ record, message }) => ({
        ...place,
        key: rowKey(table, record).columns,
        record: direction === "pull" ? record : null,
        fingerprint: this.#textsOf(record).content,
        message: cutText(message, MAX_RECORD_MESSAGE_CHARS),
        lastAtMs,
      })),
    };
  }

  /** Called after the commit of `extras` of these records. Throws `sync_failed` when too many are rejected, and fewer accepted. */
  settle(rejected: readonly Rejection[], accepted: readonly JsonObject[]): void {
    for (const record of this.#knownOf(accepted)) this.#note(record, SETTLED);
    for (const { record } of rejected) if (this.#note(record, REFUSED) === 0) this.#newlyRejected++;
    this.#accepted += accepted.length;
    if (this.#newlyRejected <= Math.max(MAX_NEW_REJECTIONS, this.#accepted)) return;
    const { table, direction } = this.#transfer;
    const whose = direction === "push" ? "The remote refuses" : "This deployment refuses";
    // Messages about people are kept only where an erasure removes them. D-8.2.
    const last = isOfPeople(table) ? "" : `; the last one: ${rejected.at(-1)?.message ?? ""}`;
    throw new AppError("sync_failed", `${whose} too many records of "${table.name}"${last}`);
  }

  /** Commits rejected and accepted records with more extras, and settles them. */
  async commit(
    rejected: readonly Rejection[],
    accepted: readonly JsonObject[],
    extras: Pick<CommitExtras, "memory" | "exchanged"> = {},
  ): Promise<void> {
    await commitExtras(this.#transfer, { ...extras, ...this.extras(rejected, accepted) });
    this.settle(rejected, accepted);
  }

  /** Returns how the record was noted before, 0 for one that was not known. */
  #note(record: JsonObject, note: typeof SETTLED | typeof REFUSED): number {
    const before = this.#known.note(this.#textsOf(record), note).note;
    if (before === REFUSED) this.replaced++;
    return before;
  }

  /** Records up to an id, null for all. */
  async *#parts(lastId: string | null): AsyncGenerator<readonly RejectedRecord[], void, undefined> {
    if (this.#only !== null) return yield [this.#only];
    const { deps, table, direction } = this.#transfer;
    const query = { table: table.name, direction, limit: RETRIED_AT_ONCE, isOldestFirst: true };
    for (let behindId: string | null = null; ; ) {
      const listed: readonly RejectedRecord[] = await deps.rejected.list({ ...query, behindId });
      const part = lastId === null ? listed : listed.filter(({ id }) => id <= lastId);
      if (part.length > 0) yield part;
      if (part.length < RETRIED_AT_ONCE) return;
      behindId = part.at(-1)?.id ?? null;
    }
  }

  #knownOf(records: readonly JsonObject[]): readonly JsonObject[] {
    if (this.#known.size === 0) return [];
    return records.filter((record) => this.#find(record).note > 0);
  }

  #find(record: JsonObject) {
    const { text, isUsable } = rowKey(this.#transfer.table, record);
    const known = this.#known.find({ key: text });
    // Most records are not known: no text of their content is made.
    return isUsable && known.note === 0 ? known : this.#known.find(this.#textsOf(record));
  }

  #textsOf(record: JsonObject) {
    const { table, direction } = this.#transfer;
    const content = direction === "push" ? rowText(table, record) : JSON.stringify(record);
    return textsOf(rowKey(table, record), hashHex(content));
  }
}

/** Records are versions of one row by `key`; without a usable key only equal ones are. */
function textsOf({ text, isUsable }: RowKey, fingerprint: string) {
  return { key: isUsable ? text : text + fingerprint, content: fingerprint };
}
