import { signal } from '@preact/signals';
import { readStored, store } from './stored.ts';

const STORED_AS = 'sluice.zone';

/** Whether times are shown in UTC, as in the log, or in the browser's time zone. */
export const isUtc = signal(readStored(STORED_AS) === 'utc');

export function chooseUtc(isChosen: boolean): void {
  isUtc.value = isChosen;
  store(STORED_AS, isChosen ? 'utc' : 'local');
}

/** The value of `<input type="datetime-local">` in the shown zone, to the minute; empty for no time. */
export function zonedInput(at: number | undefined): string {
  if (at === undefined) return '';
  const offsetMs = isUtc.value ? 0 : new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - offsetMs).toISOString().slice(0, 16);
}

/** Undefined while the input is incomplete. */
export function readZonedInput(text: string): number | undefined {
  const at = Date.parse(isUtc.value && text !== '' ? `${text}Z` : text);
  return Number.isNaN(at) ? undefined : at;
}
