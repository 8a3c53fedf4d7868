import { Field } from "./field.tsx";

/** When a right is to end, in local time. */
export function ExpiryField({
  value,
  onValue,
  error = null,
}: {
  /** As the browser writes a local time; empty for never. `expiryOf` reads it. */
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly error?: string | null;
}) {
  return (
    <Field
      label="Expires"
      hint="Optional; empty is never"
      type="datetime-local"
      value={value}
      onValue={onValue}
      error={error}
    />
  );
}

/** ISO 8601 in UTC of what the field holds; null for never. */
export function expiryOf(value: string): string | null {
  return value === "" ? null : new Date(value).toISOString();
}
