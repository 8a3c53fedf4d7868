import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { ActionForm } from "../../components/action-form.tsx";
import { Field } from "../../components/field.tsx";
import { say } from "../../state/messages.ts";

/** Makes the name of somebody who was erased free for a new person. */
export function ReleaseName() {
  const [username, setUsername] = useState("");

  async function release() {
    await request("post /v1/admin/accounts/{username}/release", { path: { username } });
    say(`${username} is free: who signs up next has it`);
    setUsername("");
  }

  return (
    <section class="card">
      <h2>Erased names</h2>
      <p>
        The name of somebody who was erased stays taken, because it decides whose accounts elsewhere
        count. Release it for a new person only.
      </p>
      <ActionForm name="Release" isRow onSubmit={release}>
        {() => (
          <Field
            label="Erased name"
            value={username}
            onValue={setUsername}
            isRequired
            hints={{ autocomplete: "off", autocapitalize: "none", spellcheck: false }}
          />
        )}
      </ActionForm>
    </section>
  );
}
