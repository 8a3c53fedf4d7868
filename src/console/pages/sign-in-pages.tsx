import { request } from "../api/request.ts";
import { ActionForm, Field, NAME_HINTS, PasswordField } from "../components/form.tsx";
import { sayOnNextPage } from "../state/page-visit.ts";
import { navigate, place } from "../state/router.ts";
import { SIGN_IN, SIGN_UP, signIn } from "../state/session.ts";
import { useReply } from "../state/use-service.ts";

/** D-9.3. */
export function SignInPage() {
  const { data: state } = useReply("get /v1/signup", {});
  return (
    <>
      <ActionForm
        name="Sign in"
        onSubmit={(typed) => signIn({ username: typed("username"), password: typed("password") })}
      >
        <Username />
        <PasswordField label="Password" name="password" />
      </ActionForm>
      {state?.enabled && (
        <p>
          No account yet? <a href={SIGN_UP + place.value.search}>Sign up</a>
        </p>
      )}
      {state?.identity_provider && (
        <p>
          People of <bdi>{state.identity_provider}</bdi> use the pages of their identity provider;
          this console is for accounts that were made here.
        </p>
      )}
      {state?.administrator_exists === false && (
        <p class="note">
          Nobody administers this service yet. On its machine run{" "}
          <code>repsync admin create NAME</code>
        </p>
      )}
    </>
  );
}

/** D-9.3. */
export function SignUpPage() {
  const { data: state } = useReply("get /v1/signup", {});
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
  return (
    <ActionForm
      name="Sign up"
      isUnchecked
      onSubmit={async (typed) => {
        const credentials = { username: typed("username"), password: typed("password") };
        const body = { ...credentials, email: typed("email") };
        await request("post /v1/signup", { body });
        // The account exists now: signing up again would be refused.
        await signIn(credentials).catch(() => {
          sayOnNextPage("Your account was made. Sign in");
          navigate(SIGN_IN + place.value.search);
        });
      }}
    >
      <Username hint="1 to 40 of a-z, 0-9, _ and -. Others look you up by it; it cannot be changed." />
      <Field label="Email" name="email" type="email" isRequired hints={{ autocomplete: "email" }} />
      <PasswordField label="Password" name="password" hint="At least 10 characters" />
    </ActionForm>
  );
}

function Username({ hint }: { readonly hint?: string }) {
  return (
    <Field
      label="Username"
      name="username"
      hint={hint}
      isRequired
      hints={{ autocomplete: "username", ...NAME_HINTS }}
    />
  );
}
