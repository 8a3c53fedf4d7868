import { useState } from "preact/hooks";
import type { OwnProfile } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { ActionForm } from "../../components/action-form.tsx";
import { CheckField, Field, TextAreaField } from "../../components/field.tsx";
import { say } from "../../state/messages.ts";

type Profile = OwnProfile;
type Draft = Pick<Profile, "display_name" | "profession" | "location" | "bio" | "public">;

/** The fields of one's own profile. Only what was changed is sent. */
export function ProfileForm({
  saved,
  onSaved,
}: {
  readonly saved: Profile;
  readonly onSaved: () => Promise<void>;
}) {
  const [changes, setChanges] = useState<Partial<Draft>>({});
  const draft = { ...saved, ...changes };
  const change = (more: Partial<Draft>) => setChanges((before) => ({ ...before, ...more }));
  const losesVerification = saved.verified && draft.display_name !== saved.display_name;

  async function save() {
    await request("patch /v1/me/profile", { body: changes });
    say("Your profile is saved");
    await onSaved();
    setChanges({});
  }

  const text = (name: "display_name" | "profession" | "location") => ({
    value: draft[name],
    onValue: (value: string) => change({ [name]: value }),
  });
  return (
    <ActionForm name="Save" onSubmit={save}>
      {(error) => (
        <>
          <Field
            label="Display name"
            {...text("display_name")}
            error={error?.problemOf("display_name") ?? null}
            {...(saved.verified && {
              hint: losesVerification
                ? "Your profile is verified; with this name it is verified no more"
                : "Your profile is verified under this name",
            })}
          />
          <Field
            label="Profession"
            {...text("profession")}
            error={error?.problemOf("profession") ?? null}
          />
          <Field
            label="Location"
            {...text("location")}
            error={error?.problemOf("location") ?? null}
          />
          <TextAreaField
            label="Bio"
            value={draft.bio}
            onValue={(bio) => change({ bio })}
            error={error?.problemOf("bio") ?? null}
          />
          <CheckField
            label="Public"
            hint="Otherwise your profile is not found, whatever you consented to"
            isChecked={draft.public}
            onChecked={(isPublic) => change({ public: isPublic })}
          />
        </>
      )}
    </ActionForm>
  );
}
