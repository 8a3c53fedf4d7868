// What a cron text lacks, in words of our own. D-14.9.

/** The parts in their order; the second may be left out. */
const PARTS: readonly (readonly [name: string, range: string])[] = [
  ["second", "0 to 59"],
  ["minute", "0 to 59"],
  ["hour", "0 to 23"],
  ["day", "1 to 31"],
  ["month", "1 to 12 or JAN to DEC"],
  ["weekday", "0 to 7 or SUN to SAT"],
];
const SHAPE = "5 (minute, hour, day, month, weekday), or 6 with the second before them";

/**
 * What is wrong with a text that `isCron` does not take, to be put behind it, such as `has 2 parts, and needs 5 (…)` or
 * `has the minute "61", which is 0 to 59, *, or a list or range of these`.
 */
export function cronProblem(text: string, isCron: (text: string) => boolean): string {
  const parts = text.trim().split(/\s+/);
  const named = PARTS.slice(-parts.length);
  if (parts.length < PARTS.length - 1 || parts.length > PARTS.length) {
    return `has ${parts.length === 1 ? "1 part" : `${parts.length} parts`}, and needs ${SHAPE}`;
  }
  for (const [i, part] of parts.entries()) {
    if (isCron(parts.map((_, n) => (n === i ? part : "*")).join(" "))) continue;
    const [name, range] = named[i] ?? [];
    return `has the ${name} "${part}", which is ${range}, *, or a list or range of these`;
  }
  return "is none";
}
