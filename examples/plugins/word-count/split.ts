/** Splits at white space; "eval('x')" in a text is text. */
export function split(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== "");
}
