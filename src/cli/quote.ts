/** A text as one word of a shell's command line; in `mark`s when it needs any and may have these. */
export function quote(text: string, mark: "'" | '"' = "'"): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return mark === '"' && !/["$`\\!]/.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", `'\\''`)}'`;
}
