/**
 * Engine.IO packets of text, in the place of `engine.io-parser` within the bundle: the chat sends
 * nothing binary, so that all of that, and WebTransport's streams, need not be downloaded.
 * (Engine.IO protocol, revision 4: https://github.com/socketio/engine.io-protocol)
 */

export const protocol = 4;

const TYPES = ['open', 'close', 'ping', 'pong', 'message', 'upgrade', 'noop'] as const;
type PacketType = (typeof TYPES)[number];

export interface Packet {
  readonly type: PacketType | 'error';
  readonly data?: string;
}

const SEPARATOR = '\u001e';

const encode = ({ type, data = '' }: Packet): string =>
  String(TYPES.findIndex((known) => known === type)) + data;

export const encodePacket = (
  packet: Packet,
  _supportsBinary: boolean,
  callback: (encoded: string) => void,
): void => callback(encode(packet));

export function decodePacket(encoded: unknown): Packet {
  const type = typeof encoded === 'string' ? TYPES[Number(encoded.charAt(0) || 'x')] : undefined;
  if (type === undefined) return { type: 'error', data: 'parser error' };
  const data = (encoded as string).slice(1);
  return data === '' ? { type } : { type, data };
}

export const encodePayload = (
  packets: readonly Packet[],
  callback: (encoded: string) => void,
): void => callback(packets.map(encode).join(SEPARATOR));

/** Up to the first packet that cannot be read. */
export function decodePayload(encoded: string): Packet[] {
  const packets = encoded.split(SEPARATOR).map(decodePacket);
  const broken = packets.findIndex(({ type }) => type === 'error');
  return broken < 0 ? packets : packets.slice(0, broken + 1);
}
