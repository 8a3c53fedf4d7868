// Buttons, and what comes of a press.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { RequestError } from "../api/request-error.ts";
import { say } from "../state/messages.ts";
import { useAction } from "../state/use-action.ts";
import { Sentence } from "./text.tsx";

interface ActionButtonProps {
  /** The button is busy until the promise settles, and shows why it failed. */
  readonly onPress?: () => unknown;
  /** `submit` sends the form around it. */
  readonly type?: "button" | "submit";
  readonly look?: "plain" | "main" | "danger";
  /** Busy for another reason than a press. */
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** Its object, which screen readers say after its name: `Revoke` of many rows. */
  readonly of?: string | undefined;
  readonly children: ComponentChildren;
}

/** A button. While it is busy it keeps the focus and takes no press. */
export function ActionButton(props: ActionButtonProps) {
  const { onPress, type = "button", look = "plain", isDisabled = false, of, children } = props;
  const action = useAction(async () => onPress?.());
  const isBusy = action.isBusy || (props.isBusy ?? false);
  return (
    <>
      <button
        type={type}
        class={look}
        disabled={isDisabled}
        aria-disabled={isBusy ? "true" : undefined}
        aria-busy={isBusy ? "true" : undefined}
        // A description, so that the name stays the one that is seen.
        aria-description={of}
        onClick={(event) => {
          if (isBusy) event.preventDefault();
          else if (onPress !== undefined) void action.run();
        }}
      >
        {children}
      </button>
      <ErrorNote error={action.error} />
    </>
  );
}

interface ErrorNoteProps {
  readonly error: RequestError | null;
  /** Tries again what failed. */
  readonly onRetry?: () => unknown;
}

/** An error with its advice. Says itself to screen readers. */
export function ErrorNote({ error, onRetry }: ErrorNoteProps) {
  if (error === null) return null;
  const problems = [...error.problems].map(([name, problem]) => `${name}: ${problem}`);
  const lines = problems.length === 0 ? [error.detail] : problems;
  return (
    <div class="note bad" role="alert">
      {lines.map((line) => (
        <p key={line}>
          <Sentence text={line} />
        </p>
      ))}
      {error.hint !== "" && <p>{error.hint}</p>}
      {error.status >= 500 && error.requestId !== "" && (
        <p>
          The log has the details under <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && <ActionButton onPress={onRetry}>Try again</ActionButton>}
    </div>
  );
}

/** Copies a text, also where the page came over plain HTTP and has no clipboard of its own. */
export function CopyButton({
  text,
  of,
  onCopied,
}: {
  readonly text: string | (() => string);
  /** The thing that is copied, for screen readers. */
  readonly of: string;
  readonly onCopied?: () => void;
}) {
  const [isCopied, setCopied] = useState(false);

  async function copy() {
    const isDone = await copyText(typeof text === "string" ? text : text());
    setCopied(isDone);
    if (isDone) onCopied?.();
    say(isDone ? `Copied ${of}` : "The browser does not let this page copy: select the text");
  }

  return (
    <ActionButton of={of} onPress={copy}>
      {isCopied ? "Copied" : "Copy"}
    </ActionButton>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // There is no clipboard outside of a secure context, or it is not allowed.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  // Inside an open dialog nothing outside of it can be selected.
  const parent = focused?.closest("dialog") ?? document.body;
  const area = document.createElement("textarea");
  area.className = "for-readers";
  area.value = text;
  parent.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}
