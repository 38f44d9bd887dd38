import { setLatest } from '../../runtime/keep-latest.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { SMTPServerSession } from 'smtp-server';
import { sitesNetwork } from '../../runtime/ip-addresses.ts';
import { SmtpRefusal } from './refusals.ts';

/** Times in milliseconds. */
export interface UnknownRecipientOptions {
  /** How many unknown recipients a network may name within `perMs` without waiting. */
  readonly free: number;
  readonly perMs: number;
  /** How long the reply to each further one waits. */
  readonly waitMs: number;
  /** How long one connection waits in all before it is closed. */
  readonly maxWaitMs: number;
}

/** Networks that are counted; the one that was quiet for the longest is removed. */
const MAX_NETWORKS = 10_000;
/** The share of all connections that may wait at the same time. */
const WAITING_SHARE = 0.1;

interface Waiting {
  waitedMs: number;
  readonly ended: AbortController;
}

/**
 * Slows down clients that guess addresses: beyond some unknown recipients, a network waits for the reply
 * to each further one. A pipelining client waits for one after the other, because a session reads
 * its next command after the reply to the last. Only this process's sessions are counted.
 */
export class UnknownRecipients {
  readonly #options: UnknownRecipientOptions;
  readonly #maxWaiting: number;
  readonly #delay: typeof delay;
  /** The times of the last `free` unknown recipients of each network. */
  readonly #times = new Map<string, number[]>();
  readonly #sessions = new Map<SMTPServerSession, Waiting>();
  #waiting = 0;

  /** @param wait for tests */
  constructor(options: UnknownRecipientOptions, maxConnections: number, wait = delay) {
    this.#options = options;
    this.#maxWaiting = Math.max(1, Math.floor(maxConnections * WAITING_SHARE));
    this.#delay = wait;
  }

  /**
   * Counts an unknown recipient, and resolves when it may be refused as such.
   * @param now in milliseconds, monotonic
   * @throws {SmtpRefusal} `guessed_too_long` closes the connection; `guessing`: too many wait
   */
  async slowDown(session: SMTPServerSession, now: number): Promise<void> {
    if (!this.#isBeyond(sitesNetwork(session.remoteAddress), now)) return;
    const { waitMs, maxWaitMs } = this.#options;
    const waiting = this.#sessions.get(session) ?? { waitedMs: 0, ended: new AbortController() };
    if (waiting.waitedMs + waitMs > maxWaitMs) throw new SmtpRefusal('guessed_too_long');
    if (this.#waiting >= this.#maxWaiting) throw new SmtpRefusal('guessing');
    this.#sessions.set(session, waiting);
    waiting.waitedMs += waitMs;
    this.#waiting += 1;
    // It rejects if the session ends meanwhile.
    await this.#delay(waitMs, undefined, { signal: waiting.ended.signal }).catch(() => undefined);
    this.#waiting -= 1;
  }

  /** The connection is closed: it waits no longer. */
  end(session: SMTPServerSession): void {
    this.#sessions.get(session)?.ended.abort();
    this.#sessions.delete(session);
  }

  /** Counts one of the network's unknown recipients. False if it is among the free ones. */
  #isBeyond(network: string, now: number): boolean {
    const { free, perMs } = this.#options;
    const times = this.#times.get(network) ?? [];
    const [oldest] = times;
    const isBeyond = times.length >= free && oldest !== undefined && now - oldest < perMs;
    times.push(now);
    if (times.length > free) times.shift();
    setLatest(this.#times, network, times, MAX_NETWORKS);
    return isBeyond;
  }
}
