import { useState } from "preact/hooks";
import type { Consent } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { useResource } from "../api/use-resource.ts";
import { ActionForm } from "../components/action-form.tsx";
import { ConfirmButton } from "../components/confirm-dialog.tsx";
import type { Column } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ExpiryField, expiryOf } from "../components/expiry-field.tsx";
import { SelectField } from "../components/field.tsx";
import { ListView } from "../components/list-view.tsx";
import { StatusBadge, type Tone } from "../components/status-badge.tsx";
import { TimeText } from "../components/time-text.tsx";
import { say } from "../state/messages.ts";
import { queryValue, setQuery } from "../state/router.ts";
import { PURPOSES, purposeText } from "./own/purposes.ts";

const PAGE_SIZE = 20;
const TONES: Readonly<Record<Consent["status"], Tone>> = {
  active: "good",
  revoked: "bad",
  expired: "warning",
  superseded: "idle",
};
const STATUSES = ["active", "revoked", "expired", "superseded"] as const;

/** The page `Consents`: give, revoke, history. D-9.4.10. */
export function ConsentsPage() {
  const cursor = queryValue("cursor");
  const status = oneOf(STATUSES, queryValue("status"));
  const purposes = PURPOSES.map(([purpose]) => purpose);
  const purpose = oneOf(purposes, queryValue("purpose"));
  const query = {
    limit: PAGE_SIZE,
    ...(cursor === "" ? {} : { cursor }),
    ...(status === undefined ? {} : { status }),
    ...(purpose === undefined ? {} : { purpose }),
  };
  const list = useResource((signal) => request("get /v1/me/consents", { query, signal }), {
    key: JSON.stringify(query),
  });
  const isFiltered = status !== undefined || purpose !== undefined;

  async function revoke({ id, purpose: revoked }: Consent) {
    await request("delete /v1/me/consents/{id}", { path: { id: String(id) } });
    say(`Revoked: ${purposeText(revoked)}. The next lookup is refused`);
    await list.reload();
  }

  const actions: Column<Consent> = {
    title: "Actions",
    cell: (consent) =>
      consent.status === "active" && (
        <div class="row-actions">
          <ConfirmButton
            name="Revoke"
            of={purposeText(consent.purpose)}
            question={`Revoke the consent “${purposeText(consent.purpose)}”?`}
            onConfirm={() => revoke(consent)}
          >
            <p>From now on every lookup that needs it is refused. You can give it again.</p>
          </ConfirmButton>
        </div>
      ),
  };

  return (
    <>
      <p class="prose">
        Without your consent nobody with an API key learns anything of you here.{" "}
        <a href="/console/accesses">Accesses</a> shows who looked.
      </p>
      <Give onGiven={list.reload} />
      <div class="form-row">
        <SelectField
          label="Status"
          value={status ?? ""}
          onValue={(value) => setQuery({ status: value, cursor: "" })}
          options={[["", "All"], ...STATUSES.map((name) => [name, name] as const)]}
        />
        <SelectField
          label="For"
          value={purpose ?? ""}
          onValue={(value) => setQuery({ purpose: value, cursor: "" })}
          options={[["", "All"], ...PURPOSES]}
        />
      </div>
      <ListView
        caption="Your consents"
        resource={list}
        columns={[...COLUMNS, actions]}
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <EmptyState title="No consent is like this">
              <p>Choose another status or purpose.</p>
            </EmptyState>
          ) : (
            <EmptyState title="You have given no consent">
              <p>
                Every lookup of you is refused. To allow some, choose what for and press “Give”.
              </p>
            </EmptyState>
          )
        }
      />
    </>
  );
}

const COLUMNS: readonly Column<Consent>[] = [
  { title: "For", cell: ({ purpose }) => purposeText(purpose), isHeader: true },
  { title: "Status", cell: ({ status }) => <StatusBadge tone={TONES[status]} text={status} /> },
  { title: "Given", cell: (consent) => <TimeText at={consent.granted_at} /> },
  { title: "Expires", cell: (consent) => <TimeText at={consent.expires_at} /> },
];

function Give({ onGiven }: { readonly onGiven: () => Promise<void> }) {
  const [purpose, setPurpose] = useState<Consent["purpose"]>("reputation_lookup");
  const [expiry, setExpiry] = useState("");

  async function give() {
    await request("post /v1/me/consents", { body: { purpose, expires_at: expiryOf(expiry) } });
    setExpiry("");
    say(`Given: ${purposeText(purpose)}`);
    await onGiven();
  }

  return (
    <section class="card" aria-labelledby="give">
      <h2 id="give">New consent</h2>
      <ActionForm name="Give" isRow onSubmit={give}>
        {(error) => (
          <>
            <SelectField
              label="Purpose"
              hint="It replaces an active one of the same purpose"
              value={purpose}
              onValue={(value) => setPurpose(value as Consent["purpose"])}
              error={error?.problemOf("purpose") ?? null}
              options={PURPOSES}
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

/** The value if it is one of these; undefined for all else, such as what somebody wrote into the address. */
function oneOf<Value extends string>(values: readonly Value[], value: string): Value | undefined {
  return values.find((known) => known === value);
}
