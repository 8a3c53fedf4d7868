import { describe, expect, test } from "bun:test";
import {
  escapeHiddenInJson,
  hasControlCharacter,
  hasHiddenCharacter,
  showHidden,
} from "../../../src/domain/shared/text.ts";

/** By code point, and how JSON writes it: one of each kind, and the ends of ranges. */
const HIDDEN: readonly (readonly [number, string])[] = [
  [0x00, "\\u0000"],
  [0x09, "\\u0009"],
  [0x0a, "\\u000a"],
  [0x1b, "\\u001b"],
  [0x7f, "\\u007f"],
  [0x80, "\\u0080"],
  [0x9b, "\\u009b"],
  [0xad, "\\u00ad"],
  [0x115f, "\\u115f"],
  [0x200b, "\\u200b"],
  [0x202e, "\\u202e"],
  [0x2028, "\\u2028"],
  [0x2029, "\\u2029"],
  [0x2066, "\\u2066"],
  [0x3164, "\\u3164"],
  [0xfe0f, "\\ufe0f"],
  [0xfeff, "\\ufeff"],
  [0xe0001, "\\udb40\\udc01"],
];
const SEEN = "Größe 東京 € 🙂 'a\\b\" \u00a0 = +1 ~";

describe("hidden characters", () => {
  test.each(HIDDEN)(
    "D-11.3 U+%p is shown as its number, and in JSON by JSON's escape",
    (code, inJson) => {
      const char = String.fromCodePoint(code);
      expect(hasHiddenCharacter(`a${char}b`)).toBe(true);
      expect(showHidden(`a${char}b`)).toBe(`a\\u{${code.toString(16)}}b`);
      expect(escapeHiddenInJson(`"a${char}b"`)).toBe(`"a${inJson}b"`);
      expect(JSON.parse(escapeHiddenInJson(JSON.stringify(`a${char}b`)))).toBe(`a${char}b`);
    },
  );

  test("D-11.3 what is seen stays as it is, and what was shown once does not change again", () => {
    expect(hasHiddenCharacter(SEEN)).toBe(false);
    expect([showHidden(SEEN), escapeHiddenInJson(SEEN)]).toEqual([SEEN, SEEN]);
    expect(showHidden(showHidden("a\u001b[31m\nb"))).toBe("a\\u{1b}[31m\\u{a}b");
  });

  test("D-11.3 control characters are those of Unicode's Cc: line breaks and tabs too, invisible ones not", () => {
    for (const text of ["a\tb", "a\nb", "\u001b", "\u007f", "\u0085"]) {
      expect(hasControlCharacter(text)).toBe(true);
    }
    for (const text of ["", SEEN, "\u200d", "\u202e"])
      expect(hasControlCharacter(text)).toBe(false);
  });
});
