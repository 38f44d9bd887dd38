/** Tells the page's developer in the console why the gateway refuses, and what to do about it. */
export function advise(code: string, gatewayUrl: string, key: string): void {
  const advice = adviceFor(code, gatewayUrl, key);
  // oxlint-disable-next-line no-console -- for the page's developer
  if (advice !== undefined) console.error(advice);
}

function adviceFor(code: string, gatewayUrl: string, key: string): string | undefined {
  switch (code) {
    case 'unknown_key':
      return `Sluice: ${gatewayUrl} has no chat with the key "${key}" (data-key).`;
    case 'origin':
      return origin === 'null'
        ? 'Sluice: a sandboxed or local page cannot connect.'
        : `Sluice: add ${origin} to the chat's origins in the gateway's configuration.`;
    case 'bad_identity':
      return 'Sluice: the JWT was refused. It needs HS256, sub, aud (the chat key) and exp (1 h at most).';
    default:
      return undefined;
  }
}
