import { cleanLine } from '../../../runtime/clean-text.ts';
import type { FormFields } from '../form.ts';

/** The parameter's text as it may be submitted; undefined when it is missing or blank. */
export function textOf(fields: FormFields, name: string): string | undefined {
  const text = submittable(fields.first(name) ?? '');
  return text.trim() === '' ? undefined : text;
}

/** C0 and C1 controls, less tab, line feed and carriage return. NUL is one of them. */
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/**
 * Without NUL, which databases refuse, and without other controls, as in email: no person types
 * them, and a terminal obeys them. Half a surrogate pair (JSON can say one) is replaced.
 */
function submittable(text: string): string {
  return text.replace(CONTROLS, '').replace(/\p{Surrogate}/gu, '\uFFFD');
}

/**
 * On one line, for what stands within a line, as email's names are read: without control
 * characters, bidirectional overrides and what is invisible. Undefined when nothing is left.
 */
export function lineOf(fields: FormFields, name: string, maxLength = 1000): string | undefined {
  const line = cleanLine(fields.first(name) ?? '', maxLength);
  return line === '' ? undefined : line;
}
