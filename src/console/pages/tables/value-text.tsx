import { LongText } from "../../components/long-text.tsx";

/** A value of a row as text: texts as they are, all else as JSON; empty for a value that is not there. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A key of a row as text: `shop=a, sku=b`. */
export function keyText(key: Readonly<Record<string, unknown>>): string {
  return Object.entries(key)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(", ");
}

/** A value of a row: null and the empty text can be told from each other and from texts. */
export function ValueText({ value }: { readonly value: unknown }) {
  if (value === undefined) return <span class="quiet">–</span>;
  if (value === null) return <span class="quiet">null</span>;
  if (value === "") return <span class="quiet">empty text</span>;
  return <LongText text={valueText(value)} />;
}
