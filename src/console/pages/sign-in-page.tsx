import { useEffect, useState } from "preact/hooks";
import type { SignUpState } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { useResource } from "../api/use-resource.ts";
import { ActionButton } from "../components/action-button.tsx";
import { ErrorNote } from "../components/error-note.tsx";
import { Field } from "../components/field.tsx";
import { navigate, place } from "../state/router.ts";
import { nextAddress, SIGN_UP, session, signIn } from "../state/session.ts";

/** Where anybody signs in. D-9.3. */
export function SignInPage() {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<RequestError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { data: state } = useResource((signal) => request("get /v1/signup", { signal }));
  useOpenWhenSignedIn();

  async function submit(event: Event) {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(null);
    await signIn({ username, password }).catch((failure) => setError(asRequestError(failure)));
    setBusy(false);
  }

  return (
    <>
      <form class="form" onSubmit={submit}>
        {session.value.kind === "signed_out" && session.value.hasEnded && (
          <p class="note">Your session has ended. Sign in again.</p>
        )}
        <ErrorNote error={error} />
        <Field
          label="Username"
          value={username}
          onValue={setUsername}
          isRequired
          hints={{ autocomplete: "username", autocapitalize: "none", spellcheck: false }}
        />
        <Field
          label="Password"
          type="password"
          value={password}
          onValue={setPassword}
          isRequired
          hints={{ autocomplete: "current-password" }}
        />
        <ActionButton type="submit" look="main" isBusy={isBusy}>
          Sign in
        </ActionButton>
      </form>
      {state !== null && <OtherWays state={state} />}
    </>
  );
}

/** Leaves a page for those who are not signed in, as soon as somebody is. */
export function useOpenWhenSignedIn(): void {
  const { kind } = session.value;
  useEffect(() => {
    if (kind === "signed_in") navigate(nextAddress(), { isReplaced: true });
  }, [kind]);
}

function OtherWays({ state }: { readonly state: SignUpState }) {
  return (
    <div class="other-ways">
      {state.enabled && (
        <p>
          No account yet? <a href={SIGN_UP + place.value.search}>Sign up</a>
        </p>
      )}
      {state.identity_provider !== null && (
        <p>
          People of <bdi class="value">{state.identity_provider}</bdi> use the pages of their
          identity provider; this console is for accounts that were made here.
        </p>
      )}
      {!state.administrator_exists && (
        <p class="note">
          Nobody administers this service yet. On its machine run{" "}
          <code>repsync admin create NAME</code>
        </p>
      )}
    </div>
  );
}
