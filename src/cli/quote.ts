/**
 * Quotes a text as one word of a shell command line, with `mark` if it needs quotes and permits
 * these.
 */
export function quote(text: string, mark: "'" | '"' = "'"): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return mark === '"' && !/["$`\\!]/.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", `'\\''`)}'`;
}
