// Digests of rows, so that two deployments can prove their tables equal without sending them. D-4.10.
import { HASH_WORDS, hashText, wordsHex } from "../../shared/hash.ts";
import { rowText } from "../rows/row-text.ts";
import type { Row, Table } from "../table/table.ts";

/** Names the way rows are written and hashed; ends with different ones cannot compare digests. */
export const DIGEST_FORMAT = "rows-1";

/** The number of rows and a digest of their content; both are the same in any order of the rows. */
interface RowsDigest {
  readonly count: number;
  /** Sums of the words of the rows' hashes: 32 hexadecimal digits. */
  readonly digest: string;
}

export class DigestSum {
  readonly #table: Table;
  readonly #words = new Uint32Array(HASH_WORDS);
  readonly #sum = new Uint32Array(HASH_WORDS);
  #count = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  add(row: Row): void {
    const sum = this.#sum;
    hashText(rowText(this.#table, row), this.#words);
    for (let i = 0; i < HASH_WORDS; i++) sum[i] = (sum[i] ?? 0) + (this.#words[i] ?? 0);
    this.#count++;
  }

  result(): RowsDigest {
    return { count: this.#count, digest: wordsHex(this.#sum) };
  }
}
