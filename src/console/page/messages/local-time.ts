/** A time as `<input type="datetime-local">` has it: local, to the minute. Empty for none. */
export function localInput(at: number | undefined): string {
  if (at === undefined) return '';
  const offsetMs = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 16);
}

/** Undefined while it is not complete. */
export function readLocalInput(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
