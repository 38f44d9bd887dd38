/** Formats numbers and times in the visitor's language. */
export interface Formats {
  time(at: number): string;
  /** "Today", "Yesterday", "Monday, 3 March". */
  day(at: number, now: number): string;
  number(value: number): string;
  /** "in 5 seconds", "in 2 hours" */
  wait(seconds: number): string;
}

const DAY_MS = 86_400_000;

/** Each format is made when it is first used: the first of a page takes a slow phone up to 30 ms. */
export function createFormats(locale: string): Formats {
  const clock = once(() => new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }));
  const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
  const wait = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'always' }));
  const plain = once(() => new Intl.NumberFormat(locale));

  const upper = (text: string): string => text.charAt(0).toLocaleUpperCase(locale) + text.slice(1);

  return {
    time: (at) => clock().format(at),
    day: (at, now) => {
      const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
      if (days === 0 || days === 1) return upper(relative().format(-days, 'day'));
      const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear();
      return new Intl.DateTimeFormat(locale, {
        weekday: 'long',
        day: 'numeric',
        month: 'long',
        ...(!isThisYear && { year: 'numeric' }),
      }).format(at);
    },
    number: (value) => plain().format(value),
    wait: (seconds) => {
      if (seconds >= 3_600) return wait().format(Math.round(seconds / 3_600), 'hour');
      return seconds >= 60
        ? wait().format(Math.round(seconds / 60), 'minute')
        : wait().format(seconds, 'second');
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Midnight of the visitor's own day. */
export const startOfDay = (at: number): number => new Date(at).setHours(0, 0, 0, 0);

/** Replaces the `#` of a text. */
export const fill = (text: string, value: string | number): string =>
  // A function, so that `$&` and the like in the value are not interpreted.
  text.replace('#', () => String(value));
