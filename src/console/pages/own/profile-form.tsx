import { useState } from "preact/hooks";
import type { OwnProfile } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ActionForm, CheckField, Field } from "../../components/form.tsx";
import { say } from "../../state/messages.ts";

type Draft = Pick<OwnProfile, "display_name" | "profession" | "location" | "bio" | "public">;

const LINES = [
  ["display_name", "Display name"],
  ["profession", "Profession"],
  ["location", "Location"],
] as const;

/** The fields of one's own profile. Only what was changed is sent. */
export function ProfileForm({
  saved,
  onSaved,
}: {
  readonly saved: OwnProfile;
  readonly onSaved: () => Promise<void>;
}) {
  const [changes, setChanges] = useState<Partial<Draft>>({});
  const draft = { ...saved, ...changes };
  const change = (more: Partial<Draft>) => setChanges((before) => ({ ...before, ...more }));
  const hint =
    draft.display_name === saved.display_name
      ? "Your profile is verified under this name"
      : "Your profile is verified; with this name it is verified no more";

  async function save() {
    await request("patch /v1/me/profile", { body: changes });
    say("Your profile is saved");
    await onSaved();
    setChanges({});
  }

  return (
    <ActionForm name="Save" onSubmit={save}>
      {LINES.map(([name, label]) => (
        <Field
          key={name}
          label={label}
          name={name}
          value={draft[name]}
          onValue={(text) => change({ [name]: text })}
          {...(saved.verified && name === "display_name" ? { hint } : {})}
        />
      ))}
      <Field label="Bio" name="bio" isLong value={draft.bio} onValue={(bio) => change({ bio })} />
      <CheckField
        label="Public"
        hint="Otherwise your profile is not found, whatever you consented to"
        isChecked={draft.public}
        onChecked={(isPublic) => change({ public: isPublic })}
      />
    </ActionForm>
  );
}
