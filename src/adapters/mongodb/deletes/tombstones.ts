import type { ClientSession, Collection, Filter } from "mongodb";
import { parseJson } from "../../../domain/shared/json.ts";
import { placeOfCursor, placeText } from "../../../domain/shared/list-query.ts";
import { firstMsFrom, formatMs } from "../../../domain/shared/time.ts";
import { keyText, recordKey } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, outlives } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  TombstonePage,
  TombstoneQuery,
  Tombstones,
} from "../../../ports/tables/table-store.ts";
import { lastNumber } from "../driver/collections.ts";
import { readSnapshot, type StoreDeps, writeTogether } from "../driver/operations.ts";
import {
  counterOf,
  findTombstones,
  type TombstoneDocument,
  tombstonesOf,
} from "../driver/tombstone-documents.ts";
import { findStored, type KeyOfRow, keyOfRow } from "../tables/stored-rows.ts";
import { keyAndTime } from "../tables/table-layout.ts";
import { readNowMs } from "../tables/table-states.ts";
import type { DeleteRecorder } from "./delete-recorder.ts";
import { RecorderStates } from "./recorder-state.ts";

const FORGOTTEN_AT_ONCE = 10_000;

export class MongoTombstones implements Tombstones {
  readonly #deps: StoreDeps;
  readonly #recorder: DeleteRecorder;
  readonly #states: RecorderStates;
  readonly #tombstones: Collection<TombstoneDocument>;

  constructor(deps: StoreDeps, recorder: DeleteRecorder) {
    this.#deps = deps;
    this.#recorder = recorder;
    this.#states = new RecorderStates(deps);
    this.#tombstones = tombstonesOf(deps.db);
  }

  async list(table: Table, query: TombstoneQuery): Promise<TombstonePage> {
    await this.#recorder.caughtUp(table);
    const { after, limitRows } = query;
    return await readSnapshot(this.#deps, async (tx) => {
      const { completeSince, list, place: start } = await this.#at(table, after, tx);
      let place = start;
      const found: TombstoneDocument[] = [];
      for (let isLast = false; !isLast && found.length <= limitRows; ) {
        const wanted = limitRows + 1 - found.length;
        const documents = await this.#read(table, { ...query, place, limitRows: wanted }, tx);
        found.push(...(await this.#withoutLaterRows(table, documents, tx)));
        place = documents.at(-1)?.place ?? place;
        isLast = documents.length < wanted;
      }
      const page = found.slice(0, limitRows);
      return {
        items: page.map(({ key, deletedAt }) => ({ key: parseJson(key) as Row, deletedAt })),
        cursor: placeText(list, page.at(-1)?.place ?? start),
        hasMore: found.length > page.length,
        earliestAvailable: formatMs(completeSince.getTime()),
      };
    });
  }

  async end(table: Table): Promise<string> {
    await this.#recorder.caughtUp(table);
    return await readSnapshot(this.#deps, async (tx) => {
      const { list, lastPlace } = await this.#at(table, null, tx);
      return placeText(list, lastPlace);
    });
  }

  /** Includes tombstones whose row was written anew, which `list` leaves out. */
  async countAfter(table: Table, after: string | null): Promise<number> {
    return await readSnapshot(this.#deps, async (tx) => {
      const { place } = await this.#at(table, after, tx);
      const filter = { table: table.name, place: { $gt: place } };
      return await this.#tombstones.countDocuments(filter, { session: tx });
    });
  }

  async byKeys(table: Table, keys: readonly Row[]): Promise<readonly Tombstone[]> {
    const named = new Map(keys.map((row) => [keyText(table, row), recordKey(table, row)]));
    const found = await readSnapshot(this.#deps, (tx) =>
      findTombstones(this.#deps.db, table, named.keys(), tx),
    );
    return Array.from(found, ([text, deletedAt]) => ({ key: named.get(text) ?? {}, deletedAt }));
  }

  async forgetAfter(table: Table, after: string | null): Promise<number> {
    await this.#recorder.caughtUp(table);
    const { place } = await readSnapshot(this.#deps, (tx) => this.#at(table, after, tx));
    return await this.#forget({ table: table.name, place: { $gt: place } });
  }

  async prune(table: Table, beforeTime: string): Promise<number> {
    const before = new Date(firstMsFrom(beforeTime));
    await writeTogether(this.#deps, (tx) => this.#states.forgetBefore(table, before, tx));
    return await this.#forget({ table: table.name, takenAt: { $lt: before } });
  }

  async #forget(filter: Filter<TombstoneDocument>): Promise<number> {
    for (let forgotten = 0; ; ) {
      const count = await writeTogether(this.#deps, async (tx) => {
        const options = { session: tx, projection: { _id: 1 }, limit: FORGOTTEN_AT_ONCE } as const;
        const found = await this.#tombstones.find(filter, options).toArray();
        const $in = found.map(({ _id }) => _id);
        const gone = await this.#tombstones.deleteMany({ _id: { $in } }, { session: tx });
        return gone.deletedCount;
      });
      forgotten += count;
      if (count < FORGOTTEN_AT_ONCE) return forgotten;
    }
  }

  async #read(
    table: Table,
    { place, sinceTime, limitRows }: TombstoneQuery & { readonly place: number },
    tx: ClientSession,
  ): Promise<TombstoneDocument[]> {
    const isSince =
      sinceTime === null ? {} : { takenAt: { $gte: new Date(firstMsFrom(sinceTime)) } };
    const filter = { table: table.name, place: { $gt: place }, ...isSince };
    const sorted = { sort: { place: 1 }, limit: limitRows, batchSize: limitRows + 1 } as const;
    return await this.#tombstones.find(filter, { session: tx, ...sorted }).toArray();
  }

  /** Leaves out tombstones whose row another program wrote anew with a later time. */
  async #withoutLaterRows(
    table: Table,
    documents: readonly TombstoneDocument[],
    tx: ClientSession,
  ): Promise<TombstoneDocument[]> {
    const keys = documents.map(({ key }) => keyOfRow(table, parseJson(key) as Row));
    const rows = await findStored(this.#deps, table, { keys, columns: keyAndTime(table) }, tx);
    if (rows.size === 0) return [...documents];
    const limit = aheadLimit(await readNowMs(this.#deps, table));
    return documents.filter(({ deletedAt }, n) => {
      const row = rows.get((keys[n] as KeyOfRow).keyText);
      return !outlives(row?.time ?? null, deletedAt, limit);
    });
  }

  /** The record of a table, and the place of a cursor. */
  async #at(table: Table, cursor: string | null, tx: ClientSession) {
    const { completeSince, list } = await this.#states.find(table, tx);
    const lastPlace = await lastNumber(this.#deps.db, counterOf(table), { session: tx });
    return { completeSince, list, lastPlace, place: placeOfCursor(list, lastPlace, cursor) };
  }
}
