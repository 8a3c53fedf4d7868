/**
 * True for a text without lone surrogates of a length in characters (code points) within both
 * bounds, included.
 */
export function isTextOf(
  value: unknown,
  length: { readonly minChars: number; readonly maxChars: number },
): value is string {
  if (typeof value !== "string" || value.length > 2 * length.maxChars) return false;
  if (!value.isWellFormed()) return false;
  const chars = [...value].length;
  return chars >= length.minChars && chars <= length.maxChars;
}
