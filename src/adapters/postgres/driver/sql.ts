// Texts that stand in statements, and lists as one parameter each: few statements, whose plans the server keeps.

export interface Statement {
  readonly text: string;
  readonly parameters: readonly string[];
}

/** A name of the server's, whatever it holds. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The names of columns, with commas between. */
export function nameText(columns: readonly { readonly name: string }[]): string {
  return columns.map(({ name }) => quoted(name)).join(", ");
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The parameter of a list: `$1::text[]`, which may be cast on. */
export function textList(values: Iterable<string | null>): string {
  const items: string[] = [];
  for (const value of values) {
    items.push(value === null ? "NULL" : `"${value.replace(/[\\"]/g, "\\$&")}"`);
  }
  return `{${items.join(",")}}`;
}

/** As `textList`, for names of whatever characters: the server's texts have no NUL. */
export function nameList(names: readonly string[]): string {
  return textList(names.map((name) => name.replaceAll("\0", "\u{fffd}")));
}

/** Rows, keys or names of one statement. */
const ITEMS_AT_ONCE = 1_000;

export function* inParts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += ITEMS_AT_ONCE)
    yield items.slice(at, at + ITEMS_AT_ONCE);
}

/** The parameter of a list of bytes: `$1::bytea[]`. */
export function bytesList(values: readonly (Uint8Array | null)[]): string {
  return textList(values.map((bytes) => bytes && bytesText(bytes)));
}

/** Bytes as the server writes them. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}
