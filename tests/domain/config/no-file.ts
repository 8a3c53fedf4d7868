/** Reads a file for settings that name none. */
export function noFile(path: string): string {
  throw new Error(`Nothing should be read, but was: ${path}`);
}
