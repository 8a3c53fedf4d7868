import { useEffect, useState } from "preact/hooks";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { ActionButton } from "../components/action-button.tsx";
import { ErrorNote } from "../components/error-note.tsx";
import { Field } from "../components/field.tsx";
import { navigate } from "../state/router.ts";
import { nextAddress, session, signIn } from "../state/session.ts";

/** Where anybody signs in. D-9.3. */
export function SignInPage() {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<RequestError | null>(null);
  const { kind } = session.value;
  useEffect(() => {
    if (kind === "signed_in") navigate(nextAddress(), { isReplaced: true });
  }, [kind]);

  async function submit(event: Event) {
    event.preventDefault();
    setError(null);
    await signIn({ username, password }).catch((failure) => setError(asRequestError(failure)));
  }

  return (
    <form class="form" onSubmit={submit}>
      {session.value.kind === "signed_out" && session.value.hasEnded && (
        <p class="note">Your session has ended. Sign in again.</p>
      )}
      <ErrorNote error={error} advice="" />
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
      <ActionButton type="submit" look="main">
        Sign in
      </ActionButton>
    </form>
  );
}
