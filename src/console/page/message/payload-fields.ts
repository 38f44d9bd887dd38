/** A field of the submitted request, by its dotted name. */
export interface PayloadField {
  readonly name: string;
  readonly value: string;
  /** Whether the value is long or has several lines. */
  readonly isText: boolean;
}

const MAX_FIELDS = 400;
const LONG = 120;

/**
 * The non-empty fields of a create-message request, in their original order. A list of plain values
 * becomes one field; a list of objects becomes one field per value.
 */
export function payloadFields(payload: unknown): readonly PayloadField[] {
  const fields: PayloadField[] = [];
  walk('', payload, fields);
  return fields;
}

function walk(name: string, value: unknown, fields: PayloadField[]): void {
  if (fields.length >= MAX_FIELDS || value === null || value === undefined) return;
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object' || item === null)) {
      if (value.length > 0) add(name, value.map(String).join('\n'), fields);
      return;
    }
    for (const [index, item] of value.entries()) walk(`${name}[${index}]`, item, fields);
    return;
  }
  if (typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) {
      walk(name === '' ? key : `${name}.${key}`, inner, fields);
    }
    return;
  }
  add(name, typeof value === 'string' ? value : JSON.stringify(value), fields);
}

function add(name: string, value: string, fields: PayloadField[]): void {
  fields.push({ name, value, isText: value.includes('\n') || value.length > LONG });
}

/** The text submitted for the AI agent; empty when there is none. */
export function submittedText(payload: unknown): string {
  const message = inside(payload, 'message');
  const content = inside(message, 'content');
  return typeof content === 'string' ? content : '';
}

function inside(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key]; // hasOwn above proves that the key exists
}
