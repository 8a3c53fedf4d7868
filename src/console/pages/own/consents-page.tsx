import type { Consent } from "../../api/interface.ts";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { ActionForm, ExpiryField, SelectField } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { Card, StatusBadge, type Tone } from "../../components/notes.tsx";
import { TimeText, utcText } from "../../components/text.tsx";
import { change } from "../../state/use-service.ts";

type Purpose = Consent["purpose"];

/** What a consent to each purpose allows. D-6.1. */
const PURPOSES: Readonly<Record<Purpose, string>> = {
  reputation_lookup: "Score, profile and platforms",
  profile_lookup: "Profile only",
  platforms_lookup: "Platforms only",
};

const TONES: Readonly<Record<Consent["status"], Tone>> = {
  active: "good",
  revoked: "bad",
  expired: "warning",
  superseded: "idle",
};

const CONSENTS: ListDescription<"get /v1/me/consents"> = {
  from: "get /v1/me/consents",
  caption: "Your consents",
  limit: 20,
  filters: [
    { name: "status", label: "Status", options: [["", "All"], ...Object.keys(TONES)] },
    { name: "purpose", label: "For", options: [["", "All"], ...Object.entries(PURPOSES)] },
  ],
  keyOf: ({ id }) => id,
  columns: [
    { title: "For", cell: ({ purpose }) => PURPOSES[purpose], isHeader: true },
    { title: "Status", cell: ({ status }) => <StatusBadge tone={TONES[status]} text={status} /> },
    { title: "Given", cell: (consent) => <TimeText at={consent.granted_at} /> },
    { title: "Expires", cell: (consent) => <TimeText at={consent.expires_at} /> },
    {
      title: "Actions",
      cell: (consent) => consent.status === "active" && <RevokeButton consent={consent} />,
    },
  ],
  empty: [
    "You have given no consent",
    "Every lookup of you is refused. To allow some, choose what for and press “Give”.",
  ],
  unmatched: ["No consent is like this", "Choose another status or purpose."],
};

/** D-9.4.10. */
export function ConsentsPage() {
  return (
    <>
      <p class="prose">
        Without your consent nobody with an API key learns anything of you here.{" "}
        <a href="/console/accesses">Accesses</a> shows who looked.
      </p>
      <Give />
      <ListPage list={CONSENTS} />
    </>
  );
}

function Give() {
  return (
    <Card title="New consent">
      <ActionForm
        name="Give"
        isRow
        isEmptied
        onSubmit={(typed) => {
          const purpose = typed("purpose") as Purpose;
          const body = { purpose, expires_at: utcText(typed("expires_at")) || null };
          return change("post /v1/me/consents", { body }, `Given: ${PURPOSES[purpose]}`);
        }}
      >
        <SelectField
          label="Purpose"
          name="purpose"
          hint="It replaces an active one of the same purpose"
          options={Object.entries(PURPOSES)}
        />
        <ExpiryField />
      </ActionForm>
    </Card>
  );
}

function RevokeButton({ consent: { id, purpose } }: { readonly consent: Consent }) {
  const allowed = PURPOSES[purpose];
  return (
    <ConfirmButton
      name="Revoke"
      of={allowed}
      question={`Revoke the consent “${allowed}”?`}
      onConfirm={() => {
        const done = `Revoked: ${allowed}. The next lookup is refused`;
        return change("delete /v1/me/consents/{id}", { path: { id } }, done);
      }}
    >
      <p>From now on every lookup that needs it is refused. You can give it again.</p>
    </ConfirmButton>
  );
}
