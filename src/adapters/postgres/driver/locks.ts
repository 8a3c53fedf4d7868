// What bodies lock: names, each as one of 2^64 places. Two names share one hardly ever, and then only wait for one another.
import { HASH_WORDS, hashText } from "../../../domain/shared/hash.ts";
import { type Statement, textList } from "./sql.ts";

/** A body that locks a place changes its line: of two, the second meets what the first has changed since its moment. */
const LOCK_PLACES = `
insert into repsync._locks (place, at_ms)
select place, floor(extract(epoch from now()) * 1000)::int8
from unnest($1::text[]::int8[]) as place order by place
on conflict (place) do update set at_ms = excluded.at_ms`;

export const FORGET_LOCKS = "delete from repsync._locks where at_ms < $1::int8";

const words = new Uint32Array(HASH_WORDS);

/** Locks these names, in order, so that bodies wait for each other one way round; nothing for none. */
export function lockNames(names: readonly string[]): Statement[] {
  if (names.length === 0) return [];
  return [{ text: LOCK_PLACES, parameters: [textList(names.map(placeOf))] }];
}

/** The text of a signed number. */
function placeOf(name: string): string {
  hashText(name, words);
  const [high = 0, low = 0] = words;
  return String(BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low)));
}
