/**
 * Markdown as a telephone or a plain mail shows it: links as their words and address, no marks of
 * emphasis, headings and code. Lists and quotes read as they stand.
 */
export function withoutMarkup(markdown: string): string {
  return markdown
    .replace(/^ {0,3}#{1,6}[ \t]+/gm, '')
    .replace(/^ {0,3}(?:`{3,}|~{3,})[^`\n]{0,100}\n?/gm, '')
    .replace(
      /!?\[([^[\]\n]{0,500})\]\(<?([^\s()<>]{1,2000})>?\)/g,
      (_all, label: string, url: string) =>
        label === '' || label === url || `mailto:${label}` === url
          ? url.replace(/^mailto:/, '')
          : `${label} (${url})`,
    )
    .replace(/`([^`\n]{1,500})`/g, '$1')
    .replace(
      /(?<![\p{L}\p{N}*_])([*_]{1,3})(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\p{L}\p{N}*_])/gu,
      '$2',
    );
}
