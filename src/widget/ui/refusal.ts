import type { Connection } from '../engine/chat.ts';

/** Nothing that the visitor does can help: the page or the shop has to be put right. */
export const isShutOut = (connection: Connection): boolean =>
  connection.state === 'refused' && ['unknown_key', 'origin'].includes(connection.code);

/** What the page's developer reads in the console, and what to do about it. */
export function adviceFor(code: string, gatewayUrl: string, key: string): string | undefined {
  switch (code) {
    case 'unknown_key':
      return `Sluice: ${gatewayUrl} knows no chat with the key "${key}". Put the key of the shop's chat (chat.key in the gateway's configuration) in data-key.`;
    case 'origin':
      return `Sluice: ${gatewayUrl} does not let pages of ${location.origin} use the chat "${key}". Add "${location.origin}" to the shop's chat.origins in the gateway's configuration.`;
    case 'bad_identity':
      return 'Sluice: the JWT given to Sluice.identify was refused. It needs HS256 with one of the chat’s identitySecrets, "sub", "aud" (the chat key) and "exp" at most an hour ahead.';
    default:
      return undefined;
  }
}
