import type { Connection } from '../engine/chat.ts';

/** Nothing that the visitor does can help: the page or the shop has to be put right. */
export const isShutOut = (connection: Connection): boolean =>
  connection.state === 'refused' && ['unknown_key', 'origin'].includes(connection.code);

/** What the page's developer reads in the console, and what to do about it. */
export function adviceFor(code: string, gatewayUrl: string, key: string): string | undefined {
  switch (code) {
    case 'unknown_key':
      return `Sluice: ${gatewayUrl} has no chat with the key "${key}" (data-key).`;
    case 'origin':
      return `Sluice: add ${location.origin} to the chat's origins in the gateway's configuration.`;
    case 'bad_identity':
      return 'Sluice: the JWT was refused. It needs HS256, sub, aud (the chat key) and exp (1 h at most).';
    default:
      return undefined;
  }
}
