// Characters that a reader does not see, or that command a terminal: control characters, line breaks, invisible ones. D-11.3.

const HIDDEN = /[\p{Cc}\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
const EACH_HIDDEN = new RegExp(HIDDEN, "gu");
const CONTROL = /\p{Cc}/u;

/** True when a text has a control character, line breaks and tabs among them. */
export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** True when a text has a control character, a line break or an invisible character. */
export function hasHiddenCharacter(text: string): boolean {
  return HIDDEN.test(text);
}

/** The text with each hidden character as its number, such as `\u{9b}`: one line that a terminal shows and does not obey. */
export function showHidden(text: string): string {
  return text.replace(EACH_HIDDEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** A JSON text without line breaks of its own, with each hidden character in JSON's escapes, such as `\u009b`. */
export function escapeHiddenInJson(json: string): string {
  return json.replace(EACH_HIDDEN, (char) => {
    const units = Array.from({ length: char.length }, (_, i) => char.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}
