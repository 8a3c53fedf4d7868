/** A condition for ids that begin with a name and a slash. */
export interface IdRange {
  readonly $gte: string;
  readonly $lt: string;
}

/** The ids that begin with a name and a slash. */
export function idsUnder(name: string): IdRange {
  // "0" is the character after the slash.
  return { $gte: `${name}/`, $lt: `${name}0` };
}
