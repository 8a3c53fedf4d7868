// Which columns, alone or together, may identify rows: in what order they are believed.
import { wordsOfName } from "../table/names.ts";

/** Columns that identify rows together, and how little that is believed: the lowest rank wins. */
export interface KeyCandidate {
  readonly columns: readonly string[];
  readonly rank: number;
  /** Why these columns, for people. */
  readonly reason: string;
}

/** A column that may be part of a key: without empty values, and of a type whose values have one spelling. */
export interface KeyColumn {
  readonly name: string;
  readonly isTime: boolean;
}

const OWN_ID = /^(?:id|uuid|guid|key|rowid)$/;
const ID = /(?:^|_)(?:id|uuid|guid|key)$/;
const CODE =
  /(?:^|_)(?:code|sku|slug|username|user_name|email|ean|isbn|iban|upc|number|no|nr|num|ref|reference|symbol|iso|iso2|iso3|handle|login)$/;
const MEASURE =
  /(?:^|_)(?:qty|quantity|amount|price|total|count|sum|value|score|rating|age|year|size|weight|height|width|length|stock|temperature|humidity|lat|lon|lng|latitude|longitude|percent|rate|balance|cost|points|duration|note|notes|comment|comments|description|text|body|message|title)$/;

/** Columns looked at for keys of several columns. */
const MAX_PARTS = 8;

/** A first column and one that is named as an identity are believed before pairs, all others after them. */
const RANKS = {
  ownId: 0,
  id: 1,
  code: 2,
  first: 3,
  pair: 10,
  triple: 60,
  other: 200,
  time: 300,
  measure: 400,
};

/** True where nothing else need be looked for: a column that is named as an identity, or the first one. */
export function isBelieved({ rank }: KeyCandidate): boolean {
  return rank < RANKS.pair;
}

/** Every single column that may be a key, the most believed first. */
export function singleCandidates(table: string, columns: readonly KeyColumn[]): KeyCandidate[] {
  const candidates = columns.map((column, place): KeyCandidate => {
    const { rank, reason } = rankOf(table, column, place);
    return { columns: [column.name], rank: rank + place / 1_000, reason };
  });
  return candidates.toSorted((a, b) => a.rank - b.rank);
}

/** Pairs and triples of the columns that are most like parts of a key, the most believed first. */
export function joinedCandidates(table: string, columns: readonly KeyColumn[]): KeyCandidate[] {
  const ranked = columns
    .map((column, place) => ({ ...column, place, rank: partRank(table, column, place) }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_PARTS);
  const candidates: KeyCandidate[] = [];
  const add = (base: number, parts: typeof ranked) => {
    const inOrder = parts.toSorted((a, b) => a.place - b.place);
    const names = inOrder.map(({ name }) => name);
    const rank = base + parts.reduce((sum, part) => sum + part.rank, 0) / 10;
    candidates.push({ columns: names, rank, reason: "no column alone does, these together do" });
  };
  for (const [i, a] of ranked.entries()) {
    for (const [j, b] of ranked.entries()) {
      if (j <= i) continue;
      add(RANKS.pair, [a, b]);
      for (const c of ranked.slice(j + 1)) add(RANKS.triple, [a, b, c]);
    }
  }
  return candidates.toSorted((a, b) => a.rank - b.rank);
}

function rankOf(table: string, { name, isTime }: KeyColumn, place: number) {
  const words = wordsOfName(name);
  const singular = wordsOfName(table).replace(/ies$/, "y").replace(/s$/, "");
  const isOwn = OWN_ID.test(words) || (ID.test(words) && words.startsWith(`${singular}_`));
  if (isOwn) return { rank: RANKS.ownId, reason: "its name says so, and every value differs" };
  if (ID.test(words))
    return { rank: RANKS.id, reason: "its name ends so, and every value differs" };
  if (CODE.test(words))
    return { rank: RANKS.code, reason: "its name says so, and every value differs" };
  const reason = "every value differs";
  if (MEASURE.test(words)) return { rank: RANKS.measure, reason };
  if (isTime) return { rank: RANKS.time, reason };
  return { rank: place === 0 ? RANKS.first : RANKS.other, reason };
}

/** Of 0 to 99: what is named as an identity first, then by place, measures last. */
function partRank(table: string, column: KeyColumn, place: number): number {
  const { rank } = rankOf(table, column, place);
  if (rank <= RANKS.code) return Math.min(place, 9);
  const base = rank === RANKS.measure ? 60 : rank === RANKS.time ? 30 : 10;
  return base + Math.min(place, 19);
}
