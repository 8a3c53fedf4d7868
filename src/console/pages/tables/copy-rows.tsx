import { useState } from "preact/hooks";
import { CopyButton } from "../../components/copy-button.tsx";
import { SelectField } from "../../components/field.tsx";
import { csvOf } from "./csv.ts";
import type { Fields } from "./value-text.tsx";

const FORMATS = [
  ["json", "JSON"],
  ["csv", "CSV"],
] as const;

/** Copies the rows that are shown. */
export function CopyRows({ rows }: { readonly rows: readonly Fields[] }) {
  const [format, setFormat] = useState("json");
  const text = () => (format === "csv" ? csvOf(rows) : JSON.stringify(rows, null, 2));
  return (
    <div class="form-row copy-rows">
      <SelectField label="As" value={format} onValue={setFormat} options={FORMATS} />
      <CopyButton
        key={format}
        text={text}
        of={`the rows of this page as ${format.toUpperCase()}`}
      />
    </div>
  );
}
