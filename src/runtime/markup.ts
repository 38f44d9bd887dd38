/** HTML that needs no further escaping. */
export class Markup {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type Part = string | number | Markup | readonly Markup[] | undefined;

/** Builds HTML; every value that is not markup is escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...values.map(sourceOf)));
}

function sourceOf(value: Part): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.source;
  if (typeof value === 'object') return value.map(({ source }) => source).join('');
  return String(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
