// Reads pages and totals, each pair from one snapshot. Totals and bookmarks are reused while the table is unchanged.
import type { ClientSession, Document } from "mongodb";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { StoredPage, StoredPageQuery } from "../../../ports/tables/table-store.ts";
import { Deadline, retry } from "../driver/deadline.ts";
import { toAppError } from "../driver/errors.ts";
import { SNAPSHOT } from "../driver/operations.ts";
import type { VersionedDeps } from "../driver/person-changes.ts";
import { readActivity, TableStates } from "./page-cache.ts";
import { RowReader, readPosition } from "./row-reader.ts";
import { countFilter, layoutOf, sinceFilter, type TableLayout } from "./table-layout.ts";

/** One read: its snapshot, and the sequence of pages that it is one of. */
interface Reading {
  readonly layout: TableLayout;
  readonly tx: ClientSession;
  readonly sequence: PageSequence;
}

export class PageReader {
  readonly #deps: VersionedDeps;
  readonly #states: TableStates;
  readonly #bookmarks = new PageBookmarks<Document>();
  readonly #rowReaders = new WeakMap<TableLayout, RowReader>();

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
    this.#states = new TableStates(deps.clock);
  }

  async readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    return await this.#read(table, query.sinceTime, (reading) => this.#readPage(reading, query));
  }

  async countRows(table: Table): Promise<number> {
    return await this.#read(table, null, async (reading) => {
      const knownRows = this.#bookmarks.totalRows(reading.sequence);
      return knownRows ?? (await this.#countRows(reading));
    });
  }

  async #read<T>(
    table: Table,
    sinceTime: string | null,
    work: (reading: Reading) => Promise<T>,
  ): Promise<T> {
    try {
      const { clock, primaryWatch } = this.#deps;
      return await retry(Deadline.start(clock), () =>
        primaryWatch.read(() => this.#readOnce(table, sinceTime, work)),
      );
    } catch (error) {
      throw toAppError(error);
    }
  }

  async #readOnce<T>(
    table: Table,
    sinceTime: string | null,
    work: (reading: Reading) => Promise<T>,
  ): Promise<T> {
    const { client, db, versions } = this.#deps;
    let tx = client.startSession({ snapshot: true });
    try {
      const [activity, seenVersion] = await Promise.all([
        readActivity(db, table.name),
        versions.read(table.name, tx),
      ]);
      let state = `${seenVersion} ${activity}`;
      if (!this.#states.isKnown(table.name, state)) {
        // A state is named by its activity, so what is read in it must not be older than that.
        await tx.endSession();
        tx = client.startSession({ snapshot: true });
        state = `${await versions.read(table.name, tx)} ${activity}`;
      }
      const version = this.#states.version(table.name, state);
      const sequence = { tableName: table.name, sinceTime, version };
      return await work({ layout: layoutOf(table), tx, sequence });
    } finally {
      await tx.endSession();
    }
  }

  async #readPage(reading: Reading, query: StoredPageQuery): Promise<StoredPage> {
    const { layout, sequence } = reading;
    const { clock } = this.#deps;
    const knownRows = this.#bookmarks.totalRows(sequence);
    if (knownRows !== null && query.offsetRows >= knownRows) {
      return { rows: [], totalRows: knownRows };
    }
    const bookmark = this.#bookmarks.find(sequence, query.offsetRows);
    // Reading begins at the bookmark's own row, which is before the page.
    const skip = bookmark === null ? query.offsetRows : query.offsetRows - bookmark.offsetRows + 1;
    const min = bookmark?.position ?? null;
    const beganMs = clock.monotonicMs();
    const [documents, totalRows] = await Promise.all([
      this.#findDocuments(reading, min, skip, query.limitRows),
      knownRows ?? this.#countRows(reading),
    ]);
    const isCostly = knownRows === null || skip > query.limitRows;
    if (isCostly) this.#states.addCost(layout.table.name, clock.monotonicMs() - beganMs);
    const last = documents.at(-1);
    const position = last === undefined ? null : readPosition(last, layout);
    if (position !== null) {
      const offsetRows = query.offsetRows + documents.length;
      this.#bookmarks.remember(sequence, { offsetRows, position });
    }
    const rowReader = this.#rowReader(layout);
    return { rows: documents.map((document) => rowReader.read(document)), totalRows };
  }

  /** Documents in the order of the table: from these values of the order index on, or from the first. */
  async #findDocuments(
    { layout, tx, sequence }: Reading,
    min: Document | null,
    skip: number,
    limit: number,
  ): Promise<Uint8Array[]> {
    const documents: unknown[] = await this.#deps.db
      .collection(layout.table.name)
      .find(sinceFilter(layout, sequence.sinceTime), {
        ...SNAPSHOT,
        session: tx,
        sort: layout.orderIndex,
        hint: layout.orderIndex,
        ...(min === null ? {} : { min }),
        skip,
        limit,
        // One more than the page holds, so that the server sends all of it at once and closes the cursor.
        batchSize: limit + 1,
        projection: layout.pageProjection,
        raw: true,
      })
      .toArray();
    return documents as Uint8Array[];
  }

  async #countRows({ layout, tx, sequence }: Reading): Promise<number> {
    const [counted] = await this.#deps.db
      .collection(layout.table.name)
      .aggregate([{ $match: countFilter(layout, sequence.sinceTime) }, { $count: "rows" }], {
        ...SNAPSHOT,
        session: tx,
        hint: layout.orderIndex,
      })
      .toArray();
    const totalRows = Number(counted?.["rows"] ?? 0);
    this.#bookmarks.rememberTotal(sequence, totalRows);
    return totalRows;
  }

  #rowReader(layout: TableLayout): RowReader {
    const known = this.#rowReaders.get(layout);
    if (known !== undefined) return known;
    const rowReader = new RowReader(layout);
    this.#rowReaders.set(layout, rowReader);
    return rowReader;
  }
}
