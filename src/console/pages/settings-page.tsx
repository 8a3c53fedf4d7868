import { request } from "../api/request.ts";
import { useResource } from "../api/use-resource.ts";
import { ConfirmButton } from "../components/confirm-dialog.tsx";
import { Facts } from "../components/facts.tsx";
import { ResourceView } from "../components/resource-view.tsx";
import { sayOnNextPage } from "../state/messages.ts";
import { leave, session } from "../state/session.ts";
import { ofProfile } from "./own/of-profile.ts";
import { PasswordForm } from "./own/password-form.tsx";
import { ProfileForm } from "./own/profile-form.tsx";

/** The page `Settings`: profile, password, sessions, erasure. D-9.4.10. */
export function SettingsPage() {
  const profile = useResource((signal) => ofProfile(request("get /v1/me/profile", { signal })));
  return (
    <div class="sections">
      <Account />
      <section class="card" aria-labelledby="profile">
        <h2 id="profile">Profile</h2>
        <ResourceView resource={profile} name="your profile">
          {({ found }) =>
            found === null ? (
              <p>This account has no profile: nobody can look it up.</p>
            ) : (
              <ProfileForm saved={found} onSaved={profile.reload} />
            )
          }
        </ResourceView>
      </section>
      <section class="card" aria-labelledby="password">
        <h2 id="password">Password</h2>
        <PasswordForm />
      </section>
      <Sessions />
      <Erasure />
    </div>
  );
}

function Account() {
  if (session.value.kind !== "signed_in") return null;
  const { username, email, plan, role } = session.value.account;
  return (
    <section class="card" aria-labelledby="account">
      <h2 id="account">Account</h2>
      <Facts
        facts={[
          ["Username", <bdi class="value">{username}</bdi>],
          ["E-mail", <bdi class="value">{email || "none"}</bdi>],
          ["Plan", plan],
          ["Role", role],
        ]}
      />
    </section>
  );
}

function Sessions() {
  async function end() {
    await request("delete /v1/sessions");
    sayOnNextPage("All your sessions have ended, this one too");
    leave();
  }

  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p>
        Signs you out everywhere, here too: for a device that you lost, or that was not yours. Your
        API keys go on.
      </p>
      <ConfirmButton
        name="End all sessions"
        question="End all your sessions, this one too?"
        onConfirm={end}
      >
        <p>You will have to sign in again.</p>
      </ConfirmButton>
    </section>
  );
}

function Erasure() {
  const username = session.value.kind === "signed_in" ? session.value.account.username : "";

  async function erase() {
    await request("delete /v1/me");
    sayOnNextPage("Your account has been erased");
    leave();
  }

  return (
    <section class="card" aria-labelledby="erasure">
      <h2 id="erasure">Erasure</h2>
      <p>
        Removes the account and everything about you from this service, at once and for good. Other
        services that have your data have to be asked as well.
      </p>
      <ConfirmButton
        name="Erase account"
        look="danger"
        question={`Erase the account “${username}” for good?`}
        onConfirm={erase}
      >
        <p>
          Your profile, platform accounts, consents, API keys and sessions are gone at once. Records
          of lookups stay, without your name. The username stays taken.
        </p>
      </ConfirmButton>
    </section>
  );
}
