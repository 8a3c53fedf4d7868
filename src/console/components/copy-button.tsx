import { useState } from "preact/hooks";
import { say } from "../state/messages.ts";
import { ActionButton } from "./action-button.tsx";

/** Copies a text, also where the page came over plain HTTP and has no clipboard of its own. */
export function CopyButton({
  text,
  of,
  name = "Copy",
}: {
  readonly text: string | (() => string);
  /** What is copied, for screen readers. */
  readonly of: string;
  readonly name?: string;
}) {
  const [isCopied, setCopied] = useState(false);

  async function copy() {
    const isDone = await copyText(typeof text === "string" ? text : text());
    setCopied(isDone);
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
