// Finds the array of records within a JSON document that is an object, such as `features` of GeoJSON, or `data.items`. D-14.1.
import { AppError } from "../../domain/shared/errors.ts";
import { parseJson } from "../../domain/shared/json.ts";

export const ONE_ARRAY =
  "a JSON file must hold one array of objects; for one object per line name the format ndjson";

/** A name that is longer leads nowhere. */
const MAX_NAME_CHARS = 1_000;

/** Blanks out all but the array: what it passes on has the same lines. */
export class ArraySeeker {
  /** Why the text so far is no document with one such array; null when it may be. */
  problem: AppError | null = null;
  readonly #path: string | null;
  #state: "before" | "seeking" | "within" | "behind" = "before";
  /** The names of the objects that are open, null in an array. */
  readonly #names: (string | null)[] = [];
  #isInString = false;
  #isEscaped = false;
  /** The last text in an object, as it stands in the file. */
  #text = "";
  #line = 1;
  /** Where the array that is passed on has its brackets. */
  #depth = 0;
  /** The path of an array that has just begun, which may hold objects. */
  #candidate: string | null = null;

  constructor(path: string | null) {
    this.#path = path;
  }

  /** The part of the chunk that belongs to the array, with the line ends before it. */
  pass(chunk: string): string {
    if (this.#state === "within" && this.#names.length === 0) return chunk;
    let passed = "";
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const character = chunk[i] ?? "";
      if (character === "\n") this.#line++;
      const wasWithin = this.#state === "within";
      if (!wasWithin && character === "\n") passed += "\n";
      if (this.#isInString) this.#goOn(character);
      else if (character > " ") this.#meet(character);
      const isWithin = this.#state === "within";
      if (isWithin && this.#names.length === 0) return passed + chunk.slice(i);
      if (!wasWithin && isWithin) start = i;
      if (wasWithin && !isWithin) passed += chunk.slice(start, i + 1);
    }
    return this.#state === "within" ? passed + chunk.slice(start) : passed;
  }

  problemAtEnd(): AppError | null {
    if (this.#state === "seeking") {
      this.#fail(this.#path === null ? ONE_ARRAY : `the file ends before "${this.#path}"`);
    } else if (this.#state === "behind" && this.#names.length > 0) {
      this.#fail("the file ends inside the JSON document");
    }
    return this.problem;
  }

  #goOn(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === "\\") this.#isEscaped = true;
    else if (character === '"') this.#isInString = false;
    if (this.#state !== "within" && this.#text.length < MAX_NAME_CHARS) this.#text += character;
  }

  #meet(character: string): void {
    if (this.#candidate !== null) this.#tell(character);
    if (character === '"') [this.#isInString, this.#text] = [true, '"'];
    if (this.#state === "before") {
      // Anything but an object is passed on as the array: its reader says where it is none.
      this.#state = character === "{" ? "seeking" : "within";
      if (character === "{") this.#names.push("");
      return;
    }
    if (this.#state === "within") {
      if (character === "[" || character === "{") this.#depth++;
      else if (character === "]" || character === "}") this.#depth--;
      if (this.#depth === 0) this.#state = "behind";
      return;
    }
    if (this.#names.length === 0) this.#fail("there is more after the JSON document");
    else if (character === ":") this.#nameWith(this.#text);
    else if (character === "{") this.#names.push("");
    else if (character === "[") this.#begin();
    else if (character === "}" || character === "]") this.#end();
  }

  #nameWith(text: string): void {
    if (this.#names.at(-1) === null) return;
    try {
      this.#names[this.#names.length - 1] = String(parseJson(text));
    } catch {
      this.#names[this.#names.length - 1] = "";
    }
  }

  #begin(): void {
    const place = this.#names.includes(null) ? null : this.#names.join(".");
    const isMeant = place !== null && place === this.#path;
    if (isMeant && this.#state === "seeking") {
      [this.#state, this.#depth] = ["within", 1];
      return;
    }
    if (isMeant) this.#fail(`there is a second array at "${place}"`);
    if (this.#path === null) this.#candidate = place;
    this.#names.push(null);
  }

  #end(): void {
    this.#names.pop();
    if (this.#names.length > 0 || this.#state !== "seeking") return;
    const problem =
      this.#path === null ? ONE_ARRAY : `there is no array at "${this.#path}" in the JSON document`;
    this.#fail(problem);
  }

  /** Of a document without a path: advice, where an array holds objects. */
  #tell(character: string): void {
    const place = this.#candidate;
    this.#candidate = null;
    if (character !== "{") return;
    this.#fail(`${ONE_ARRAY}; "${place}" holds one here: name the path ${place}`);
  }

  #fail(text: string): void {
    this.problem ??= new AppError("file_failed", `Line ${this.#line}: ${text}`);
  }
}
