// Pages and totals, each pair from one snapshot. What an unchanged table made known is used again.
import type { ClientSession, Document } from "mongodb";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { StoredPage, StoredPageQuery } from "../../../ports/tables/table-store.ts";
import { retry, startDeadline } from "../driver/deadline.ts";
import { toAppError } from "../driver/errors.ts";
import type { VersionedParts } from "../driver/known-changes.ts";
import { SNAPSHOT } from "../driver/operations.ts";
import { readActivity, TableMemory } from "./page-cache.ts";
import { RowReader, readPosition } from "./row-reader.ts";
import { countFilter, layoutOf, sinceFilter, type TableLayout } from "./table-layout.ts";

interface Wanted {
  readonly table: Table;
  readonly sinceTime: string | null;
}

/** One read: its snapshot, and where what it finds out is remembered. */
interface Reading {
  readonly layout: TableLayout;
  readonly session: ClientSession;
  readonly sequence: PageSequence;
}

/** Where a page begins: rows skipped from the values of an index key on, or from the first row. */
interface Place {
  readonly min: Document | null;
  readonly skip: number;
  readonly limit: number;
}

/** Reads the rows of tables. */
export class PageReader {
  readonly #parts: VersionedParts;
  readonly #memory: TableMemory;
  readonly #bookmarks = new PageBookmarks<Document>();
  readonly #rowReaders = new WeakMap<TableLayout, RowReader>();

  constructor(parts: VersionedParts) {
    this.#parts = parts;
    this.#memory = new TableMemory(parts.clock);
  }

  async readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    const { sinceTime } = query;
    return await this.#read({ table, sinceTime }, (reading) => this.#readPage(reading, query));
  }

  async countRows(table: Table): Promise<number> {
    return await this.#read({ table, sinceTime: null }, async (reading) => {
      const knownRows = this.#bookmarks.totalRows(reading.sequence);
      return knownRows ?? (await this.#countRows(reading));
    });
  }

  async #read<T>(wanted: Wanted, work: (reading: Reading) => Promise<T>): Promise<T> {
    try {
      const { clock, primaryWatch } = this.#parts;
      return await retry(startDeadline(clock), () =>
        primaryWatch.read(() => this.#readOnce(wanted, work)),
      );
    } catch (error) {
      throw toAppError(error);
    }
  }

  async #readOnce<T>(
    { table, sinceTime }: Wanted,
    work: (reading: Reading) => Promise<T>,
  ): Promise<T> {
    const { client, versions } = this.#parts;
    let session = client.startSession({ snapshot: true });
    try {
      const [activity, seenVersion] = await Promise.all([
        readActivity(this.#parts.db, [table.name]),
        versions.read(table.name, session),
      ]);
      let state = `${seenVersion} ${activity}`;
      if (!this.#memory.isKnown(table.name, state)) {
        // What is remembered from now on must not be older than the activity it is compared by.
        await session.endSession();
        session = client.startSession({ snapshot: true });
        state = `${await versions.read(table.name, session)} ${activity}`;
      }
      const version = this.#memory.version(table.name, state);
      const sequence = { tableName: table.name, sinceTime, version };
      return await work({ layout: layoutOf(table), session, sequence });
    } finally {
      await session.endSession();
    }
  }

  async #readPage(reading: Reading, query: StoredPageQuery): Promise<StoredPage> {
    const { layout, sequence } = reading;
    const { clock } = this.#parts;
    const knownRows = this.#bookmarks.totalRows(sequence);
    if (knownRows !== null && query.offsetRows >= knownRows) {
      return { rows: [], totalRows: knownRows };
    }
    const bookmark = this.#bookmarks.find(sequence, query.offsetRows);
    // The lower bound is the bookmark's own row, which is before the page.
    const skip = bookmark === null ? query.offsetRows : query.offsetRows - bookmark.offsetRows + 1;
    const place = { min: bookmark?.position ?? null, skip, limit: query.limitRows };
    const beganMs = clock.monotonicMs();
    const [documents, totalRows] = await Promise.all([
      this.#findDocuments(reading, place),
      knownRows ?? this.#countRows(reading),
    ]);
    const isCostly = knownRows === null || skip > query.limitRows;
    if (isCostly) this.#memory.addCost(layout.table.name, clock.monotonicMs() - beganMs);
    const last = documents.at(-1);
    const position = last === undefined ? null : readPosition(last, layout);
    if (position !== null) {
      const offsetRows = query.offsetRows + documents.length;
      this.#bookmarks.remember(sequence, { offsetRows, position });
    }
    const rowReader = this.#rowReader(layout);
    return { rows: documents.map((document) => rowReader.read(document)), totalRows };
  }

  async #findDocuments(reading: Reading, { min, skip, limit }: Place): Promise<Uint8Array[]> {
    const { layout, session, sequence } = reading;
    const documents: unknown[] = await this.#parts.db
      .collection(layout.table.name)
      .find(sinceFilter(layout, sequence.sinceTime), {
        session,
        ...SNAPSHOT,
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

  async #countRows({ layout, session, sequence }: Reading): Promise<number> {
    const [counted] = await this.#parts.db
      .collection(layout.table.name)
      .aggregate([{ $match: countFilter(layout, sequence.sinceTime) }, { $count: "rows" }], {
        session,
        ...SNAPSHOT,
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
