// A form hands over what was typed by the names of its fields; a field outside of a form has `onValue`.
import { type ComponentChildren, createContext, type VNode } from "preact";
import { useContext, useEffect, useId, useRef, useState } from "preact/hooks";
import type { RequestError } from "../api/request-error.ts";
import { useAction } from "../state/use-service.ts";
import { ActionButton, ErrorNote } from "./buttons.tsx";

/** The text of a field by its name; may be empty. */
export type Typed = (name: string) => string;

function typedIn(form: HTMLFormElement): Typed {
  const data = new FormData(form);
  return (name) => String(data.get(name) ?? "");
}

/** The refusal of the form around a field. */
export const Refusal = createContext<RequestError | null>(null);

/** True while the form around a field is sent: typing would be lost with the reply. */
const Sending = createContext(false);

interface ActionFormProps {
  /** The name of the button. */
  readonly name: string;
  /** When it rejects, the form shows why and keeps everything. */
  readonly onSubmit: (typed: Typed) => unknown;
  readonly onBack?: () => unknown;
  readonly onTyped?: () => void;
  readonly look?: "main" | "danger";
  /** Fields stand side by side where there is room. */
  readonly isRow?: boolean;
  /** Empties the fields after sending. */
  readonly isEmptied?: boolean;
  /** The service checks the fields, and not the browser. */
  readonly isUnchecked?: boolean;
  readonly children: ComponentChildren;
}

/** Fields with a button that sends them. A refusal focuses the first refused field. */
export function ActionForm(props: ActionFormProps) {
  const { name, onSubmit, onBack, isRow = false, isEmptied = false, isUnchecked = false } = props;
  const form = useRef<HTMLFormElement>(null);
  // A field named like a property of the form, such as `elements`, hides the property.
  const fields = useRef<HTMLDivElement>(null);
  const { run, isBusy, error } = useAction(async () => {
    if (form.current === null) return;
    await onSubmit(typedIn(form.current));
    if (isEmptied) form.current?.reset();
  });
  useEffect(() => {
    if (error === null) return;
    const refused = fields.current?.querySelector<HTMLElement>("[aria-invalid]");
    refused?.closest("details")?.setAttribute("open", "");
    if (refused) refused.focus();
    // The button may be far below.
    else fields.current?.previousElementSibling?.scrollIntoView({ block: "nearest" });
  }, [error]);
  // A refused field says so itself when it gets the focus.
  const isBeside = [...(error?.problems.keys() ?? [])].some((refused) =>
    fields.current?.querySelector(`[name="${CSS.escape(refused)}"]`),
  );

  return (
    <form
      ref={form}
      class={isRow ? undefined : "form"}
      noValidate={isUnchecked}
      onInput={props.onTyped}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {!isBeside && <ErrorNote error={error} />}
      <div ref={fields} class={isRow ? "form-row" : undefined}>
        <Sending.Provider value={isBusy}>
          <Refusal.Provider value={error}>{props.children}</Refusal.Provider>
        </Sending.Provider>
        <div class="actions">
          {onBack !== undefined && <ActionButton onPress={onBack}>Back</ActionButton>}
          <ActionButton type="submit" look={props.look ?? "main"} isBusy={isBusy}>
            {name}
          </ActionButton>
        </div>
      </div>
    </form>
  );
}

export interface InputHints {
  readonly autocomplete?: string;
  readonly autocapitalize?: "none";
  readonly spellcheck?: boolean;
  readonly maxLength?: number;
  readonly min?: string;
}

/** For a field with a name of this service. */
export const NAME_HINTS: InputHints = { autocapitalize: "none", spellcheck: false };

interface FieldFrame {
  readonly label: string;
  /** The name in the form and in the body. */
  readonly name?: string;
  readonly hint?: ComponentChildren;
}

interface FieldProps extends FieldFrame {
  /** The first value, or with `onValue` always the value. */
  readonly value?: string;
  readonly onValue?: (value: string) => void;
  /** Called with what is typed, in a field without `onValue`. */
  readonly onTyped?: (typed: string) => void;
  readonly type?: "text" | "password" | "email" | "search" | "number" | "datetime-local";
  readonly isLong?: boolean;
  /** The problem of what was typed, shown once the field is left; null for none. */
  readonly check?: (typed: string) => string | null;
  readonly isRequired?: boolean;
  readonly hints?: InputHints;
}

/** A field for text; a problem stands beside it. */
export function Field(props: FieldProps) {
  const { name, value = "", onValue, type = "text", isRequired = false, hints = {} } = props;
  // Both take the attributes used here.
  const Input = (props.isLong ? "textarea" : "input") as "input";
  const [problem, setProblem] = useState<string | null>(null);
  const isSent = useContext(Sending);
  const look = (input: HTMLInputElement) => setProblem(props.check?.(input.value) ?? null);
  return (
    <Frame {...props} problem={problem}>
      <Input
        {...(hints as object)}
        {...(onValue === undefined ? { defaultValue: value, readOnly: isSent } : { value })}
        {...(props.isLong ? { rows: 4 } : { type: type as "text" })}
        name={name}
        required={isRequired}
        onInput={({ currentTarget: input }) => {
          (onValue ?? props.onTyped)?.(input.value);
          if (problem !== null) look(input);
        }}
        onChange={({ currentTarget: input }) => afterPress(() => look(input))}
      />
    </Frame>
  );
}

/** Waits until the pointer is up: a button that moves away under it would take no press. */
function afterPress(work: () => void): void {
  if (!document.body.matches(":active")) work();
  else window.addEventListener("mouseup", () => setTimeout(work), { once: true });
}

interface FileFieldProps extends FieldFrame {
  /** File endings, separated by commas. */
  readonly accept: string;
  /** Null where the choice was taken back. */
  readonly onFile: (file: File | null) => void;
}

export function FileField(props: FileFieldProps) {
  const { name, accept, onFile } = props;
  return (
    <Frame {...props}>
      <input
        type="file"
        name={name}
        accept={accept}
        onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)}
      />
    </Frame>
  );
}

/** Values, with their texts where these differ. */
export type Options = readonly (string | readonly [value: string, text: string])[];

export function optionOf(option: Options[number]): readonly [value: string, text: string] {
  return typeof option === "string" ? [option, option] : option;
}

interface SelectFieldProps extends FieldFrame {
  readonly value?: string;
  readonly onValue?: (value: string) => void;
  readonly options: Options;
}

export function SelectField(props: SelectFieldProps) {
  const { name, value, onValue, options } = props;
  const isSent = useContext(Sending);
  return (
    <Frame {...props}>
      <select
        {...(onValue === undefined ? { disabled: isSent } : { value })}
        name={name}
        onChange={(event) => onValue?.(event.currentTarget.value)}
      >
        {options.map(optionOf).map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  );
}

interface CheckFieldProps extends FieldFrame {
  /** One choice of those with the same name. */
  readonly isRadio?: boolean;
  /** The first state, or with `onChecked` always the state. */
  readonly isChecked?: boolean;
  readonly onChecked?: (isChecked: boolean) => void;
}

/** Its typed value is `on`, or empty. */
export function CheckField(props: CheckFieldProps) {
  const { name, isChecked = false, onChecked } = props;
  const isSent = useContext(Sending);
  return (
    <Frame {...props} look="field field-check">
      <input
        type={props.isRadio ? "radio" : "checkbox"}
        name={name}
        {...(onChecked === undefined
          ? { defaultChecked: isChecked, "aria-disabled": isSent || undefined }
          : { checked: isChecked })}
        onClick={(event) => {
          // A disabled box would lose the focus, from which Enter sends the form.
          if (isSent && onChecked === undefined) event.preventDefault();
        }}
        onChange={(event) => onChecked?.(event.currentTarget.checked)}
      />
    </Frame>
  );
}

/** With a hint, the field is for a new password. */
export function PasswordField(props: FieldFrame) {
  const autocomplete = props.hint === undefined ? "current-password" : "new-password";
  return <Field {...props} type="password" isRequired hints={{ autocomplete }} />;
}

/** A local time, which `utcText` reads. */
export function ExpiryField() {
  const hint = "Optional; empty is never";
  return <Field label="Expires" name="expires_at" hint={hint} type="datetime-local" />;
}

interface FrameProps extends FieldFrame {
  readonly look?: string;
  readonly problem?: string | null;
  /** The element to type in, which is named and described here. */
  readonly children: VNode;
}

function Frame({ label, name = "", hint, problem: typed = null, look, children }: FrameProps) {
  const id = useId();
  const refused = useContext(Refusal)?.problems.get(name) ?? null;
  const problem = typed ?? refused;
  // Every element of a form takes the attributes used here.
  const Input = children.type as "input";
  const notes = [hint !== undefined && `${id}-hint`, problem !== null && `${id}-error`];
  return (
    <div class={look ?? "field"}>
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="field-hint quiet small" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <Input
        {...children.props}
        id={id}
        aria-describedby={notes.filter(Boolean).join(" ") || undefined}
        aria-invalid={problem !== null || undefined}
      />
      {problem !== null && (
        <p class="field-error small" id={`${id}-error`}>
          {problem}
        </p>
      )}
    </div>
  );
}
