import type { EntrySearch } from '../../src/spool/entry-index.ts';
import { DAY_MS, DAYS, type Filled, type Sample } from './fill.ts';

export interface Scenario {
  readonly name: string;
  /** The nth search of its kind; different each time if there are several. */
  readonly ask: (n: number) => Omit<EntrySearch, 'limit'>;
  /** Also counts the matches, as the console does on the first page. */
  readonly count?: boolean;
}

/** Typical searches and expensive ones. */
export function scenarios({ samples, shops, startedAt }: Filled): readonly Scenario[] {
  const [busy = shops[0], , , , ...others] = shops;
  const quiet = others.at(-1);
  const of = (kind: (sample: Sample) => boolean) => {
    const some = samples.filter(kind);
    return (n: number): Sample => {
      const sample = some[n % some.length];
      if (sample === undefined) throw new Error('no sample');
      return sample;
    };
  };
  const email = of(({ subject }) => subject !== '');
  const sms = of(({ from }) => from.startsWith('+'));
  const any = of(() => true);
  const address = (n: number) => /<(.*)>/.exec(email(n).from)?.[1] ?? '';
  const word = (n: number, at: number) => email(n).subject.split(' ')[at] ?? '';
  const day = (n: number) => startedAt + (n % DAYS) * DAY_MS;
  const written = (n: number) =>
    sms(n).from.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, n % 2 ? '($1) $2-$3' : '+1 $1 $2 $3');
  return [
    { name: 'nothing: the newest', ask: () => ({}) },
    { name: 'nothing: the newest, counted', ask: () => ({}), count: true },
    { name: 'a word of most entries', ask: () => ({ text: 'order' }), count: true },
    { name: 'one letter', ask: (n) => ({ text: 'obmeds'.charAt(n % 6) }) },
    { name: 'a word', ask: (n) => ({ text: word(n, 2) }) },
    { name: 'two words', ask: (n) => ({ text: `${word(n, 2)} ${word(n, 4)}` }), count: true },
    { name: 'beginnings of two words', ask: (n) => ({ text: `${word(n, 2).slice(0, 3)} ord` }) },
    { name: 'a word of nobody', ask: (n) => ({ text: `xyzzy${n}` }), count: true },
    { name: 'a long beginning of most entries', ask: () => ({ text: 'support@acme.examp' }) },
    { name: 'an address', ask: (n) => ({ text: address(n) }), count: true },
    { name: 'a domain', ask: (n) => ({ text: address(n).replace(/^.*@/, '@') }) },
    { name: 'a number, in some writing', ask: (n) => ({ text: written(n) }) },
    { name: 'the last four digits', ask: (n) => ({ text: sms(n).from.slice(-4) }) },
    { name: 'an order number', ask: (n) => ({ text: word(n, 1).replace(':', '') }) },
    { name: 'an id', ask: (n) => ({ text: any(n).id }) },
    { name: 'the beginning of an id', ask: (n) => ({ text: any(n).remoteId.slice(0, 24) }) },
    { name: 'two characters of Japanese', ask: () => ({ text: '確認' }) },
    { name: 'state dead', ask: () => ({ states: ['dead'] }), count: true },
    { name: 'state held or queued', ask: () => ({ states: ['held', 'queued'] }) },
    { name: 'state delivering: none', ask: () => ({ states: ['delivering'] }) },
    { name: 'the busiest shop', ask: () => ({ ...(busy && { shopId: busy }) }), count: true },
    { name: 'the quietest shop', ask: () => ({ ...(quiet && { shopId: quiet }) }), count: true },
    { name: 'channel web_chat', ask: () => ({ channel: 'web_chat' }), count: true },
    { name: 'a reason', ask: () => ({ reason: 'the platform answered 4' }), count: true },
    { name: 'a day', ask: (n) => ({ from: day(n), to: day(n) + DAY_MS }), count: true },
    {
      name: 'a common word on a day',
      ask: (n) => ({ text: 'order', from: day(n), to: day(n) + DAY_MS }),
      count: true,
    },
    {
      name: 'a common word, dead, of the quietest shop',
      ask: () => ({ text: 'order', states: ['dead'], ...(quiet && { shopId: quiet }) }),
    },
    { name: 'a common word of another channel', ask: () => ({ text: 'order', channel: 'sms' }) },
    {
      name: 'all filters',
      ask: (n) => ({
        text: 'ord',
        channel: 'email',
        states: ['dead'],
        reason: 'the platform',
        from: day(n),
        ...(busy && { shopId: busy }),
      }),
      count: true,
    },
    { name: 'a page deep in the list', ask: (n) => ({ before: any(n).id }) },
    { name: 'a page deep in a common word', ask: (n) => ({ text: 'order', before: any(n).id }) },
    { name: 'a page deep in state dead', ask: (n) => ({ states: ['dead'], before: any(n).id }) },
  ];
}
