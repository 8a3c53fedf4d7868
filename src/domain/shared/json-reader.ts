// Parses JSON in small steps: the runtime's own parser would hold up everything else while it reads a large body. D-7.9.
import { type JsonValue, parseJson } from "./json.ts";
import {
  addMember,
  addMembers,
  beginRun,
  type Frame,
  type MadeContainer,
  newFrame,
} from "./json-containers.ts";
import { checkToken, JsonGaps, JsonLimitError } from "./json-gaps.ts";

/** Bytes that the runtime's parser gets at once, as far as members allow it. */
const RUN_BYTES = 256 * 1024;
/** Containers inside one another; more would overflow those who read the value. */
const MAX_DEPTH = 10_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** 1 for the bytes of JSON's structure, `",:[]{}`. */
const IS_STRUCTURE = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, COLON, OPEN_ARRAY, 0x5d, OPEN_OBJECT, CLOSE_OBJECT]) {
  IS_STRUCTURE[byte] = 1;
}

/** A text whose end has not been reached. */
interface OpenText {
  readonly openAt: number;
  /** True for the name of an object's member. */
  readonly isName: boolean;
  /** What was parsed of it so far; null for nothing. */
  made: string | null;
  restAt: number;
}

interface JsonReaderOptions {
  /** Reads UTF-8 and keeps a byte order mark. Throws where it is none. */
  readonly decode: (bytes: Uint8Array) => string;
  readonly runBytes?: number;
}

/**
 * One JSON text in UTF-8, read by `step` after `step`. The value is the one of `parseJson`. Only structure is looked at
 * here: every part goes through the runtime's parser, a run of members at a time, or a piece of a long text.
 */
export class JsonReader {
  readonly #bytes: Uint8Array;
  readonly #decode: (bytes: Uint8Array) => string;
  readonly #runBytes: number;
  /** The open ones are the first `#depth`; the others are used again, as a text may have millions. */
  readonly #frames: Frame[] = [];
  #depth = 0;
  #text: OpenText | null = null;
  #at = 0;
  /** Behind the last byte of structure. */
  #tokenAt = 0;
  /** What is before it was parsed, but for blanks and brackets. */
  #parsedTo = 0;
  /** The whole value; undefined before its end. */
  #root: JsonValue | undefined;
  readonly #gaps: JsonGaps;

  constructor(bytes: Uint8Array, { decode, runBytes = RUN_BYTES }: JsonReaderOptions) {
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    this.#bytes = hasMark ? bytes.subarray(3) : bytes;
    this.#decode = decode;
    this.#runBytes = runBytes;
    this.#gaps = new JsonGaps(this.#bytes, runBytes / 4);
  }

  /**
   * Reads on, some hundred kilobytes at most; true at the end of the text. Throws `SyntaxError` when it is no JSON,
   * `JsonLimitError`, and what `decode` throws.
   */
  step(): boolean {
    const { length } = this.#bytes;
    const endAt = Math.min(this.#at + this.#runBytes, length);
    const parsedTo = this.#parsedTo;
    while (this.#at < endAt && this.#parsedTo === parsedTo) {
      if (this.#text === null) this.#readTokens(endAt);
      else this.#readText(this.#text, endAt);
    }
    return this.#at >= length;
  }

  /** The value, once `step` has come to the end. Throws as `step` does. */
  finish(): JsonValue {
    const { length } = this.#bytes;
    if (this.#root !== undefined) {
      this.#expectBlank(this.#parsedTo, length);
      return this.#root;
    }
    if (this.#depth > 0) throw new SyntaxError("JSON ends too early");
    return this.#parse(0, length);
  }

  /** Reads what is outside of texts, and texts that end in time, up to the next bracket, comma or colon. */
  #readTokens(endAt: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let tokenAt = this.#tokenAt;
    for (; at < endAt; at++) {
      if (IS_STRUCTURE[bytes[at] as number] === 0) continue;
      if (at - tokenAt >= this.#gaps.longBytes) this.#gaps.readTo(at, tokenAt);
      tokenAt = at + 1;
      if (bytes[at] !== QUOTE) break;
      const quoteAt = this.#textEnd(at + 1, endAt);
      if (quoteAt >= endAt) break;
      at = quoteAt;
      tokenAt = at + 1;
    }
    this.#at = at + 1;
    this.#tokenAt = tokenAt;
    if (at < endAt) this.#take(bytes[at] as number, at);
    else this.#waitForToken(endAt);
  }

  #waitForToken(at: number): void {
    this.#at = at;
    if (at - this.#tokenAt >= this.#gaps.longBytes) this.#gaps.readTo(at, this.#tokenAt);
  }

  #take(byte: number, at: number): void {
    if (byte === COMMA) this.#endMember(this.#top(), at);
    else if (byte === COLON) this.#top().isBehindColon = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) this.#open(byte === OPEN_OBJECT, at);
    else if (byte === QUOTE) this.#openText(at);
    else this.#close(byte === CLOSE_OBJECT, at);
  }

  /** Where a text ends that goes on at `at`; `endAt`, or what an escape has behind it, when it does not end before. */
  #textEnd(from: number, endAt: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < endAt && bytes[at] !== QUOTE) {
      if (bytes[at] !== BACKSLASH) at++;
      else at += bytes[at + 1] === LETTER_U ? 6 : 2;
    }
    return at;
  }

  /** The innermost open container; undefined outside of all. */
  #parent(): Frame | undefined {
    return this.#depth === 0 ? undefined : this.#frames[this.#depth - 1];
  }

  #top(): Frame {
    const frame = this.#parent();
    if (frame === undefined) throw new SyntaxError("JSON has more than one value");
    return frame;
  }

  /** A value begins. */
  #expectValue(at: number): void {
    const frame = this.#parent();
    const isRoot = frame === undefined && this.#root === undefined;
    if (isRoot) this.#expectBlank(0, at);
    else if (this.#top().isBehindPut) throw new SyntaxError("JSON lacks a comma");
  }

  #open(isObject: boolean, openAt: number): void {
    this.#expectValue(openAt);
    if (this.#depth >= MAX_DEPTH) throw new JsonLimitError("is nested too deeply");
    if (openAt - this.#parsedTo >= this.#runBytes) this.#settleAll(this.#depth, openAt);
    const frame = this.#frames[this.#depth] ?? newFrame();
    this.#frames[this.#depth++] = frame;
    frame.isObject = isObject;
    frame.openAt = openAt;
    frame.made = null;
    frame.isBehindColon = false;
    beginRun(frame, openAt + 1);
  }

  #endMember(frame: Frame, commaAt: number): void {
    if (frame.isBehindPut) {
      this.#expectBlank(frame.runAt, commaAt);
      beginRun(frame, commaAt + 1);
    } else if (commaAt - this.#parsedTo >= this.#runBytes) {
      this.#settleAll(this.#depth - 1, frame.openAt);
      this.#addRun(frame, commaAt);
      beginRun(frame, commaAt + 1);
    } else {
      frame.commaAt = commaAt;
    }
    frame.isBehindColon = false;
  }

  #close(isObject: boolean, closeAt: number): void {
    const frame = this.#top();
    if (frame.isObject !== isObject) throw new SyntaxError("JSON has brackets that do not match");
    this.#depth--;
    if (frame.made !== null) {
      if (frame.isBehindPut) this.#expectBlank(frame.runAt, closeAt);
      else this.#addRun(frame, closeAt);
      this.#put(frame.made, frame.openAt, closeAt + 1);
    } else if (this.#isByItself(closeAt)) {
      this.#put(this.#parse(frame.openAt, closeAt + 1), frame.openAt, closeAt + 1);
    }
  }

  /** False for a container that is parsed with the run of its parent. */
  #isByItself(closeAt: number): boolean {
    const parent = this.#parent();
    return (
      parent?.isSettled === true ||
      parent === undefined ||
      closeAt - this.#parsedTo >= this.#runBytes
    );
  }

  #openText(openAt: number): void {
    const frame = this.#parent();
    const isName = frame?.isObject === true && !frame.isBehindColon;
    if (!isName) this.#expectValue(openAt);
    this.#text = { openAt, isName, made: null, restAt: openAt + 1 };
  }

  #readText(text: OpenText, endAt: number): void {
    const at = this.#textEnd(this.#at, endAt);
    this.#at = at;
    if (text.isName) checkToken(at - text.openAt);
    if (at < endAt) this.#closeText(text, at);
    else if (!text.isName && at - text.restAt >= this.#runBytes) this.#addPiece(text, at);
  }

  /** Parses what was read of a long text. `at` is in no escape. */
  #addPiece(text: OpenText, at: number): void {
    let pieceEnd = at;
    while (((this.#bytes[pieceEnd] ?? 0) & 0xc0) === 0x80) pieceEnd++;
    if (text.made === null) this.#settleAll(this.#depth, text.openAt);
    text.made = `${text.made ?? ""}${this.#piece(text.restAt, pieceEnd)}`;
    text.restAt = pieceEnd;
    this.#at = pieceEnd;
    this.#parsedTo = pieceEnd;
  }

  #closeText(text: OpenText, quoteAt: number): void {
    this.#text = null;
    this.#at = quoteAt + 1;
    this.#tokenAt = quoteAt + 1;
    if (text.made === null) return;
    this.#put(`${text.made}${this.#piece(text.restAt, quoteAt)}`, text.openAt, quoteAt + 1);
  }

  /** Gives a value that was made by itself to what surrounds it. */
  #put(value: JsonValue, openAt: number, endAt: number): void {
    const frame = this.#parent();
    this.#parsedTo = endAt;
    if (frame === undefined) {
      this.#root = value;
      return;
    }
    addMember(this.#settle(frame, openAt), frame.name, value);
    frame.runAt = endAt;
    frame.isBehindPut = true;
    frame.isSettled = false;
  }

  /** Parses what is before a value in the containers that it is inside of, the first `depth`. */
  #settleAll(depth: number, valueAt: number): void {
    for (let i = 0; i < depth; i++) {
      const nextAt = i + 1 < depth ? (this.#frames[i + 1] as Frame).openAt : valueAt;
      this.#settle(this.#frames[i] as Frame, nextAt);
    }
    this.#parsedTo = Math.max(this.#parsedTo, valueAt);
  }

  /** Parses the run of a container up to the value of one of its members, so that it begins with that. */
  #settle(frame: Frame, valueAt: number): MadeContainer {
    if (frame.isSettled && frame.made !== null) return frame.made;
    if (frame.commaAt >= 0) {
      this.#addRun(frame, frame.commaAt);
      beginRun(frame, frame.commaAt + 1);
    }
    if (frame.isObject) frame.name = this.#parseName(frame.runAt, valueAt);
    else this.#expectBlank(frame.runAt, valueAt);
    frame.runAt = valueAt;
    frame.isSettled = true;
    frame.made ??= frame.isObject ? {} : [];
    return frame.made;
  }

  /** Adds the members of the run, one at least, up to a comma or the end. */
  #addRun(frame: Frame, endAt: number): void {
    const text = this.#textOf(frame.runAt, endAt);
    const run = parseJson(frame.isObject ? `{${text}}` : `[${text}]`);
    const made = frame.made ?? (frame.isObject ? {} : []);
    if (addMembers(made, run) === 0) throw new SyntaxError("JSON has a comma without a value");
    frame.made = made;
    this.#parsedTo = endAt;
  }

  /** Reads `"name":`. */
  #parseName(from: number, to: number): string {
    const member = parseJson(`{${this.#textOf(from, to)}""}`);
    const [name, ...others] = Object.keys(member as object);
    if (name === undefined || others.length > 0) throw new SyntaxError("JSON lacks a name");
    return name;
  }

  #parse(from: number, to: number): JsonValue {
    return parseJson(this.#textOf(from, to));
  }

  #piece(from: number, to: number): string {
    return String(parseJson(`"${this.#textOf(from, to)}"`));
  }

  /** The text of a part, with one blank in place of each long one. */
  #textOf(from: number, to: number): string {
    let text = "";
    let at = from;
    for (const blank of this.#gaps.longBlanks(from, to)) {
      text += `${this.#decode(this.#bytes.subarray(at, blank.from))} `;
      at = blank.to;
    }
    return text + this.#decode(this.#bytes.subarray(at, to));
  }

  #expectBlank(from: number, to: number): void {
    if (this.#gaps.isBlank(from, to)) return;
    throw new SyntaxError("JSON has something that is no value");
  }
}
