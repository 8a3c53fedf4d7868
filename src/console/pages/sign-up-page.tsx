import { useState } from "preact/hooks";
import { request } from "../api/request.ts";
import { asRequestError, type RequestError } from "../api/request-error.ts";
import { useResource } from "../api/use-resource.ts";
import { ActionButton } from "../components/action-button.tsx";
import { ErrorNote } from "../components/error-note.tsx";
import { Field } from "../components/field.tsx";
import { place } from "../state/router.ts";
import { SIGN_IN, signIn } from "../state/session.ts";
import { useOpenWhenSignedIn } from "./sign-in-page.tsx";

/** Where people make an account. D-9.3. */
export function SignUpPage() {
  const { data: state } = useResource((signal) => request("get /v1/signup", { signal }));
  useOpenWhenSignedIn();
  return (
    <>
      {state?.enabled === false ? <p class="note">Signing up is disabled here.</p> : <SignUpForm />}
      <p>
        Have an account? <a href={SIGN_IN + place.value.search}>Sign in</a>
      </p>
    </>
  );
}

function SignUpForm() {
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<RequestError | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function signUp() {
    await request("post /v1/signup", { body: { username, email, password } });
    await signIn({ username, password });
  }

  async function submit(event: Event) {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(null);
    await signUp().catch((failure) => setError(asRequestError(failure)));
    setBusy(false);
  }

  return (
    // The service says what is wrong with a field, in the same words for everybody.
    <form class="form" noValidate onSubmit={submit}>
      {error?.fields.length === 0 && <ErrorNote error={error} />}
      <Field
        label="Username"
        hint="1 to 40 of a-z, 0-9, _ and -. Others look you up by it; it cannot be changed."
        error={error?.problemOf("username") ?? null}
        value={username}
        onValue={setUsername}
        isRequired
        hints={{ autocomplete: "username", autocapitalize: "none", spellcheck: false }}
      />
      <Field
        label="Email"
        type="email"
        error={error?.problemOf("email") ?? null}
        value={email}
        onValue={setEmail}
        isRequired
        hints={{ autocomplete: "email" }}
      />
      <Field
        label="Password"
        type="password"
        hint="At least 10 characters"
        error={error?.problemOf("password") ?? null}
        value={password}
        onValue={setPassword}
        isRequired
        hints={{ autocomplete: "new-password" }}
      />
      <ActionButton type="submit" look="main" isBusy={isBusy}>
        Sign up
      </ActionButton>
    </form>
  );
}
