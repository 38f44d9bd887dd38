/** What a row of the queue or of the outbox can be searched for. */
export interface Listed {
  readonly shop: string;
  readonly number: number;
  readonly name: string;
  readonly excerpt: string;
  readonly customer: string;
  readonly assignee?: string | undefined;
}

export const WHOSE = [
  { value: '', label: 'Everybody’s' },
  { value: 'mine', label: 'Mine' },
  { value: 'nobody', label: 'Nobody’s' },
] as const;

type Whose = (typeof WHOSE)[number]['value'];

/** The order in which the gateway lists, the opposite one, and those of one customer beside each other. */
export const ORDERS = ['listed', 'reversed', 'customer'] as const;
export type Order = (typeof ORDERS)[number];

export interface Shown {
  readonly text: string;
  readonly whose: Whose;
  readonly order: Order;
}

/** The rows that match, in the chosen order. Pure. */
export function shownOf<Row extends Listed>(
  rows: readonly Row[],
  { text, whose, order }: Shown,
  operator: string | undefined,
): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => {
    const { shop, number, name, excerpt, customer, assignee } = row;
    const searched = [shop, String(number), name, excerpt, customer, assignee ?? ''];
    const all = searched.join('\n').toLowerCase();
    const isTheirs =
      whose === '' || (whose === 'mine' ? assignee === operator : assignee === undefined);
    return isTheirs && words.every((word) => all.includes(word));
  });
  if (order === 'reversed') return found.toReversed();
  // Without a name, each is another visitor.
  return order === 'customer'
    ? found.toSorted((a, b) => (a.customer || '\uffff').localeCompare(b.customer || '\uffff'))
    : found;
}
