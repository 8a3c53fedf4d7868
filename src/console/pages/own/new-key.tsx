import { useEffect, useRef } from "preact/hooks";
import type { IssuedApiKey } from "../../api/interface.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";

/** A key that was made just now: the only time that it is shown. D-5.5. */
export function NewKey({
  issued: { key, name },
  onClose,
}: {
  readonly issued: IssuedApiKey;
  readonly onClose: () => void;
}) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
    panel.current?.scrollIntoView({ block: "center" });
  }, []);

  return (
    <section ref={panel} class="card card-marked" aria-labelledby="new-key" tabIndex={-1}>
      <h2 id="new-key">
        <bdi class="value">{`The key “${name}”`}</bdi>
      </h2>
      <p>
        It is shown this once: copy it now to where it is needed. Whoever has it can look people up
        in your name.
      </p>
      <p>
        <code class="secret">{key}</code>
      </p>
      <div class="actions">
        <CopyButton text={key} of="the key" />
        <ActionButton onPress={onClose}>Done</ActionButton>
      </div>
    </section>
  );
}
