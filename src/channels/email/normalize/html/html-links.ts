/** How much of an address is looked at, and passed on. */
const MAX_HREF_LENGTH = 2000;

/**
 * Where a link leads, when it leads to the web, to mail or to a telephone. Outlook replaces the
 * links of a letter by its own; the one that the person wrote is in the parameter `url`.
 */
export function linkTarget(href: string): string | undefined {
  const target = href.length > MAX_HREF_LENGTH ? undefined : withoutSafeLink(href.trim());
  return target !== undefined && /^(?:https?:\/\/|mailto:|tel:)[^\s]/i.test(target)
    ? target
    : undefined;
}

function withoutSafeLink(href: string): string {
  if (!/^https:\/\/[\w-]{1,60}\.safelinks\.protection\.outlook\.com\//i.test(href)) return href;
  const inner = new URL(href).searchParams.get('url');
  return inner !== null && /^https?:\/\/[^\s]/i.test(inner) ? inner : href;
}
