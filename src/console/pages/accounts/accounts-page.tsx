import { request } from "../../api/request.ts";
import { ActionForm, Field, NAME_HINTS } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { Card } from "../../components/notes.tsx";
import { LongText, TimeText } from "../../components/text.tsx";
import { say } from "../../state/messages.ts";
import { AccountActions, AccountStatus } from "./account-actions.tsx";
import { AccountDetail } from "./account-detail.tsx";

const ACCOUNTS: ListDescription<"get /v1/admin/accounts"> = {
  from: "get /v1/admin/accounts",
  caption: "Accounts",
  limit: 20,
  filters: [
    {
      name: "query",
      label: "Name or e-mail address",
      type: "search",
      hints: { ...NAME_HINTS, maxLength: 254 },
    },
  ],
  keyOf: ({ username }) => username,
  columns: [
    {
      title: "Username",
      isHeader: true,
      cell: ({ username, role }) => (
        <>
          <a href={`/console/accounts/${encodeURIComponent(username)}`}>
            <bdi>{username}</bdi>
          </a>
          {role === "administrator" && <div class="small">administrator</div>}
        </>
      ),
    },
    { title: "E-mail", cell: ({ email }) => <LongText text={email || "–"} maxChars={60} /> },
    { title: "Plan", cell: ({ plan }) => plan },
    { title: "Status", cell: (account) => <AccountStatus account={account} /> },
    { title: "Last sign-in", cell: (account) => <TimeText at={account.last_sign_in_at} /> },
    { title: "Actions", cell: (account) => <AccountActions account={account} /> },
  ],
  empty: ["There is no account", "Search for a part of a name or of an e-mail address."],
  unmatched: [
    "No account is found here",
    "Search for a part of a name or of an e-mail address; Next looks further.",
  ],
};

/** Accounts: find one, change its plan, suspend or erase it. `username`: of one. D-9.4. */
export function AccountsPage({ username }: Readonly<Record<string, string>>) {
  if (username !== undefined) return <AccountDetail username={username} />;
  return (
    <>
      <ListPage list={ACCOUNTS} />
      <ReleaseName />
    </>
  );
}

/** Makes the name of somebody who was erased free for a new person. */
function ReleaseName() {
  return (
    <Card title="Erased names">
      <p>
        The name of somebody who was erased stays taken, because it decides whose accounts elsewhere
        count. Release it for a new person only.
      </p>
      <ActionForm
        name="Release"
        isRow
        isEmptied
        onSubmit={async (typed) => {
          const path = { username: typed("username") };
          await request("post /v1/admin/accounts/{username}/release", { path });
          say(`${path.username} is free: who signs up next has it`);
        }}
      >
        <Field
          label="Erased name"
          name="username"
          isRequired
          hints={{ autocomplete: "off", ...NAME_HINTS }}
        />
      </ActionForm>
    </Card>
  );
}
