import { type StoredForm, shownText, textIn } from '../../spool/stored-form.ts';

/** A chat message keeps its visitor in the meta (`chat-entry.ts`). */
export const storedChat: StoredForm = {
  summaryOf: (meta) => {
    const email = textIn(meta, 'email');
    const parts = [textIn(meta, 'name'), email === '' ? '' : `<${email}>`];
    return {
      from: shownText(parts.filter((part) => part !== '').join(' ')),
      to: '',
      subject: '',
      more: textIn(meta, 'visitorId'),
    };
  },
  identitiesIn: ({ meta }) =>
    [meta['visitorId'], meta['email']].filter((name) => typeof name === 'string'),
};
