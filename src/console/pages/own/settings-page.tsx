import { useState } from "preact/hooks";
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../../domain/shared/limits.ts";
import type { OwnProfile } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import type { RequestError } from "../../api/request-error.ts";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { ActionForm, CheckField, Field, PasswordField } from "../../components/form.tsx";
import { Card, Facts, Loaded } from "../../components/notes.tsx";
import { say } from "../../state/page-visit.ts";
import { endSession, ownAccount, ownName } from "../../state/session.ts";
import { change } from "../../state/use-service.ts";

/** D-9.4.10. */
export function SettingsPage() {
  const none = <p>This account has no profile: nobody can look it up.</p>;
  return (
    <div class="prose">
      <Account />
      <Card title="Profile">
        <Loaded from="get /v1/me/profile" name="your profile" missing={none}>
          {(saved) => <ProfileForm saved={saved} />}
        </Loaded>
      </Card>
      <Card title="Password">
        <PasswordForm />
      </Card>
      <Sessions />
      <Erasure />
    </div>
  );
}

function Account() {
  const account = ownAccount();
  if (account === null) return null;
  const { username, email, plan, role } = account;
  return (
    <Card title="Account">
      <Facts
        facts={[
          ["Username", <bdi>{username}</bdi>],
          ["E-mail", <bdi>{email || "none"}</bdi>],
          ["Plan", plan],
          ["Role", role],
        ]}
      />
    </Card>
  );
}

/** D-8.7. */
function PasswordForm() {
  return (
    <ActionForm
      name="Change password"
      isEmptied
      onSubmit={async (typed) => {
        const body = {
          current_password: typed("current_password"),
          new_password: typed("new_password"),
        };
        await request("put /v1/me/password", { body }).catch((failure: RequestError) => {
          throw failure.code === "credentials_invalid" ? failure.at("current_password") : failure;
        });
        say("Your password is changed; your other sessions have ended");
      }}
    >
      {/* Tells password managers whose password it is. */}
      <input type="text" autocomplete="username" value={ownName()} readOnly hidden />
      <PasswordField label="Current password" name="current_password" />
      <PasswordField
        label="New password"
        name="new_password"
        hint={`${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters. Your other sessions end with the change`}
      />
    </ActionForm>
  );
}

function Sessions() {
  return (
    <Card title="Sessions">
      <p>
        Signs you out everywhere, here too: for a device that you lost, or that was not yours. Your
        API keys go on.
      </p>
      <ConfirmButton
        name="End all sessions"
        question="End all your sessions, this one too?"
        onConfirm={async () => {
          await request("delete /v1/sessions");
          endSession("All your sessions have ended, this one too");
        }}
      >
        <p>You will have to sign in again.</p>
      </ConfirmButton>
    </Card>
  );
}

function Erasure() {
  return (
    <Card title="Erasure">
      <p>
        Removes the account and everything about you from this service, at once and for good. Other
        services that have your data have to be asked as well.
      </p>
      <ConfirmButton
        name="Erase account"
        look="danger"
        question={`Erase the account “${ownName()}” for good?`}
        onConfirm={async () => {
          await request("delete /v1/me");
          endSession("Your account has been erased");
        }}
      >
        <p>
          Your profile, platform accounts, consents, API keys and sessions are gone at once. Records
          of lookups stay, without your name. The username stays taken.
        </p>
      </ConfirmButton>
    </Card>
  );
}

type Draft = Pick<OwnProfile, "display_name" | "profession" | "location" | "bio" | "public">;

const LINES = [
  ["display_name", "Display name"],
  ["profession", "Profession"],
  ["location", "Location"],
] as const;

function withoutSaved(now: Partial<Draft>, saved: Partial<Draft>): Partial<Draft> {
  const left = Object.entries(now).filter(([name, value]) => saved[name as keyof Draft] !== value);
  return Object.fromEntries(left);
}

/** The own profile. Only changes are sent. */
function ProfileForm({ saved }: { readonly saved: OwnProfile }) {
  const [changes, setChanges] = useState<Partial<Draft>>({});
  const draft = { ...saved, ...changes };
  const draw = (more: Partial<Draft>) => setChanges((before) => ({ ...before, ...more }));
  const hint =
    draft.display_name === saved.display_name
      ? "Your profile is verified under this name"
      : "Your profile is verified; with this name it is verified no more";

  async function save() {
    await change("patch /v1/me/profile", { body: changes }, "Your profile is saved");
    // Changes made during the request are not saved yet.
    setChanges((now) => withoutSaved(now, changes));
  }

  return (
    <ActionForm name="Save" onSubmit={save}>
      {LINES.map(([name, label]) => (
        <Field
          key={name}
          label={label}
          name={name}
          value={draft[name]}
          onValue={(text) => draw({ [name]: text })}
          {...(saved.verified && name === "display_name" ? { hint } : {})}
        />
      ))}
      <Field label="Bio" name="bio" isLong value={draft.bio} onValue={(bio) => draw({ bio })} />
      <CheckField
        label="Public"
        hint="Otherwise your profile is not found, whatever you consented to"
        isChecked={draft.public}
        onChecked={(isPublic) => draw({ public: isPublic })}
      />
    </ActionForm>
  );
}
