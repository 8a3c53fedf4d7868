// The table of a collection: one row per document, with its JSON, its bytes, and its place in each index.
import type { Key } from "../../../domain/shared/document-key.ts";
import {
  type AnyCollection,
  Damaged,
  type StoredStretch,
  type Stretch,
} from "../../../ports/documents.ts";
import {
  type ByteRange,
  DocumentForm,
  type FoundDocument,
  keyBytes,
  rangesBehind,
  rangesOf,
  type StoredDocument,
} from "../../../ports/stored-documents.ts";
import { SCHEMA } from "../driver/schema.ts";
import { bytesList, bytesText, quoted, type Statement, textList } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";

type Line = readonly unknown[];

/** Documents that are read at once. */
const PORTION = 500;

export class CollectionTable {
  readonly name: string;
  readonly form: DocumentForm;

  constructor(from: AnyCollection) {
    this.form = new DocumentForm(from);
    this.name = `${SCHEMA}.${quoted(from.name)}`;
  }

  get columns(): readonly (readonly [name: string, type: string])[] {
    const others = this.form.otherColumns.map((column) => [column, "bytea"] as const);
    return [["key", "bytea primary key"], ["doc", "json not null"], ...others];
  }

  indexText(column: string): string {
    const name = quoted(`${this.form.collection.name}_${column}`);
    return `create index if not exists ${name} on ${this.name} (${quoted(column)}) where ${quoted(column)} is not null`;
  }

  byKeys(keys: readonly Key[]): Statement {
    const text = `select ${this.#shown} from ${this.name} where key = any($1::text[]::bytea[]) order by key`;
    return { text, parameters: [bytesList(keys.map(keyBytes))] };
  }

  stretch(stretch: Stretch): Statement {
    return this.#inRanges(this.#shown, rangesOf(stretch), stretch);
  }

  count(stretch: Stretch): Statement {
    const { text, parameters } = this.keysOf(stretch);
    return { text: `select count(*)::int4 from (${text}) as found`, parameters };
  }

  keysOf(stretch: Stretch): Statement {
    return this.#inRanges("key", rangesOf(stretch), stretch);
  }

  stored({ after, ...limits }: StoredStretch): Statement {
    const shown = ["key", "doc::text", ...this.form.otherColumns.map(quoted)].join(", ");
    const ranges =
      after instanceof Damaged
        ? rangesBehind(rangesOf(limits), after.place as Uint8Array)
        : rangesOf({ ...limits, ...(after === undefined ? {} : { after }) });
    return this.#inRanges(shown, ranges, limits);
  }

  put(docs: readonly object[]): Statement {
    return this.putStored(docs.map((doc) => this.form.stored(doc)));
  }

  putStored(stored: readonly StoredDocument[]): Statement {
    const columns = ["key", "doc", ...this.form.otherColumns];
    const changes = columns.slice(1).map((name) => `${quoted(name)} = excluded.${quoted(name)}`);
    const lists = columns.map((_, i) => `$${i + 1}::text[]::${i === 1 ? "json" : "bytea"}[]`);
    const text = `insert into ${this.name} (${columns.map(quoted).join(", ")}) select * from unnest(${lists.join(", ")}) on conflict (key) do update set ${changes.join(", ")}`;
    const parameters = [
      bytesList(stored.map(({ key }) => key)),
      textList(stored.map(({ text: json }) => json)),
      ...this.form.otherColumns.map((_, i) =>
        bytesList(stored.map(({ others }) => others[i] ?? null)),
      ),
    ];
    return { text, parameters };
  }

  remove(keys: readonly Key[]): Statement {
    const text = `delete from ${this.name} where key = any($1::text[]::bytea[])`;
    return { text, parameters: [bytesList(keys.map(keyBytes))] };
  }

  /** Reads a line of `byKeys` or `stretch`. Throws `store_unavailable` for a row that another program wrote. */
  docOf(line: Line): object {
    return this.form.read(foundIn(line));
  }

  /** Reads a line of `stored`; `Damaged` when a column differs from what `put` stores. */
  asStored(line: Line): object | Damaged {
    const found = foundIn(line);
    return this.form.asStored(found, bytesText(found.key as Uint8Array));
  }

  get #shown(): string {
    return ["key", "doc::text", ...this.form.bytesColumns.map(quoted)].join(", ");
  }

  #inRanges(shown: string, ranges: readonly ByteRange[], stretch: Stretch): Statement {
    const { index, isReverse = false, limit } = stretch;
    const order = quoted(this.form.orderColumn(index));
    const direction = isReverse ? " desc" : "";
    const ends = limit === undefined ? "" : ` limit $3::int8`;
    // The planner uses the ends, and reads no more than the ranges, only where every range has one.
    const hasEnds = ranges.every(({ before }) => before !== null);
    const below = hasEnds ? `${order} < high` : `(high is null or ${order} < high)`;
    const inner = `select * from ${this.name} where ${order} >= low and ${below} order by ${order}${direction}${ends}`;
    const text = `select ${shown} from unnest($1::text[]::bytea[], $2::text[]::bytea[]) as range(low, high), lateral (${inner}) as found${ends}`;
    const parameters = [
      bytesList(ranges.map(({ from }) => from)),
      bytesList(ranges.map(({ before }) => before)),
      ...(limit === undefined ? [] : [String(limit)]),
    ];
    return { text, parameters };
  }
}

/** Lines of all documents, in portions. */
export async function* portionsOf(
  tx: ServerTransaction,
  table: CollectionTable,
): AsyncGenerator<readonly Line[]> {
  for (let stretch: Stretch = { limit: PORTION }; ; ) {
    const { text, parameters } = table.stretch(stretch);
    const lines = await tx.query(text, parameters);
    const last = lines.at(-1);
    if (last === undefined) return;
    yield lines;
    stretch = { limit: PORTION, after: table.form.keyOf(last[0]) };
  }
}

function foundIn([key, text, ...others]: Line): FoundDocument {
  return { key, text, others };
}
