import { useState } from "preact/hooks";
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, PLAN_LIMITS } from "../../domain/shared/limits.ts";
import type { AccountItem, AccountUsage, Usage } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { ConfirmButton } from "../components/confirm-dialog.tsx";
import { ActionForm, Field, NAME_HINTS, PasswordField, SelectField } from "../components/form.tsx";
import { type ListDescription, ListPage } from "../components/list-page.tsx";
import { Card, Facts, Loaded, PageHead, StatusBadge } from "../components/notes.tsx";
import { LongText, TimeText } from "../components/text.tsx";
import { DayBars } from "../components/time-charts.tsx";
import { leadOn, say } from "../state/page-visit.ts";
import { whileHere } from "../state/router.ts";
import { ownName } from "../state/session.ts";
import { change } from "../state/use-service.ts";

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
  return (
    <>
      <Card title={<bdi>{username}</bdi>} beside={<AccountActions account={account} isOnItsPage />}>
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

function AccountStatus({ account: { status } }: { readonly account: AccountItem }) {
  return <StatusBadge tone={status === "active" ? "good" : "warning"} text={status} />;
}

interface ActionsProps {
  readonly account: AccountItem;
  /** On the account's own page, which is left once the account is erased. */
  readonly isOnItsPage?: boolean;
}

/** An administrator's actions; nobody suspends or erases the own account here. */
function AccountActions({ account, isOnItsPage = false }: ActionsProps) {
  const { username, status } = account;
  const isOwn = ownName() === username;
  const path = { username };

  const put = (what: "suspend" | "restore", state: string) =>
    change(`post /v1/admin/accounts/{username}/${what}`, { path }, `${username} is ${state}`);

  async function erase() {
    const operation = "delete /v1/admin/accounts/{username}";
    const done = `${username} is erased; the name stays taken until it is released`;
    if (!isOnItsPage) return await change(operation, { path }, done);
    const isHere = whileHere();
    await request(operation, { path });
    leadOn(isHere, done, "/console/accounts");
  }

  return (
    <div class="row-actions">
      <PlanButton username={username} />
      {status === "suspended" && (
        <ConfirmButton
          name="Restore"
          of={username}
          question={`Let ${username} go on?`}
          onConfirm={() => put("restore", "active again")}
        />
      )}
      {!isOwn && status === "active" && (
        <ConfirmButton
          name="Suspend"
          of={username}
          question={`Suspend ${username}?`}
          onConfirm={() => put("suspend", "suspended")}
        >
          <p>
            Its keys are refused from the next lookup on and its sessions end. Nothing is lost; you
            can restore it.
          </p>
        </ConfirmButton>
      )}
      {!isOwn && (
        <ConfirmButton
          name="Erase"
          of={username}
          look="danger"
          question={`Erase ${username}?`}
          onConfirm={erase}
        >
          <p>
            The account, its profile, platform accounts, keys and consents are removed for good.
            What the audit log holds stays, nameless.
          </p>
        </ConfirmButton>
      )}
    </div>
  );
}

function PlanButton({ username }: { readonly username: string }) {
  const path = { username };
  return (
    <ConfirmButton
      name="Change plan"
      of={username}
      question={`Change the plan of ${username}`}
      onConfirm={(typed) => {
        const next = typed("plan") as AccountItem["plan"];
        const [month, minute] = [typed("calls_per_month"), typed("rate_limit_per_minute")];
        const body = {
          plan: next,
          ...(month !== "" && { calls_per_month: Number(month) }),
          ...(minute !== "" && { rate_limit_per_minute: Number(minute) }),
        };
        const done = `${username} is on the plan ${next}`;
        return change("put /v1/admin/accounts/{username}/plan", { path, body }, done);
      }}
    >
      <Loaded from="get /v1/admin/accounts/{username}" options={{ path }} name="the plan">
        {({ usage }) => <PlanFields usage={usage} />}
      </Loaded>
    </ConfirmButton>
  );
}

const PLANS = Object.keys(PLAN_LIMITS);
const USUAL_RATE = PLAN_LIMITS.enterprise.callsPerMinute.toLocaleString();
const LIMITS = [
  ["month", "calls_per_month", "Calls per month", "unlimited"],
  ["minute", "rate_limit_per_minute", "Calls per minute", USUAL_RATE],
] as const;

function PlanFields({ usage }: Pick<AccountUsage, "usage">) {
  const [plan, setPlan] = useState<string>(usage.plan);
  return (
    <>
      <SelectField label="Plan" name="plan" value={plan} onValue={setPlan} options={PLANS} />
      {plan === "enterprise" &&
        LIMITS.map(([limit, name, label, usual]) => (
          <Field
            key={name}
            {...{ name, label, hint: `Empty: ${usual}` }}
            value={usage.plan === "enterprise" ? String(usage[limit].limit ?? "") : ""}
            type="number"
            hints={{ min: "1" }}
          />
        ))}
    </>
  );
}
