/**
 * One of a shop's addresses, to write to; empty when it has none. Of a shop with catch-alls alone
 * (`*@domain`) it is `support` at the first one's domain.
 */
export function firstInbox(addresses: readonly string[]): string {
  return (addresses.find((address) => !address.startsWith('*')) ?? addresses[0] ?? '').replace(
    /^\*@/,
    'support@',
  );
}
