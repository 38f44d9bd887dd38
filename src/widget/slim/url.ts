import { parse } from './address.ts';

/** Where a socket leads: the widget always names a whole origin, and shares no connection. */
export const url = (origin: string) => ({ ...parse(origin), id: origin });
