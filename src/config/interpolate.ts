/** What became of one scalar. `text` is only there when every variable could be had. */
export type Interpolated =
  | { readonly ok: true; readonly text: string; readonly names: readonly string[] }
  | { readonly ok: false; readonly missing: readonly string[]; readonly malformed: boolean };

const PLACEHOLDER = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g;

/**
 * Puts environment variables into a scalar: `${NAME}`, or `${NAME:-default}` for a variable that
 * is unset or empty; `$${` stands for a plain `${`. Works on the value after YAML has been
 * parsed, so that a secret with a colon or a quote in it cannot change the document.
 */
export function interpolate(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): Interpolated {
  const missing: string[] = [];
  const names: string[] = [];
  const found = { malformed: false };
  const replaced = text.replace(
    PLACEHOLDER,
    (match: string, name: string | undefined, fallback: string | undefined) => {
      if (match === '$${') return '${';
      if (name === undefined) {
        found.malformed = true;
        return match;
      }
      names.push(name);
      const value = env[name];
      if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
      if (value === undefined) missing.push(name);
      return value ?? '';
    },
  );
  if (found.malformed || missing.length > 0) {
    return { ok: false, missing, malformed: found.malformed };
  }
  return { ok: true, text: replaced, names };
}
