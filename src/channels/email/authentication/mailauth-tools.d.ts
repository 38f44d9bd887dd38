/** The library's types leave this module out. */
declare module 'mailauth/lib/tools.js' {
  /** The entry of the list with the same organizational domain as `fromDomain`, false for none. */
  export function getAlignment(
    fromDomain: string,
    domainList: readonly string[],
  ): false | { readonly domain: string };
}
