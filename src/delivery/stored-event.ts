import { parsedJson, type StoredFormReader, shownText } from '../spool/stored-form.ts';

/** The stored form of a timeline event: its create-event request as JSON (`deliver.ts`). */
export const storedEvent: StoredFormReader = {
  summaryOf: (_meta, beginning) => {
    const event = parsedJson(beginning);
    const [from = ''] = contactIn(event);
    const name = fieldOf(event, 'name');
    const subject = typeof name === 'string' ? shownText(name) : '';
    return { from: shownText(from), to: '', subject, more: '' };
  },
  identitiesIn: (_entry, raw) => contactIn(parsedJson(raw() ?? new Uint8Array())),
};

/** The email address and phone number of the event's contact. */
function contactIn(event: unknown): string[] {
  const contact = fieldOf(event, 'contact');
  return [fieldOf(contact, 'email'), fieldOf(contact, 'phone')].filter(
    (identity): identity is string => typeof identity === 'string' && identity !== '',
  );
}

function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}
