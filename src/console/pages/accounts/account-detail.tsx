import type { AccountUsage, Usage } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { DayBars } from "../../charts/time-charts.tsx";
import { ActionForm, Field } from "../../components/form.tsx";
import { Card, Facts, Loaded, PageHead } from "../../components/notes.tsx";
import { TimeText } from "../../components/text.tsx";
import { say } from "../../state/messages.ts";
import { leadOn, whileHere } from "../../state/router.ts";
import { AccountActions, AccountStatus } from "./account-actions.tsx";

/** An account with its usage. */
export function AccountDetail({ username }: { readonly username: string }) {
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
        <Field
          label="New password"
          name="new_password"
          hint="10 to 200 characters; all sessions of the account end"
          type="password"
          isRequired
          hints={{ autocomplete: "new-password" }}
        />
      </ActionForm>
    </Card>
  );
}
