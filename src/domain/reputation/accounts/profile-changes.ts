// What owners may change of their profile. D-5.5.
import { MAX_PROFILE_TEXT_CHARS } from "../../shared/limits.ts";
import { type Checked, checked, type FieldProblem } from "./problem.ts";
import { isTextOf } from "./text-length.ts";

const TEXT_FIELDS = ["display_name", "bio", "profession", "location"] as const;

/** The fields to change; absent ones stay. A null text is cleared. */
export interface ProfileChanges {
  readonly display_name?: string | null;
  readonly bio?: string | null;
  readonly profession?: string | null;
  readonly location?: string | null;
  readonly public?: boolean;
}

/** Names of the fields that `checkProfileChanges` reads. */
export const PROFILE_FIELDS: readonly string[] = [...TEXT_FIELDS, "public"];

/** Reads the body of a profile change; every problem is reported. D-5.5. */
export function checkProfileChanges(
  body: Readonly<Record<string, unknown>>,
): Checked<ProfileChanges> {
  const problems: FieldProblem[] = [];
  const changes: Record<string, string | boolean | null> = {};
  for (const name of TEXT_FIELDS) {
    const value = body[name];
    if (value === undefined) continue;
    if (value === null || isTextOf(value, { minChars: 0, maxChars: MAX_PROFILE_TEXT_CHARS })) {
      changes[name] = value;
    } else {
      const detail = `Must be a text of at most ${MAX_PROFILE_TEXT_CHARS} characters, or null`;
      problems.push({ pointer: `/${name}`, detail });
    }
  }
  const isPublic = body["public"];
  if (typeof isPublic === "boolean") changes["public"] = isPublic;
  else if (isPublic !== undefined) {
    problems.push({ pointer: "/public", detail: "Must be true or false" });
  }
  return checked(problems, () => changes);
}
