// Reads pages and totals, each pair from one snapshot. Totals and bookmarks are reused while the table is unchanged.
import type { ClientSession, Document } from "mongodb";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  StoredPage,
  StoredPageQuery,
  StoredPart,
  StoredPartQuery,
} from "../../../ports/tables/table-store.ts";
import { Deadline, retry } from "../driver/deadline.ts";
import { toAppError } from "../driver/errors.ts";
import { SNAPSHOT } from "../driver/operations.ts";
import { cursorText, type PartPlace, readCursor, START } from "../driver/part-cursor.ts";
import { beginTurns } from "../driver/turns.ts";
import type { VersionedDeps } from "../driver/versions.ts";
import { hasDates, readOrdered } from "./ordered-documents.ts";
import { readActivity, TableStates } from "./page-cache.ts";
import { RowReader, readPosition } from "./row-reader.ts";
import { behind, isBefore, isPlaced, keyFilter } from "./row-source.ts";
import { layoutOf, type TableLayout } from "./table-layout.ts";
import { countFilter } from "./time-values.ts";

/** One read: its snapshot, and the sequence of pages that it is one of. */
interface Reading {
  readonly layout: TableLayout;
  readonly tx: ClientSession;
  readonly sequence: PageSequence;
  /** Whether another program's BSON dates are among the timestamps. */
  readonly isMixed: boolean;
}

export class PageReader {
  readonly #deps: VersionedDeps;
  readonly #states: TableStates;
  readonly #bookmarks = new PageBookmarks<Document>();
  readonly #mixed = new Map<string, { readonly version: string; readonly isMixed: boolean }>();
  readonly #rowReaders = new WeakMap<TableLayout, RowReader>();

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
    this.#states = new TableStates(deps.clock);
  }

  async readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    return await this.#read(table, query.sinceTime, (reading) => this.#readPage(reading, query));
  }

  /** The rows behind a place, and the place behind them. */
  async readPart(table: Table, query: StoredPartQuery): Promise<StoredPart> {
    const layout = layoutOf(table);
    const place =
      query.cursor === null ? START : readCursor(query.cursor, Object.keys(layout.orderIndex));
    const isPassed = isBefore(place.position, layout, query.sinceTime);
    const from = isPassed ? START : place;
    return await this.#read(table, query.sinceTime, async (reading) => {
      const totalRows = this.#bookmarks.totalRows(reading.sequence);
      const [part, total] = await Promise.all([
        this.#findPart(reading, from, query),
        totalRows ?? this.#countRows(reading),
      ]);
      return { ...part, totalRows: total };
    });
  }

  async #findPart(
    { layout, tx, sequence, isMixed }: Reading,
    { position: from, skip }: PartPlace,
    { limitRows, maxJsonBytes }: StoredPartQuery,
  ): Promise<Pick<StoredPart, "rows" | "cursor">> {
    const { orderIndex } = layout;
    const conditions = [...isPlaced(orderIndex), ...(from === null ? [] : [behind(from)])];
    const range = { sinceTime: sequence.sinceTime, from, skip, limit: limitRows + 1, conditions };
    const rowReader = this.#rowReader(layout);
    const size = new PageSize(maxJsonBytes);
    const rows: Row[] = [];
    let last: Uint8Array | null = null;
    for await (const documents of readOrdered(
      this.#deps.db,
      { layout, hasDates: isMixed, ...range },
      tx,
    )) {
      for (const document of documents) {
        const row = rowReader.read(document);
        if (rows.length < limitRows && size.takes(row)) {
          rows.push(row);
          last = document;
          continue;
        }
        const place = last === null ? null : readPosition(last, layout);
        return { rows, cursor: cursorText(place, { position: from, skip: skip + rows.length }) };
      }
    }
    return { rows, cursor: null };
  }

  async readRow(table: Table, key: Row): Promise<Row | null> {
    const layout = layoutOf(table);
    const filter = keyFilter(layout, key);
    return await this.#read(table, null, async ({ tx }) => {
      const found: unknown = await this.#deps.db.collection(table.name).findOne(filter, {
        ...SNAPSHOT,
        ...{ session: tx, hint: layout.keyIndex, projection: layout.pageProjection, raw: true },
      });
      return found === null ? null : this.#rowReader(layout).read(found as Uint8Array);
    });
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
        versions.ofTable(table.name, tx),
      ]);
      let state = `${seenVersion} ${activity}`;
      if (!this.#states.isKnown(table.name, state)) {
        // A state is named by its activity, so what is read in it must not be older than that.
        await tx.endSession();
        tx = client.startSession({ snapshot: true });
        state = `${await versions.ofTable(table.name, tx)} ${activity}`;
      }
      const version = this.#states.version(table.name, state);
      const sequence = { tableName: table.name, sinceTime, version };
      const layout = layoutOf(table);
      const isMixed = await this.#hasDates(layout, version, tx);
      return await work({ layout, tx, sequence, isMixed });
    } finally {
      await tx.endSession();
    }
  }

  /** As of a version of the table. */
  async #hasDates(layout: TableLayout, version: string, tx: ClientSession): Promise<boolean> {
    const { name } = layout.table;
    const known = this.#mixed.get(name);
    if (known?.version === version) return known.isMixed;
    const isMixed = await hasDates(this.#deps.db, layout, tx);
    this.#mixed.set(name, { version, isMixed });
    return isMixed;
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
    const from = bookmark?.position ?? null;
    const beganMs = clock.monotonicMs();
    const [{ rows, last }, totalRows] = await Promise.all([
      this.#findRows(reading, from, skip, query),
      knownRows ?? this.#countRows(reading),
    ]);
    const isCostly = knownRows === null || skip > query.limitRows;
    if (isCostly) this.#states.addCost(layout.table.name, clock.monotonicMs() - beganMs);
    const position = last === null ? null : readPosition(last, layout);
    if (position !== null) {
      const offsetRows = query.offsetRows + rows.length;
      this.#bookmarks.remember(sequence, { offsetRows, position });
    }
    return { rows, totalRows };
  }

  /**
   * The rows of a page in the order of the table, from these values of the order index on, or from the first; and the
   * document of the last one. Large pages come in several batches, and only those that are needed.
   */
  async #findRows(
    { layout, tx, sequence, isMixed }: Reading,
    from: Document | null,
    skip: number,
    { limitRows: limit, maxJsonBytes }: StoredPageQuery,
  ): Promise<{ readonly rows: Row[]; readonly last: Uint8Array | null }> {
    const rowReader = this.#rowReader(layout);
    const size = new PageSize(maxJsonBytes ?? Number.POSITIVE_INFINITY);
    const turns = beginTurns(this.#deps.clock);
    const rows: Row[] = [];
    let last: Uint8Array | null = null;
    const query = {
      layout,
      sinceTime: sequence.sinceTime,
      from,
      skip,
      limit,
      hasDates: isMixed,
    };
    for await (const documents of readOrdered(this.#deps.db, query, tx)) {
      for (const document of documents) {
        if (turns.isOver) await turns.next();
        const row = rowReader.read(document);
        if (!size.takes(row)) return { rows, last };
        rows.push(row);
        last = document;
      }
    }
    return { rows, last };
  }

  async #countRows({ layout, tx, sequence, isMixed }: Reading): Promise<number> {
    const filter = countFilter(layout, sequence.sinceTime, isMixed);
    const [counted] = await this.#deps.db
      .collection(layout.table.name)
      .aggregate([{ $match: filter }, { $count: "rows" }], {
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
