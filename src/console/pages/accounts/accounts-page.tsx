import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../../domain/shared/limits.ts";
import type { AccountUsage, Usage } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { DayBars } from "../../charts/time-charts.tsx";
import { ActionForm, Field, NAME_HINTS, PasswordField } from "../../components/form.tsx";
import { type ListDescription, ListPage } from "../../components/list-page.tsx";
import { Card, Facts, Loaded, PageHead } from "../../components/notes.tsx";
import { LongText, TimeText } from "../../components/text.tsx";
import { say } from "../../state/messages.ts";
import { leadOn, whileHere } from "../../state/router.ts";
import { AccountActions, AccountStatus } from "./account-actions.tsx";

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

/** All accounts, or the one of `username`. D-9.4. */
export function AccountsPage({ username }: Readonly<Record<string, string>>) {
  if (username !== undefined) return <AccountDetail username={username} />;
  return (
    <>
      <ListPage list={ACCOUNTS} />
      <ReleaseName />
    </>
  );
}

/** Frees the name of an erased person for somebody new. */
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

function AccountDetail({ username }: { readonly username: string }) {
  return (
    <>
      <PageHead back={<a href="/console/accounts">All accounts</a>} shown={username} />
      <Loaded
        from="get /v1/admin/accounts/{username}"
        options={{ path: { username } }}
        name="the account"
      >
        {(account) => <Known account={account} />}
      </Loaded>
    </>
  );
}

function Known({ account }: { readonly account: AccountUsage }) {
  const { username, usage } = account;
  const isHere = whileHere();
  return (
    <>
      <Card
        title={<bdi>{username}</bdi>}
        beside={
          <AccountActions
            account={account}
            onErased={(text) => leadOn(isHere, text, "/console/accounts")}
          />
        }
      >
        <Facts
          facts={[
            ["Status", <AccountStatus account={account} />],
            ["Role", account.role],
            ["Plan", account.plan],
            ["E-mail", <bdi>{account.email || "–"}</bdi>],
            ["Created", <TimeText at={account.created_at} />],
            ["Last sign-in", <TimeText at={account.last_sign_in_at} />],
            ["This minute", ofLimit(usage.minute)],
            ["This month", ofLimit(usage.month)],
          ]}
        />
      </Card>
      <DayBars caption="Calls by day" name="Calls" days={usage.days} />
      <SetPassword username={username} />
    </>
  );
}

function ofLimit({ used, limit }: Usage["minute"]): string {
  const most = limit === null ? "unlimited" : limit.toLocaleString();
  return `${used.toLocaleString()} of ${most} calls`;
}

function SetPassword({ username }: { readonly username: string }) {
  const path = { username };
  return (
    <Card title="Another password">
      <ActionForm
        name="Set password"
        isEmptied
        onSubmit={async (typed) => {
          const body = { new_password: typed("new_password") };
          await request("put /v1/admin/accounts/{username}/password", { path, body });
          say(`${username} has the new password, and is signed out everywhere`);
        }}
      >
        <PasswordField
          label="New password"
          name="new_password"
          hint={`${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters; all sessions of the account end`}
        />
      </ActionForm>
    </Card>
  );
}
