import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { ActionForm } from "../../components/action-form.tsx";
import { Field } from "../../components/field.tsx";
import { say } from "../../state/messages.ts";
import { session } from "../../state/session.ts";

/** Changes one's own password. D-8.7. */
export function PasswordForm() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const username = session.value.kind === "signed_in" ? session.value.account.username : "";

  async function change() {
    const body = { current_password: current, new_password: next };
    await request("put /v1/me/password", { body });
    setCurrent("");
    setNext("");
    say("Your password is changed; your other sessions have ended");
  }

  return (
    <ActionForm name="Change password" onSubmit={change}>
      {(error) => (
        <>
          {/* So that password managers know whose it is. */}
          <input type="text" autocomplete="username" value={username} readOnly hidden />
          <Field
            label="Current password"
            type="password"
            value={current}
            onValue={setCurrent}
            error={
              error?.code === "credentials_invalid"
                ? error.detail
                : (error?.problemOf("current_password") ?? null)
            }
            hints={{ autocomplete: "current-password" }}
            isRequired
          />
          <Field
            label="New password"
            hint="10 to 200 characters. Your other sessions end with the change"
            type="password"
            value={next}
            onValue={setNext}
            error={error?.problemOf("new_password") ?? null}
            hints={{ autocomplete: "new-password" }}
            isRequired
          />
        </>
      )}
    </ActionForm>
  );
}
