// What `JsonReader` finds between the structure of a JSON text: names, numbers, words and blanks.

/** Names and numbers are parsed whole. */
const MAX_TOKEN_BYTES = 1024 * 1024;

/** JSON that cannot be read though it may be valid. The message goes on after what it is about: `is nested too deeply`. */
export class JsonLimitError extends RangeError {
  override readonly name = "JsonLimitError";
}

export function checkToken(bytes: number): void {
  if (bytes > MAX_TOKEN_BYTES) {
    throw new JsonLimitError("has a name or a number of more than 1 MiB");
  }
}

interface Blank {
  readonly from: number;
  readonly to: number;
}

/** Finds the long blanks in the gaps between structure. */
export class JsonGaps {
  readonly #bytes: Uint8Array;
  /** Blanks of so many bytes are long: they are not given to the runtime's parser. */
  readonly longBytes: number;
  readonly #blanks: Blank[] = [];
  #readTo = 0;
  /** Where the present blank begins. */
  #blankAt = 0;
  #tokenAt = -1;
  #tokenBytes = 0;

  constructor(bytes: Uint8Array, longBytes: number) {
    this.#bytes = bytes;
    this.longBytes = longBytes;
  }

  /** Reads a gap that begins at `from` on to a place. Throws when it has a long token. */
  readTo(to: number, from: number): void {
    if (from !== this.#tokenAt) {
      this.#tokenAt = from;
      this.#tokenBytes = 0;
      this.#readTo = from;
      this.#blankAt = from;
    }
    for (let at = this.#readTo; at < to; at++) {
      if (isBlank(this.#bytes[at])) continue;
      this.#noteBlank(at);
      this.#blankAt = at + 1;
      this.#tokenBytes++;
    }
    this.#readTo = to;
    this.#noteBlank(to);
    checkToken(this.#tokenBytes);
  }

  #noteBlank(to: number): void {
    const from = this.#blankAt;
    if (to - from < this.longBytes) return;
    if (this.#blanks.at(-1)?.from === from) this.#blanks.pop();
    this.#blanks.push({ from, to });
  }

  /** Those that lie in a part, in their order. */
  longBlanks(from: number, to: number): readonly Blank[] {
    return this.#blanks.filter((blank) => blank.from >= from && blank.to <= to);
  }

  isBlank(from: number, to: number): boolean {
    let at = from;
    for (const blank of [...this.longBlanks(from, to), { from: to, to }]) {
      for (; at < blank.from; at++) if (!isBlank(this.#bytes[at])) return false;
      at = blank.to;
    }
    return true;
  }
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
