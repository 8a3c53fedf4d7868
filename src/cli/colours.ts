// Colours of texts for people: on a terminal that has them, and where somebody asks for them. D-10.13.

export type Colour = "red" | "green" | "yellow" | "cyan" | "bold";

const CODES: Readonly<Record<Colour, readonly [begin: number, end: number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  bold: [1, 22],
};

/**
 * True when a stream shows colours: a terminal that is not dumb. `NO_COLOR` takes them away, and before it is looked at
 * where a stream leads `FORCE_COLOR` gives them, or with `0` takes them away.
 */
export function hasColours(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = process.env;
  if (NO_COLOR !== "") return false;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return stream.isTTY === true && TERM !== "dumb";
}

/** The text in a colour, wherever it goes. */
export function inColour(colour: Colour, text: string): string {
  const [begin, end] = CODES[colour];
  return `\u001b[${begin}m${text}\u001b[${end}m`;
}
