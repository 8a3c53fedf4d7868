// Reads the text of a `.env` file. D-10.4.

/** What a file of settings says. */
interface EnvFile {
  readonly values: Readonly<Record<string, string>>;
  /** One for each line that is no setting, with its number; none shows a value. */
  readonly problems: readonly string[];
}

const SETTING = /^(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/s;
/** A value in quotes, and what may stand behind it. */
const QUOTED = /^(["'`])(.*)\1\s*(?:#.*)?$/s;

/**
 * A line is blank, a comment that begins with `#`, or `[export] NAME = value`. A bare value ends at ` #`; one in quotes is
 * taken as it stands. Nothing is expanded. The last line of a name counts.
 */
export function readEnvFile(text: string): EnvFile {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const [, name, rest = ""] = SETTING.exec(trimmed) ?? [];
    const value = name === undefined ? null : readValue(rest);
    if (name === undefined) problems.push(`line ${index + 1} is no setting, such as NAME=value`);
    else if (value === null) problems.push(`line ${index + 1}: the quotes of ${name} do not close`);
    else values[name] = value;
  }
  return { values, problems };
}

/** Null for quotes that are not closed, or closed before the end. */
function readValue(rest: string): string | null {
  // A comment may follow the sign at once, after blanks.
  const bare = rest.replace(/\s#.*$/s, "").trim();
  if (!/^["'`]/.test(rest.trim())) return bare;
  const [, quote = "", value = ""] = QUOTED.exec(rest.trim()) ?? [];
  if (quote === "") return null;
  const closes = value.indexOf(quote);
  if (closes === -1) return value;
  // What looks like a closing quote further on belongs to a comment.
  return /^\s*#/.test(value.slice(closes + 1)) ? value.slice(0, closes) : null;
}
