import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { say } from "../state/messages.ts";

interface ActionButtonProps {
  /** The button is busy until the promise settles; failures are for the handler to catch and show. */
  readonly onPress?: () => unknown;
  /** `submit` sends the form around it. */
  readonly type?: "button" | "submit";
  readonly look?: "plain" | "main" | "danger";
  /** Busy for another reason than a press. */
  readonly isBusy?: boolean;
  readonly isDisabled?: boolean;
  /** What it acts on, which screen readers say after its name: `Revoke` of many rows. */
  readonly of?: string | undefined;
  readonly children: ComponentChildren;
}

/** A button. While it is busy it keeps the focus and takes no press. */
export function ActionButton(props: ActionButtonProps) {
  const { onPress, type = "button", look = "plain", isDisabled = false, of, children } = props;
  const [isPressed, setPressed] = useState(false);
  const isBusy = isPressed || (props.isBusy ?? false);

  async function press(event: Event) {
    if (isBusy) event.preventDefault();
    if (isBusy || onPress === undefined) return;
    setPressed(true);
    try {
      await onPress();
    } finally {
      setPressed(false);
    }
  }

  return (
    <button
      type={type}
      class={look}
      disabled={isDisabled}
      aria-disabled={isBusy ? "true" : undefined}
      aria-busy={isBusy ? "true" : undefined}
      // A description, so that the name stays the one that is seen.
      aria-description={of}
      onClick={press}
    >
      {children}
    </button>
  );
}

/** Copies a text, also where the page came over plain HTTP and has no clipboard of its own. */
export function CopyButton({
  text,
  of,
  name = "Copy",
  onCopied,
}: {
  readonly text: string | (() => string);
  /** What is copied, for screen readers. */
  readonly of: string;
  readonly name?: string;
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
      {isCopied ? "Copied" : name}
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
