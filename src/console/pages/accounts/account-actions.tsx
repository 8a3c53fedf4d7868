import { useState } from "preact/hooks";
import type { AccountItem } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { ConfirmButton, ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Field, SelectField } from "../../components/field.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { say } from "../../state/messages.ts";
import { session } from "../../state/session.ts";

type Item = AccountItem;

const PLANS = [
  "free",
  "developer",
  "business",
  "enterprise",
] as const satisfies readonly Item["plan"][];

interface ActionsProps {
  readonly account: Item;
  /** Called after each change. */
  readonly onChange: () => unknown;
  /** Called after an erasure; `onChange` when absent. */
  readonly onErase?: () => unknown;
}

export function AccountStatus({ account: { status } }: { readonly account: Item }) {
  return <StatusBadge tone={status === "active" ? "good" : "warning"} text={status} />;
}

/** What an administrator can do to one account; nobody suspends or erases their own here. */
export function AccountActions({ account, onChange, onErase = onChange }: ActionsProps) {
  const { username, status } = account;
  const isOwn = session.value.kind === "signed_in" && session.value.account.username === username;
  const path = { username };

  async function restore() {
    await request("post /v1/admin/accounts/{username}/restore", { path });
    say(`${username} is active again`);
    await onChange();
  }

  return (
    <div class="row-actions">
      <PlanButton account={account} onChange={onChange} />
      {status === "suspended" && (
        <ConfirmButton
          name="Restore"
          of={username}
          question={`Let ${username} go on?`}
          onConfirm={restore}
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

function PlanButton({ account, onChange }: Pick<ActionsProps, "account" | "onChange">) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionButton of={account.username} onPress={() => setOpen(true)}>
        Change plan
      </ActionButton>
      {isOpen && (
        <PlanDialog account={account} onChange={onChange} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function PlanDialog({
  account: { username, plan: before },
  onChange,
  onClose,
}: Pick<ActionsProps, "account" | "onChange"> & { readonly onClose: () => void }) {
  const [plan, setPlan] = useState<Item["plan"]>(before);
  const [month, setMonth] = useState("");
  const [minute, setMinute] = useState("");

  async function change() {
    const numbers = {
      ...(month === "" ? {} : { calls_per_month: Number(month) }),
      ...(minute === "" ? {} : { rate_limit_per_minute: Number(minute) }),
    };
    const body = { plan, ...(plan === "enterprise" ? numbers : {}) };
    await request("put /v1/admin/accounts/{username}/plan", { path: { username }, body });
    say(`${username} is on the plan ${plan}`);
    await onChange();
  }

  return (
    <ConfirmDialog
      name="Change plan"
      question={`Change the plan of ${username}`}
      onConfirm={change}
      onClose={onClose}
    >
      <SelectField
        label="Plan"
        value={plan}
        onValue={(value) => setPlan(value as Item["plan"])}
        options={PLANS.map((name) => [name, name])}
      />
      {plan === "enterprise" && (
        <>
          <Field
            label="Calls per month"
            hint="Empty: unlimited"
            type="number"
            value={month}
            onValue={setMonth}
            hints={{ min: "1", step: "1" }}
          />
          <Field
            label="Calls per minute"
            hint="Empty: 6,000"
            type="number"
            value={minute}
            onValue={setMinute}
            hints={{ min: "1", step: "1" }}
          />
        </>
      )}
    </ConfirmDialog>
  );
}
