import { LongText } from "../../components/long-text.tsx";

/** Times, numbers and codes stay in one line. */
const UNBROKEN_CHARS = 32;

/** Any row, or key of a row. */
export type Fields = Readonly<Record<string, unknown>>;

/** A value of a row as text: texts as they are, all else as JSON; empty for a value that is not there. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A key of a row as text: `shop=a, sku=b`. */
export function keyText(key: Fields): string {
  return Object.entries(key)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(", ");
}

/** A value of a row: null and the empty text can be told from each other and from texts. */
export function ValueText({
  value,
  maxChars,
}: {
  readonly value: unknown;
  readonly maxChars?: number;
}) {
  if (value === undefined) return <span class="quiet">–</span>;
  if (value === null) return <span class="quiet">null</span>;
  if (value === "") return <span class="quiet">empty text</span>;
  const text = valueText(value);
  if (text.length <= UNBROKEN_CHARS) return <bdi class="value unbroken">{text}</bdi>;
  return <LongText text={text} {...(maxChars === undefined ? {} : { maxChars })} />;
}

/** Fields of a row or a key in a line, each value on its own, so that none can turn the others around. */
export function FieldsText({
  fields,
  maxChars = 80,
}: {
  readonly fields: Fields;
  readonly maxChars?: number;
}) {
  return (
    <span class="fields">
      {Object.entries(fields).map(([name, value]) => (
        <span key={name}>
          <span class="quiet">{name}</span> <ValueText value={value} maxChars={maxChars} />
        </span>
      ))}
    </span>
  );
}
