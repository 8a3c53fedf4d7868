import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiKey, IssuedApiKey } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { reloadShown } from "../../api/use-resource.ts";
import { ActionButton, CopyButton } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import type { Column } from "../../components/data-table.tsx";
import { ActionForm, ExpiryField, Field, SelectField, utcText } from "../../components/form.tsx";
import { ListPage } from "../../components/list-page.tsx";
import { Card, StatusBadge, type Tone } from "../../components/notes.tsx";
import { LongText, TimeText } from "../../components/text.tsx";
import { useLeaveQuestion } from "../../state/router.ts";
import { change } from "../../state/use-action.ts";

const TONES: Readonly<Record<ApiKey["status"], Tone>> = {
  active: "good",
  expired: "warning",
  revoked: "idle",
};
/** Seconds for which the old key goes on. */
const OVERLAPS = [
  ["0", "It ends at once"],
  ["3600", "It goes on for an hour"],
  ["86400", "It goes on for a day"],
] as const;

const COLUMNS: readonly Column<ApiKey>[] = [
  { title: "Name", cell: ({ name }) => <LongText text={name} />, isHeader: true },
  { title: "Key", cell: (key) => <code class="no-wrap">{`${key.prefix}…${key.last4}`}</code> },
  { title: "Status", cell: ({ status }) => <StatusBadge tone={TONES[status]} text={status} /> },
  { title: "Last used", cell: (key) => <TimeText at={key.last_used_at} /> },
  { title: "Expires", cell: (key) => <TimeText at={key.expires_at} /> },
  { title: "Made", cell: (key) => <TimeText at={key.created_at} /> },
];

const KEYS = {
  from: "get /v1/me/api-keys",
  caption: "Your API keys",
  limit: 25,
  keyOf: ({ id }: ApiKey) => id,
  empty: [
    "You have no API key",
    "To look people up, give a key a name above and press “Make key”.",
  ],
} as const;

/** The page `API keys`: make, rotate, revoke, last used. D-9.4.10. */
export function ApiKeysPage() {
  /** The newest first. */
  const [issued, setIssued] = useState<readonly IssuedApiKey[]>([]);
  const forget = (id: string) => setIssued((keys) => keys.filter((key) => key.id !== id));

  async function show(key: IssuedApiKey) {
    setIssued((keys) => [key, ...keys]);
    await reloadShown();
  }

  const actions: Column<ApiKey> = {
    title: "Actions",
    cell: (key) =>
      key.status === "active" && (
        <div class="row-actions">
          <RotateButton apiKey={key} onIssued={show} />
          <RevokeButton apiKey={key} onRevoked={() => forget(key.id)} />
        </div>
      ),
  };

  return (
    <>
      <p class="prose">
        A program that looks people up shows such a key as <code>X-API-Key</code>. The calls of all
        your keys count together; <a href="/console/usage">Usage</a> has them.
      </p>
      {issued.map((key) => (
        <NewKey key={key.id} issued={key} onClose={() => forget(key.id)} />
      ))}
      <MakeKey onIssued={show} />
      <ListPage list={{ ...KEYS, columns: [...COLUMNS, actions] }} />
    </>
  );
}

/** A key that was made just now: the only time that it is shown. D-5.5. */
function NewKey({
  issued: { key, name },
  onClose,
}: {
  readonly issued: IssuedApiKey;
  readonly onClose: () => void;
}) {
  const panel = useRef<HTMLDivElement>(null);
  const [isCopied, setCopied] = useState(false);
  useLeaveQuestion(isCopied ? "" : `Leave before the key “${name}” is copied? It is lost then`);
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
    panel.current?.scrollIntoView({ block: "center" });
  }, []);

  return (
    // Somebody may copy it by hand, too.
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
          <ActionButton onPress={onClose}>Done</ActionButton>
        </div>
      </Card>
    </div>
  );
}

interface IssueProps {
  readonly onIssued: (key: IssuedApiKey) => Promise<void>;
}

function MakeKey({ onIssued }: IssueProps) {
  return (
    <Card title="New key">
      <ActionForm
        name="Make key"
        isRow
        isEmptied
        onSubmit={async (typed) => {
          const body = { name: typed("name"), expires_at: utcText(typed("expires_at")) || null };
          await onIssued(await request("post /v1/me/api-keys", { body }));
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

function RotateButton({
  apiKey: { id, name },
  onIssued,
}: IssueProps & { readonly apiKey: ApiKey }) {
  return (
    <ConfirmButton
      name="Rotate"
      of={name}
      question={`Put a new key in place of “${name}”?`}
      onConfirm={async (typed) => {
        const body = { overlap_seconds: Number(typed("overlap_seconds")) };
        const path = { id };
        await onIssued(await request("post /v1/me/api-keys/{id}/rotate", { path, body }));
      }}
    >
      <SelectField label="The old key" name="overlap_seconds" value="3600" options={OVERLAPS} />
    </ConfirmButton>
  );
}

interface RevokeProps {
  readonly apiKey: ApiKey;
  readonly onRevoked: () => void;
}

function RevokeButton({ apiKey: { id, name }, onRevoked }: RevokeProps) {
  return (
    <ConfirmButton
      name="Revoke"
      of={name}
      question={`Revoke the key “${name}”?`}
      onConfirm={async () => {
        await change("delete /v1/me/api-keys/{id}", { path: { id } }, `Revoked the key “${name}”`);
        onRevoked();
      }}
    >
      <p>Whoever uses it is refused from now on. It cannot be brought back.</p>
    </ConfirmButton>
  );
}
