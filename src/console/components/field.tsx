import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldFrame {
  readonly label: string;
  /** What is expected. */
  readonly hint?: ComponentChildren;
  /** What is wrong with what was typed; null when nothing is. */
  readonly error?: string | null;
}

/** What the browser may know of an input. */
interface InputHints {
  readonly autocomplete?: string;
  readonly autocapitalize?: "none";
  readonly spellcheck?: boolean;
  readonly maxLength?: number;
  readonly min?: string;
  readonly max?: string;
  readonly step?: string;
}

interface FieldProps extends FieldFrame {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?: "text" | "password" | "email" | "search" | "number" | "datetime-local" | "date";
  readonly isRequired?: boolean;
  readonly hints?: InputHints;
}

/** A line to type in, with its label; the error stands beside what was typed. */
export function Field(props: FieldProps) {
  const { value, onValue, type = "text", isRequired = false, hints = {} } = props;
  return (
    <Frame {...props}>
      {(described) => (
        <input
          {...described}
          {...(hints as object)}
          // The types of inputs are a union with other attributes for each.
          type={type as "text"}
          value={value}
          required={isRequired}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Frame>
  );
}

/** Lines to type in. */
export function TextAreaField(props: Omit<FieldProps, "type" | "hints">) {
  const { value, onValue, isRequired = false } = props;
  return (
    <Frame {...props}>
      {(described) => (
        <textarea
          {...described}
          rows={4}
          value={value}
          required={isRequired}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Frame>
  );
}

interface SelectFieldProps extends FieldFrame {
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Values and what they are called. */
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** A choice of one. */
export function SelectField(props: SelectFieldProps) {
  const { value, onValue, options } = props;
  return (
    <Frame {...props}>
      {(described) => (
        <select
          {...described}
          value={value}
          onChange={(event) => onValue(event.currentTarget.value)}
        >
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

interface CheckFieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly isChecked: boolean;
  readonly onChecked: (isChecked: boolean) => void;
}

/** Yes or no. */
export function CheckField({ label, hint, isChecked, onChecked }: CheckFieldProps) {
  const id = useId();
  return (
    <div class="field field-check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface Described {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

function Frame({
  label,
  hint,
  error = null,
  children,
}: FieldFrame & { readonly children: (described: Described) => ComponentChildren }) {
  const id = useId();
  const notes = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(error === null ? [] : [`${id}-error`]),
  ];
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {children({
        id,
        "aria-describedby": notes.length === 0 ? undefined : notes.join(" "),
        "aria-invalid": error === null ? undefined : "true",
      })}
      {error !== null && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}
