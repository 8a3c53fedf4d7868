const isQuick = process.argv.includes("--quick");

/** A size or a duration; the small one with `--quick`, which tries the bench itself: no figure of it means anything. */
export function sized(full: number, quick: number): number {
  return isQuick ? quick : full;
}
