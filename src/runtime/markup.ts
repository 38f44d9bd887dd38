/** A piece of HTML that is safe as it stands. */
export class Markup {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type Part = string | number | Markup | readonly Markup[] | undefined;

/** HTML in which every value is escaped that is not markup itself. */
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
