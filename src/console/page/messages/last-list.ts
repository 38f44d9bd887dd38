import { signal } from '@preact/signals';

/** The query of the list that was looked at last; empty before. */
export const lastQuery = signal<string | undefined>(undefined);

/** Where "back to the messages" leads. */
export const lastListAddress = (): string => `/messages${lastQuery.value ?? ''}`;
