import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { ActionButton } from "./action-button.tsx";
import { ErrorNote } from "./error-note.tsx";

interface ConfirmDialogProps {
  /** The name of the control that asks, such as `Revoke`. */
  readonly name: string;
  /** What happens and to what, such as `Revoke the key “shop”?` */
  readonly question: string;
  /** What else to know, or to type. */
  readonly children?: ComponentChildren;
  /** Does it. The dialog stays open and shows the failure when the promise rejects. */
  readonly onConfirm: () => unknown;
  /** Closes the dialog, whether it was done or not. */
  readonly onClose: () => void;
}

/** Asks before something is done that cannot be taken back. Made when it is to be open. D-9.4. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { name, question, children, onConfirm, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [error, setError] = useState<RequestError | null>(null);
  useEffect(() => dialog.current?.showModal(), []);

  /** By the dialog itself, which gives the focus back to where it was. */
  function close() {
    dialog.current?.close();
  }

  async function confirm() {
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(asRequestError(failure));
    }
  }

  function closed() {
    onClose();
    // What had the focus may be gone with what was removed.
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      document.querySelector("h1")?.focus({ preventScroll: true });
    });
  }

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={titleId} onClose={closed}>
      <h2 id={titleId}>
        <bdi class="value">{question}</bdi>
      </h2>
      {children}
      <ErrorNote error={error} />
      <div class="actions">
        <ActionButton onPress={close}>Back</ActionButton>
        <ActionButton look="danger" onPress={confirm}>
          {name}
        </ActionButton>
      </div>
    </dialog>
  );
}

interface ConfirmButtonProps extends Omit<ConfirmDialogProps, "onClose"> {
  /** What it acts on, for screen readers, where many buttons have one name. */
  readonly of?: string;
  readonly look?: "plain" | "danger";
}

/** A button that asks before it acts. */
export function ConfirmButton({ of, look = "plain", ...dialog }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionButton look={look} {...(of === undefined ? {} : { of })} onPress={() => setOpen(true)}>
        {dialog.name}
      </ActionButton>
      {isOpen && <ConfirmDialog {...dialog} onClose={() => setOpen(false)} />}
    </>
  );
}
