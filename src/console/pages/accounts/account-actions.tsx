import { useState } from "preact/hooks";
import type { AccountItem } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { Field, SelectField } from "../../components/form.tsx";
import { StatusBadge } from "../../components/notes.tsx";
import { say } from "../../state/messages.ts";
import { ownName } from "../../state/session.ts";

type Plan = AccountItem["plan"];

const PLANS: readonly Plan[] = ["free", "developer", "business", "enterprise"];

interface ActionsProps {
  readonly account: AccountItem;
  /** Called after each change. */
  readonly onChange: () => unknown;
  /** Called after an erasure; `onChange` when absent. */
  readonly onErase?: () => unknown;
}

export function AccountStatus({ account: { status } }: { readonly account: AccountItem }) {
  return <StatusBadge tone={status === "active" ? "good" : "warning"} text={status} />;
}

/** What an administrator can do to one account; nobody suspends or erases their own here. */
export function AccountActions({ account, onChange, onErase = onChange }: ActionsProps) {
  const { username, status } = account;
  const isOwn = ownName() === username;
  const path = { username };
  return (
    <div class="row-actions">
      <PlanButton account={account} onChange={onChange} />
      {status === "suspended" && (
        <ConfirmButton
          name="Restore"
          of={username}
          question={`Let ${username} go on?`}
          onConfirm={async () => {
            await request("post /v1/admin/accounts/{username}/restore", { path });
            say(`${username} is active again`);
            await onChange();
          }}
        />
      )}
      {!isOwn && status === "active" && (
        <ConfirmButton
          name="Suspend"
          of={username}
          question={`Suspend ${username}?`}
          onConfirm={async () => {
            await request("post /v1/admin/accounts/{username}/suspend", { path });
            say(`${username} is suspended`);
            await onChange();
          }}
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
          onConfirm={async () => {
            await request("delete /v1/admin/accounts/{username}", { path });
            say(`${username} is erased; the name stays taken until it is released`);
            await onErase();
          }}
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

function PlanButton({ account: { username, plan }, onChange }: ActionsProps) {
  return (
    <ConfirmButton
      name="Change plan"
      of={username}
      question={`Change the plan of ${username}`}
      onConfirm={async (typed) => {
        const next = typed("plan") as Plan;
        const [month, minute] = [typed("calls_per_month"), typed("rate_limit_per_minute")];
        const body = {
          plan: next,
          ...(month !== "" && { calls_per_month: Number(month) }),
          ...(minute !== "" && { rate_limit_per_minute: Number(minute) }),
        };
        await request("put /v1/admin/accounts/{username}/plan", { path: { username }, body });
        say(`${username} is on the plan ${next}`);
        await onChange();
      }}
    >
      <PlanFields before={plan} />
    </ConfirmButton>
  );
}

function PlanFields({ before }: { readonly before: Plan }) {
  const [plan, setPlan] = useState<string>(before);
  const hints = { min: "1" };
  return (
    <>
      <SelectField
        label="Plan"
        name="plan"
        value={plan}
        onValue={setPlan}
        options={PLANS.map((name) => [name, name])}
      />
      {plan === "enterprise" && (
        <>
          <Field
            label="Calls per month"
            name="calls_per_month"
            hint="Empty: unlimited"
            type="number"
            hints={hints}
          />
          <Field
            label="Calls per minute"
            name="rate_limit_per_minute"
            hint="Empty: 6,000"
            type="number"
            hints={hints}
          />
        </>
      )}
    </>
  );
}
