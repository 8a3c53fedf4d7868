import type { AccountUsage, Usage } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { type Resource, useReply } from "../../api/use-resource.ts";
import { DayBars } from "../../charts/day-bars.tsx";
import { ActionForm, Field } from "../../components/form.tsx";
import { Card, Facts, ResourceView } from "../../components/notes.tsx";
import { TimeText } from "../../components/text.tsx";
import { say } from "../../state/messages.ts";
import { navigate, whileHere } from "../../state/router.ts";
import { AccountActions, AccountStatus } from "./account-actions.tsx";

/** One account with its usage. */
export function AccountDetail({ username }: { readonly username: string }) {
  const account = useReply("get /v1/admin/accounts/{username}", { path: { username } });
  return (
    <>
      <p>
        <a href="/console/accounts">All accounts</a>
      </p>
      <ResourceView resource={account} name="the account">
        {(found) => <Known account={found} reload={account.reload} />}
      </ResourceView>
    </>
  );
}

function Known({
  account,
  reload,
}: {
  readonly account: AccountUsage;
  readonly reload: Resource<unknown>["reload"];
}) {
  const { username, usage } = account;
  const isHere = whileHere();
  return (
    <>
      <Card
        title={<bdi>{username}</bdi>}
        beside={
          <AccountActions
            account={account}
            onChange={reload}
            onErase={() => isHere() && navigate("/console/accounts")}
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
      <DayBars
        caption="Calls by day"
        names={["Calls", "Denied"]}
        days={usage.days.map(({ date, calls, denied }) => ({ date, all: calls, marked: denied }))}
      />
      <SetPassword username={username} />
    </>
  );
}

function ofLimit({ used, limit }: Usage["minute"]): string {
  const most = limit === null ? "unlimited" : limit.toLocaleString();
  return `${used.toLocaleString()} of ${most} calls`;
}

function SetPassword({ username }: { readonly username: string }) {
  return (
    <Card title="Another password">
      <ActionForm
        name="Set password"
        isEmptied
        onSubmit={async (typed) => {
          const body = { new_password: typed("new_password") };
          const path = { username };
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
