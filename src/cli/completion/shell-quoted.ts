/** A text as one word of bash, zsh or fish, in which nothing is expanded. It has no backslash and no line end. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\"'\"'")}'`;
}
