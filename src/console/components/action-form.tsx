import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RequestError } from "../api/request-error.ts";
import { useAction } from "../api/use-action.ts";
import { ActionButton } from "./action-button.tsx";
import { ErrorNote } from "./error-note.tsx";

interface ActionFormProps {
  /** The name of its button. */
  readonly name: string;
  /** Sends what was typed. When the promise rejects, the form shows why and keeps everything. */
  readonly onSubmit: () => Promise<unknown>;
  /** Fields stand beside each other where there is room. */
  readonly isRow?: boolean;
  /** The fields; `error` knows what was wrong with each. */
  readonly children: (error: RequestError | null) => ComponentChildren;
}

/** Fields and the button that sends them. A refusal leads to the first field that was refused. */
export function ActionForm({ name, onSubmit, isRow = false, children }: ActionFormProps) {
  const { run, isBusy, error } = useAction(onSubmit);
  const form = useRef<HTMLFormElement>(null);
  const [isBeside, setBeside] = useState(false);
  useLayoutEffect(() => {
    const refused = form.current?.querySelector<HTMLElement>("[aria-invalid]") ?? null;
    // Said by the field itself, once it has the focus.
    setBeside(error !== null && refused !== null);
    if (error !== null) refused?.focus();
  }, [error]);

  return (
    <form
      ref={form}
      class={isRow ? undefined : "form"}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {!isBeside && <ErrorNote error={error} />}
      <div class={isRow ? "form-row" : undefined}>
        {children(error)}
        <ActionButton type="submit" look="main" isBusy={isBusy}>
          {name}
        </ActionButton>
      </div>
    </form>
  );
}
