// Times as people type them: local, where the service has UTC.
import { Field } from "./form.tsx";

/** A local time, which `utcText` reads. */
export function ExpiryField() {
  const hint = "Optional; empty is never";
  return <Field label="Expires" name="expires_at" hint={hint} type="datetime-local" />;
}

/** ISO 8601 of a local time. A year of five digits is no time, and stays as it is for the service to refuse. */
export function utcText(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString();
}

/** A time as local fields hold it; empty for none. */
export function localText(utc: string): string {
  const time = new Date(utc);
  if (utc === "" || Number.isNaN(time.getTime())) return "";
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
