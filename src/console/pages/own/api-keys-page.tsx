import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiKey, IssuedApiKey } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ActionButton, CopyButton } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { ActionForm, ExpiryField, Field, SelectField, type Typed } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { Card, StatusBadge, type Tone } from "../../components/notes.tsx";
import { LongText, TimeText, utcText } from "../../components/text.tsx";
import { say } from "../../state/page-visit.ts";
import { useLeaveQuestion, whileHere } from "../../state/router.ts";
import { change, reloadShown } from "../../state/use-service.ts";

const TONES: Readonly<Record<ApiKey["status"], Tone>> = {
  active: "good",
  expired: "warning",
  revoked: "idle",
};
/** Seconds for which the old key stays valid. */
const OVERLAPS = [
  ["0", "It ends at once"],
  ["3600", "It goes on for an hour"],
  ["86400", "It goes on for a day"],
] as const;

const KEYS: ListDescription<"get /v1/me/api-keys"> = {
  from: "get /v1/me/api-keys",
  caption: "Your API keys",
  limit: 25,
  keyOf: ({ id }) => id,
  columns: [
    { title: "Name", cell: ({ name }) => <LongText text={name} />, isHeader: true },
    { title: "Key", cell: (key) => <code class="no-wrap">{`${key.prefix}…${key.last4}`}</code> },
    { title: "Status", cell: ({ status }) => <StatusBadge tone={TONES[status]} text={status} /> },
    { title: "Last used", cell: (key) => <TimeText at={key.last_used_at} /> },
    { title: "Expires", cell: (key) => <TimeText at={key.expires_at} /> },
    { title: "Made", cell: (key) => <TimeText at={key.created_at} /> },
    { title: "Actions", cell: (key) => key.status === "active" && <KeyActions apiKey={key} /> },
  ],
  empty: [
    "You have no API key",
    "To look people up, give a key a name above and press “Make key”.",
  ],
};

/** Keys made on this page, the newest first. */
const issued = signal<readonly IssuedApiKey[]>([]);

async function show(asked: Promise<IssuedApiKey>): Promise<void> {
  const isHere = whileHere();
  const key = await asked;
  if (isHere()) issued.value = [key, ...issued.value];
  else say(`The key “${key.name}” was made after its page was left: rotate it to see a new one`);
  await reloadShown();
}

function forget(id: string): void {
  issued.value = issued.value.filter((key) => key.id !== id);
}

/** D-9.4.10. */
export function ApiKeysPage() {
  // The next user of the tab must not see the keys.
  useLayoutEffect(
    () => () => {
      issued.value = [];
    },
    [],
  );
  return (
    <>
      <p class="prose">
        A program that looks people up shows such a key as <code>X-API-Key</code>. The calls of all
        your keys count together; <a href="/console/usage">Usage</a> has them.
      </p>
      {issued.value.map((key) => (
        <NewKey key={key.id} issued={key} />
      ))}
      <MakeKey />
      <ListPage list={KEYS} />
    </>
  );
}

/** A new key, which is shown once only. D-5.5. */
function NewKey({ issued: { id, key, name } }: { readonly issued: IssuedApiKey }) {
  const panel = useRef<HTMLDivElement>(null);
  const [isCopied, setCopied] = useState(false);
  useLeaveQuestion(isCopied ? "" : `Leave before the key “${name}” is copied? It is lost then`);
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
    panel.current?.scrollIntoView({ block: "center" });
  }, []);

  return (
    // A selection may be copied by hand, too.
    <div ref={panel} class="new-key" tabIndex={-1} onCopy={() => setCopied(true)}>
      <Card title={<bdi>{`The key “${name}”`}</bdi>}>
        <p>
          It is shown this once: copy it now to where it is needed. Whoever has it can look people
          up in your name.
        </p>
        <p>
          <code class="secret">{key}</code>
        </p>
        <div class="actions">
          <CopyButton text={key} of="the key" onCopied={() => setCopied(true)} />
          <ActionButton onPress={() => forget(id)}>Done</ActionButton>
        </div>
      </Card>
    </div>
  );
}

function MakeKey() {
  return (
    <Card title="New key">
      <ActionForm
        name="Make key"
        isRow
        isEmptied
        onSubmit={(typed) => {
          const body = { name: typed("name"), expires_at: utcText(typed("expires_at")) || null };
          return show(request("post /v1/me/api-keys", { body }));
        }}
      >
        <Field
          label="Name"
          name="name"
          hint="What it is for, such as “shop”"
          hints={{ autocomplete: "off" }}
          isRequired
        />
        <ExpiryField />
      </ActionForm>
    </Card>
  );
}

function KeyActions({ apiKey: { id, name } }: { readonly apiKey: ApiKey }) {
  const path = { id };

  function rotate(typed: Typed) {
    const body = { overlap_seconds: Number(typed("overlap_seconds")) };
    return show(request("post /v1/me/api-keys/{id}/rotate", { path, body }));
  }

  async function revoke() {
    await change("delete /v1/me/api-keys/{id}", { path }, `Revoked the key “${name}”`);
    forget(id);
  }

  return (
    <div class="row-actions">
      <ConfirmButton
        name="Rotate"
        of={name}
        question={`Put a new key in place of “${name}”?`}
        onConfirm={rotate}
      >
        <SelectField label="The old key" name="overlap_seconds" value="3600" options={OVERLAPS} />
      </ConfirmButton>
      <ConfirmButton
        name="Revoke"
        of={name}
        question={`Revoke the key “${name}”?`}
        onConfirm={revoke}
      >
        <p>Whoever uses it is refused from now on. It cannot be brought back.</p>
      </ConfirmButton>
    </div>
  );
}
