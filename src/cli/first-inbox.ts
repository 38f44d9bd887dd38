/** Of a shop's addresses one to write to. A catch-all is none: any name at its domain is. */
export function firstInbox(addresses: readonly string[]): string {
  return (addresses.find((address) => !address.startsWith('*')) ?? addresses[0] ?? '').replace(
    /^\*@/,
    'support@',
  );
}
