/**
 * One of a shop's addresses for a test message; empty if it has none. For a shop that has
 * catch-alls only (`*@domain`), it is `support` at the first domain.
 */
export function firstInbox(addresses: readonly string[]): string {
  return (addresses.find((address) => !address.startsWith('*')) ?? addresses[0] ?? '').replace(
    /^\*@/,
    'support@',
  );
}
