import { useState } from "preact/hooks";
import { PLAN_LIMITS } from "../../../domain/shared/limits.ts";
import type { AccountItem, AccountUsage } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { Field, SelectField } from "../../components/form.tsx";
import { Loaded, StatusBadge } from "../../components/notes.tsx";
import { ownName } from "../../state/session.ts";
import { change } from "../../state/use-action.ts";

const PLANS = Object.keys(PLAN_LIMITS);

interface ActionsProps {
  readonly account: AccountItem;
  /** Called with a sentence on the account's own page, which it leaves; absent elsewhere. */
  readonly onErased?: (text: string) => void;
}

export function AccountStatus({ account: { status } }: { readonly account: AccountItem }) {
  return <StatusBadge tone={status === "active" ? "good" : "warning"} text={status} />;
}

/** An administrator's actions; nobody suspends or erases the own account here. */
export function AccountActions({ account, onErased }: ActionsProps) {
  const { username, status } = account;
  const isOwn = ownName() === username;
  const path = { username };

  const put = (what: "suspend" | "restore", state: string) =>
    change(`post /v1/admin/accounts/{username}/${what}`, { path }, `${username} is ${state}`);

  async function erase() {
    const operation = "delete /v1/admin/accounts/{username}";
    const done = `${username} is erased; the name stays taken until it is released`;
    if (onErased === undefined) return await change(operation, { path }, done);
    await request(operation, { path });
    onErased(done);
  }

  return (
    <div class="row-actions">
      <PlanButton account={account} />
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

function PlanButton({ account: { username } }: ActionsProps) {
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
