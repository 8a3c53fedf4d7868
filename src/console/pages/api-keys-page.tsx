import { useState } from "preact/hooks";
import type { ApiKey, IssuedApiKey } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { useResource } from "../api/use-resource.ts";
import { ActionForm } from "../components/action-form.tsx";
import { ConfirmButton } from "../components/confirm-dialog.tsx";
import type { Column } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ExpiryField, expiryOf } from "../components/expiry-field.tsx";
import { Field, SelectField } from "../components/field.tsx";
import { ListView } from "../components/list-view.tsx";
import { LongText } from "../components/long-text.tsx";
import { StatusBadge, type Tone } from "../components/status-badge.tsx";
import { TimeText } from "../components/time-text.tsx";
import { say } from "../state/messages.ts";
import { queryValue } from "../state/router.ts";
import { NewKey } from "./own/new-key.tsx";

const PAGE_SIZE = 25;
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

/** The page `API keys`: make, rotate, revoke, last used. D-9.4.10. */
export function ApiKeysPage() {
  const cursor = queryValue("cursor");
  const [issued, setIssued] = useState<IssuedApiKey | null>(null);
  const list = useResource(
    (signal) =>
      request("get /v1/me/api-keys", {
        query: { limit: PAGE_SIZE, ...(cursor === "" ? {} : { cursor }) },
        signal,
      }),
    { key: cursor },
  );

  async function show(key: IssuedApiKey) {
    setIssued(key);
    await list.reload();
  }

  async function revoke({ id, name }: ApiKey) {
    await request("delete /v1/me/api-keys/{id}", { path: { id } });
    if (issued?.id === id) setIssued(null);
    say(`Revoked the key “${name}”`);
    await list.reload();
  }

  const actions: Column<ApiKey> = {
    title: "Actions",
    cell: (key) =>
      key.status === "active" && (
        <div class="row-actions">
          <RotateButton apiKey={key} onRotated={show} />
          <ConfirmButton
            name="Revoke"
            of={key.name}
            question={`Revoke the key “${key.name}”?`}
            onConfirm={() => revoke(key)}
          >
            <p>Whoever uses it is refused from now on. It cannot be brought back.</p>
          </ConfirmButton>
        </div>
      ),
  };

  return (
    <>
      <p class="prose">
        A program that looks people up shows such a key as <code>X-API-Key</code>. The calls of all
        your keys count together; <a href="/console/usage">Usage</a> has them.
      </p>
      {issued !== null && (
        <NewKey key={issued.id} issued={issued} onClose={() => setIssued(null)} />
      )}
      <MakeKey onMade={show} />
      <ListView
        caption="Your API keys"
        resource={list}
        columns={[...COLUMNS, actions]}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="You have no API key">
            <p>To look people up, give a key a name above and press “Make key”.</p>
          </EmptyState>
        }
      />
    </>
  );
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { title: "Name", cell: ({ name }) => <LongText text={name} />, isHeader: true },
  {
    title: "Key",
    cell: ({ prefix, last4 }) => (
      <code class="no-wrap">
        {prefix}…{last4}
      </code>
    ),
  },
  { title: "Status", cell: ({ status }) => <StatusBadge tone={TONES[status]} text={status} /> },
  { title: "Last used", cell: (key) => <TimeText at={key.last_used_at} /> },
  { title: "Expires", cell: (key) => <TimeText at={key.expires_at} /> },
  { title: "Made", cell: (key) => <TimeText at={key.created_at} /> },
];

function MakeKey({ onMade }: { readonly onMade: (key: IssuedApiKey) => Promise<void> }) {
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState("");

  async function make() {
    const body = { name, expires_at: expiryOf(expiry) };
    const key = await request("post /v1/me/api-keys", { body });
    setName("");
    setExpiry("");
    await onMade(key);
  }

  return (
    <section class="card" aria-labelledby="make-key">
      <h2 id="make-key">New key</h2>
      <ActionForm name="Make key" isRow onSubmit={make}>
        {(error) => (
          <>
            <Field
              label="Name"
              hint="What it is for, such as “shop”"
              value={name}
              onValue={setName}
              error={error?.problemOf("name") ?? null}
              hints={{ autocomplete: "off" }}
              isRequired
            />
            <ExpiryField
              value={expiry}
              onValue={setExpiry}
              error={error?.problemOf("expires_at") ?? null}
            />
          </>
        )}
      </ActionForm>
    </section>
  );
}

function RotateButton({
  apiKey: { id, name },
  onRotated,
}: {
  readonly apiKey: ApiKey;
  readonly onRotated: (key: IssuedApiKey) => Promise<void>;
}) {
  const [overlap, setOverlap] = useState("3600");

  async function rotate() {
    const body = { overlap_seconds: Number(overlap) };
    const path = { id };
    await onRotated(await request("post /v1/me/api-keys/{id}/rotate", { path, body }));
  }

  return (
    <ConfirmButton
      name="Rotate"
      of={name}
      question={`Put a new key in place of “${name}”?`}
      onConfirm={rotate}
    >
      <SelectField label="The old key" value={overlap} onValue={setOverlap} options={OVERLAPS} />
    </ConfirmButton>
  );
}
