// The exchanged rows of a table in the store: a push reads them, both directions add to them, and they are kept about as
// small as the table. D-7.1.
import type { Key } from "../../../domain/shared/document-key.ts";
import { countBlock } from "../../../domain/sync/run/exchanged-block.ts";
import { ExchangedRows, exchangedBlock } from "../../../domain/sync/run/exchanged-rows.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import { type RunLease, transferLeaseName, tryLease } from "../shared/hold-lease.ts";
import type { CommitExtras } from "../shared/write-rows.ts";
import type { ExtrasOfRows } from "./apply-records.ts";
import type { TableTransfer, TransferMarkers } from "./begin-transfer.ts";

/** Versions that pulls may add, beside as many as the table has rows, before they are put together. */
const MIN_ADDED = 50_000;

/** Exchanged rows as they were read. */
interface ReadExchanged {
  readonly rows: ExchangedRows;
  /** Where the blocks stand. */
  readonly keys: readonly Key[];
  readonly versions: number;
}

async function readExchanged({ run, table }: TableTransfer): Promise<ReadExchanged> {
  const { blocks, keys } = await run.deps.exchanged.read(table.name);
  return { rows: new ExchangedRows(table, blocks), keys, versions: countAll(blocks) };
}

/** Puts blocks that were read together: each row once, and only what a push from the marker on can meet. */
async function replaceExchanged(
  { run, table }: TableTransfer,
  pushLease: RunLease,
  read: ReadExchanged,
  pushMarker: string | null,
): Promise<void> {
  const blocks = read.rows.blocks(pushMarker);
  if (blocks.length === read.keys.length && countAll(blocks) === read.versions) return;
  pushLease.assertHeld();
  await run.deps.exchanged.replace(table.name, read.keys, blocks);
}

function countAll(blocks: readonly Uint8Array[]): number {
  return blocks.reduce((sum, block) => sum + countBlock(block), 0);
}

/** Exchanged rows during a push: what it need not send. */
export class PushExchange {
  readonly #transfer: TableTransfer;
  readonly #markers: TransferMarkers;
  readonly #read: ReadExchanged;

  private constructor(transfer: TableTransfer, markers: TransferMarkers, read: ReadExchanged) {
    this.#transfer = transfer;
    this.#markers = markers;
    this.#read = read;
  }

  /** With `force` every row is sent; so it is when nobody knows which rows came late: then they are forgotten. */
  static async open(transfer: TableTransfer, markers: TransferMarkers): Promise<PushExchange> {
    const { table, conflict } = transfer;
    const isUnknown = markers.lateFrom === "";
    if (isUnknown) transfer.memory.forgetExchanged();
    const read =
      isUnknown || conflict !== "newer"
        ? { rows: new ExchangedRows(table), keys: [], versions: 0 }
        : await readExchanged(transfer);
    return new PushExchange(transfer, markers, read);
  }

  /** Call it before `has` of these rows. */
  async prepare(rows: readonly Row[]): Promise<void> {
    const { run, lease } = this.#transfer;
    // Others have their turn after each block.
    for (const _ of this.#read.rows.readFor(rows)) await run.deps.timer.sleep(0, lease.signal);
  }

  /** True for a row that the push meets as it last went or came, and that was not noted as late since. */
  has(row: Row): boolean {
    return !this.#markers.isLate(row) && this.#read.rows.has(row);
  }

  /** What to commit with the marker behind rows that went. */
  extras(rows: readonly Row[]): Pick<CommitExtras, "exchanged"> {
    const exchanged = this.#read.rows.note(rows, this.#markers.current);
    return exchanged === null ? {} : { exchanged };
  }

  /** Call it at the end of a push that met all rows. */
  async finish(): Promise<void> {
    const { run, lease } = this.#transfer;
    if (run.isDryRun) return;
    await replaceExchanged(this.#transfer, lease, this.#read, this.#markers.current);
  }
}

/** Exchanged rows during a pull: it adds what it brings. */
export class PullExchange {
  readonly #transfer: TableTransfer;
  readonly #pushMarker: string | null;
  /** True when rows that were here before may not be exchanged. */
  readonly #isFromStart: boolean;
  /** The own mark from before the first exchanged row, when no push has kept one; null when one has. */
  readonly #ownMark: string | null;
  /** Versions added since they were put together last. */
  #added: number;
  #isChanged = false;

  private constructor(transfer: TableTransfer, isFromStart: boolean, ownMark: string | null) {
    const { last } = transfer;
    this.#transfer = transfer;
    this.#isFromStart = isFromStart;
    this.#ownMark = ownMark;
    this.#pushMarker = last.push.marker || null;
    this.#added = last.pull.added ?? 0;
  }

  static async open(transfer: TableTransfer, markers: TransferMarkers): Promise<PullExchange> {
    const { run, table, last } = transfer;
    const isFromStart = markers.start === null;
    const isKept = last.push.lateMark !== undefined || Boolean(last.push.marker);
    const late = isKept
      ? null
      : await run.deps.lateRows.read(table, { afterMark: null, isForOwnPush: true });
    return new PullExchange(transfer, isFromStart, late?.mark ?? null);
  }

  /** For one commit: what goes with the rows that are here as they came. */
  page(): ExtrasOfRows {
    const { table } = this.#transfer;
    const before = this.#added;
    return (rows, changed) => {
      // What comes again, as nothing has changed since, would be added again and again.
      if (changed === 0 && !this.#isFromStart) return {};
      const exchanged = exchangedBlock(table, rows, this.#pushMarker);
      if (exchanged === null) return {};
      this.#isChanged = true;
      this.#added = before + countBlock(exchanged);
      const mark = this.#ownMark === null ? {} : { push: { lateMark: this.#ownMark } };
      return { exchanged, memory: { pull: { added: this.#added }, ...mark } };
    };
  }

  /** Puts blocks together when they have grown, unless a push works with them. */
  async finish(): Promise<void> {
    const { run, table } = this.#transfer;
    if (!this.#isChanged || this.#added < MIN_ADDED) return;
    const rows = await run.deps.tables.count(table, { hasKey: true });
    if (this.#added < MIN_ADDED + rows) return;
    const lease = await tryLease(
      run.deps,
      transferLeaseName("push", table.name),
      run.runId,
      run.stop,
    );
    if ("heldBy" in lease) return;
    try {
      const read = await readExchanged(this.#transfer);
      await replaceExchanged(this.#transfer, lease, read, this.#pushMarker);
      await run.deps.memory.change(table.name, "pull", { added: 0 });
    } finally {
      await lease.release();
    }
  }
}
