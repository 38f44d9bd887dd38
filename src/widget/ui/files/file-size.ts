const UNITS = ['byte', 'kilobyte', 'megabyte'] as const;

/** "1.2 MB", in the words of a language. */
export function fileSize(bytes: number, locale: string): string {
  const power = bytes < 1_000 ? 0 : bytes < 1_000_000 ? 1 : 2;
  const value = bytes / 1_000 ** power;
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: UNITS[power],
    // Short: "9 byte".
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: power === 2 && value < 10 ? 1 : 0,
  }).format(value);
}
