/**
 * Socket.IO packets without binary attachments, in the place of `socket.io-parser` within the
 * bundle: the chat has none. (Socket.IO protocol, revision 5:
 * https://github.com/socketio/socket.io-protocol)
 */

export const protocol = 5;

export const PacketType = {
  CONNECT: 0,
  DISCONNECT: 1,
  EVENT: 2,
  ACK: 3,
  CONNECT_ERROR: 4,
  BINARY_EVENT: 5,
  BINARY_ACK: 6,
} as const;

export interface Packet {
  readonly type: number;
  readonly nsp: string;
  readonly data?: unknown;
  readonly id?: number;
}

/** These mean something else to a client, and so are no events. */
const RESERVED = ['connect', 'connect_error', 'disconnect', 'disconnecting'];
const FORM = /^([0-4])(?:(\/[^,]*),)?(\d*)([\s\S]*)$/;

export class Encoder {
  encode({ type, nsp, id, data }: Packet): string[] {
    const space = nsp === '/' ? '' : `${nsp},`;
    return [`${type}${space}${id ?? ''}${data === undefined ? '' : JSON.stringify(data)}`];
  }
}

type Listener = (packet: Packet) => void;

/** It has one event, `decoded`, and one who listens. */
export class Decoder {
  #listener: Listener | undefined;

  on(_event: 'decoded', listener: Listener): void {
    this.#listener = listener;
  }

  off(): void {
    this.#listener = undefined;
  }

  /** @throws {Error} this is no packet; the client then closes the connection */
  add(encoded: unknown): void {
    const parts = typeof encoded === 'string' ? FORM.exec(encoded) : null;
    if (!parts) throw new Error('unknown packet');
    const [, type, nsp = '/', id, json] = parts;
    const data: unknown = json ? JSON.parse(json) : undefined;
    const packet = { type: Number(type), nsp, data, ...(id && { id: Number(id) }) };
    if (!isWellFormed(packet)) throw new Error('invalid payload');
    this.#listener?.(packet);
  }

  destroy(): void {
    // Nothing is ever half read.
  }
}

function isWellFormed({ type, data }: Packet): boolean {
  switch (type) {
    case PacketType.EVENT:
      return Array.isArray(data) && typeof data[0] === 'string' && !RESERVED.includes(data[0]);
    case PacketType.ACK:
      return Array.isArray(data);
    case PacketType.DISCONNECT:
      return data === undefined;
    default:
      return typeof data === 'object' && data !== null && !Array.isArray(data);
  }
}
