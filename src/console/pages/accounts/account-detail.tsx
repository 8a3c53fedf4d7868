import { useState } from "preact/hooks";
import type { AccountUsage, Usage } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { type Resource, useResource } from "../../api/use-resource.ts";
import { DayBars } from "../../charts/day-bars.tsx";
import { ActionForm } from "../../components/action-form.tsx";
import { Facts } from "../../components/facts.tsx";
import { Field } from "../../components/field.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { say } from "../../state/messages.ts";
import { navigate } from "../../state/router.ts";
import { AccountActions, AccountStatus } from "./account-actions.tsx";

/** One account with its usage. */
export function AccountDetail({ username }: { readonly username: string }) {
  const account = useResource(
    (signal) => request("get /v1/admin/accounts/{username}", { path: { username }, signal }),
    { key: username },
  );
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
  return (
    <>
      <section class="card">
        <div class="card-head">
          <h2>
            <bdi class="value">{username}</bdi>
          </h2>
          <AccountActions
            account={account}
            onChange={reload}
            onErase={() => navigate("/console/accounts")}
          />
        </div>
        <Facts
          facts={[
            ["Status", <AccountStatus key="status" account={account} />],
            ["Role", account.role],
            ["Plan", account.plan],
            [
              "E-mail",
              <bdi key="email" class="value">
                {account.email || "–"}
              </bdi>,
            ],
            ["Created", <TimeText key="created" at={account.created_at} />],
            ["Last sign-in", <TimeText key="sign-in" at={account.last_sign_in_at} />],
            ["This minute", ofLimit(usage.minute)],
            ["This month", ofLimit(usage.month)],
          ]}
        />
      </section>
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
  const [password, setPassword] = useState("");

  async function set() {
    const body = { new_password: password };
    await request("put /v1/admin/accounts/{username}/password", { path: { username }, body });
    setPassword("");
    say(`${username} has the new password, and is signed out everywhere`);
  }

  return (
    <section class="card">
      <h2>Another password</h2>
      <ActionForm name="Set password" onSubmit={set}>
        {(error) => (
          <Field
            label="New password"
            hint="10 to 200 characters; all sessions of the account end"
            type="password"
            value={password}
            onValue={setPassword}
            error={error?.problemOf("new_password") ?? null}
            isRequired
            hints={{ autocomplete: "new-password" }}
          />
        )}
      </ActionForm>
    </section>
  );
}
