// Texts in statements. A list is one parameter: statements then have few texts, and the server keeps their plans.

export interface Statement {
  readonly text: string;
  readonly parameters: readonly string[];
}

/** Quotes a name, which may have any characters. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function nameText(columns: readonly { readonly name: string }[]): string {
  return columns.map(({ name }) => quoted(name)).join(", ");
}

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A list for `$1::text[]`, which a statement may cast to other types. */
export function textList(values: Iterable<string | null>): string {
  const items: string[] = [];
  for (const value of values) {
    items.push(value === null ? "NULL" : `"${value.replace(/[\\"]/g, "\\$&")}"`);
  }
  return `{${items.join(",")}}`;
}

/** As `textList`, for names with any characters: the server's texts have no NUL. */
export function nameList(names: readonly string[]): string {
  return textList(names.map((name) => name.replaceAll("\0", "\u{fffd}")));
}

/** Rows, keys or names of one statement. */
const ITEMS_AT_ONCE = 1_000;

export function* inParts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += ITEMS_AT_ONCE)
    yield items.slice(at, at + ITEMS_AT_ONCE);
}

/** A list for `$1::text[]::bytea[]`. */
export function bytesList(values: readonly (Uint8Array | null)[]): string {
  return textList(values.map((bytes) => bytes && bytesText(bytes)));
}

/** Bytes as the server writes them. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}
