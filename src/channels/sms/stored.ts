import type { EntryMeta, StoredSummary } from '../../spool/entry.ts';
import { parsedJson, type StoredForm, shownText, textIn } from '../../spool/stored-form.ts';

/** A text is stored as the list of its parameters, as JSON (`message.ts`). */
export const storedSms: StoredForm = {
  summaryOf: (meta, head) => {
    const pairs = parsedJson(head);
    return summaryOfPairs(meta, Array.isArray(pairs) ? pairs : []);
  },
  identitiesIn: ({ meta }) => [String(meta['from'])],
};

/** The same of parameters that were read already. */
export function summaryOfPairs(meta: EntryMeta, pairs: readonly unknown[]): StoredSummary {
  const field = (name: string): string => {
    for (const pair of pairs) {
      const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : [];
      if (key === name && typeof value === 'string') return value;
    }
    return '';
  };
  const number = field('From') || textIn(meta, 'from');
  const name = shownText(field('ProfileName'));
  return {
    from: shownText(name === '' ? number : `${name} ${number}`),
    to: shownText(field('To') || textIn(meta, 'to')),
    subject: '',
    more: '',
  };
}
