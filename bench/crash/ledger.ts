import type { Channel } from '../../src/domain/channel.ts';

/** An attachment as it was sent. */
export interface SentFile {
  readonly name: string;
  readonly sha256: string;
}

/** A generated message and its result. */
export interface Sent {
  readonly channel: Channel;
  /** Messages of one lane are sent one after the other, each when the previous one has ended. */
  readonly lane: string;
  readonly nth: number;
  /** A unique text in the content. */
  readonly marker: string;
  readonly remoteId: string;
  readonly files: readonly SentFile[];
  acknowledged: boolean;
  /** How often it was sent, whether or not it was acknowledged. */
  tries: number;
}

/** Records messages before they are sent, and acknowledgements right after them. */
export class Ledger {
  readonly #sent: Sent[] = [];

  add(message: Omit<Sent, 'acknowledged' | 'tries'>): Sent {
    const sent = { ...message, acknowledged: false, tries: 0 };
    this.#sent.push(sent);
    return sent;
  }

  get all(): readonly Sent[] {
    return this.#sent;
  }

  acknowledged(channel: Channel): number {
    return this.#sent.filter((sent) => sent.channel === channel && sent.acknowledged).length;
  }
}

/** Ends in a character that is not a digit, so that no marker is a prefix of another. */
export const markerOf = (lane: string, nth: number): string => `[${lane}:${nth}]`;
