import type { Channel } from '../../src/domain/channel.ts';

/** An attachment as it was sent. */
export interface SentFile {
  readonly name: string;
  readonly sha256: string;
}

/** One message that a generator made, and what became of it. */
export interface Sent {
  readonly channel: Channel;
  /** Messages of one lane were sent one after the other, each after the end of the one before. */
  readonly lane: string;
  readonly nth: number;
  /** Stands in the content; no other message has it. */
  readonly marker: string;
  readonly remoteId: string;
  readonly files: readonly SentFile[];
  acknowledged: boolean;
  /** How often it was sent, acknowledged or not. */
  tries: number;
}

/** What was sent, written down before it is sent, and what was acknowledged, right after. */
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

/** Ends in a character that is no digit, so that no marker is the beginning of another. */
export const markerOf = (lane: string, nth: number): string => `[${lane}:${nth}]`;
