import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { RequestError } from "../api/request-error.ts";
import { say } from "../state/page-visit.ts";
import { useAction } from "../state/use-service.ts";
import { Sentence } from "./text.tsx";

interface ActionButtonProps {
  /** The button is busy until the promise settles, and shows its failure. */
  readonly onPress?: () => unknown;
  readonly type?: "button" | "submit";
  readonly look?: "plain" | "main" | "danger";
  /** Busy for another reason than a press. */
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** The object, which tells buttons of one name apart for screen readers. */
  readonly of?: string | undefined;
  readonly children: ComponentChildren;
}

/** A busy button keeps the focus and takes no press. */
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
        aria-disabled={isBusy || undefined}
        aria-busy={isBusy || undefined}
        // A description leaves the name as it is seen.
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
  readonly onRetry?: () => unknown;
}

/** An error with its advice, which screen readers announce. */
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

/** Copies a text, also on a page over plain HTTP, which has no clipboard. */
export function CopyButton({
  text,
  of,
  onCopied,
}: {
  readonly text: string | (() => string);
  /** The object, for screen readers. */
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
    // The clipboard is missing outside of a secure context, or not allowed.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  // An open dialog allows no selection outside of itself.
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
