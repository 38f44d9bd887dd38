/**
 * A line of values (RFC 4180). A spreadsheet runs what begins like a formula, so an apostrophe is put
 * before that (OWASP, "CSV Injection").
 */
export const csvLine = (values: readonly string[]): string =>
  `${values.map((value) => quoted(FORMULA.test(value) ? `'${value}` : value)).join(',')}\r\n`;

const FORMULA = /^[=+\-@\t\r]/;

const quoted = (value: string): string =>
  /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
