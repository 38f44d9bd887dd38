import { BlockList, isIP, isIPv4 } from 'node:net';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ipNetwork } from '../../runtime/ip-network.ts';
import { SmtpRefusal } from './refusals.ts';

export interface ConnectionLimitOptions {
  readonly maxConnections: number;
  readonly maxConnectionsPerIp: number;
  readonly connectionRate: RateOptions;
}

/**
 * `refused`: the client, or all trusted relays together, are at their limit. `full`: the client is
 * within its limit, but no connection is left.
 */
export type Admission = 'admitted' | 'refused' | 'full';

/** The part of the remaining connections that one client may have. */
const SHARE = 0.1;
/**
 * The part of all connections that trusted relays leave to others. A tenth of a quarter is still
 * more than the 20 connections that one client may have by default.
 */
const RESERVE = 0.25;

/**
 * Counts open connections, in all and per client, and how often a client connects. Trusted relays
 * have no limit of their own, except that they leave a quarter of all connections to others.
 *
 * While less than half of all connections are taken, a client may have `maxConnectionsPerIp`. After
 * that it may have a tenth of what is left, at least one: a few clients cannot take everything, and
 * the last connections go to addresses that have none.
 */
export class ConnectionLimits {
  readonly #options: ConnectionLimitOptions;
  readonly #trusted: Networks;
  readonly #rate: ConnectionRate;
  readonly #perClient = new Map<string, number>();
  #open = 0;
  #openTrusted = 0;

  constructor(options: ConnectionLimitOptions, trusted: Networks) {
    this.#options = options;
    this.#trusted = trusted;
    this.#rate = new ConnectionRate(options.connectionRate);
  }

  get open(): number {
    return this.#open;
  }

  /** An admitted connection counts until `release`. `now` in milliseconds of a monotonic clock. */
  admit(address: string, now: number): Admission {
    if (this.#trusted.has(address)) {
      const { maxConnections } = this.#options;
      const reserve = Math.floor(maxConnections * RESERVE);
      if (reserve > 0 && this.#openTrusted >= maxConnections - reserve) return 'refused';
    } else {
      if (!this.#rate.take(address, now)) return 'refused';
      if (this.#held(address) >= this.#share()) return 'refused';
    }
    return this.admitWhenRoom(address);
  }

  /** For a client whose own limits have been checked. */
  admitWhenRoom(address: string): Admission {
    if (this.#open >= this.#options.maxConnections) return 'full';
    this.#open += 1;
    if (this.#trusted.has(address)) this.#openTrusted += 1;
    this.#perClient.set(ipNetwork(address), this.#held(address) + 1);
    return 'admitted';
  }

  release(address: string): void {
    const key = ipNetwork(address);
    const held = this.#perClient.get(key) ?? 0;
    this.#open -= 1;
    if (this.#trusted.has(address)) this.#openTrusted -= 1;
    if (held > 1) this.#perClient.set(key, held - 1);
    else this.#perClient.delete(key);
  }

  #held(address: string): number {
    return this.#perClient.get(ipNetwork(address)) ?? 0;
  }

  #share(): number {
    const { maxConnections, maxConnectionsPerIp } = this.#options;
    const left = maxConnections - this.#open;
    if (left > maxConnections / 2) return maxConnectionsPerIp;
    return Math.min(maxConnectionsPerIp, Math.max(1, Math.ceil(left * SHARE)));
  }
}

/** Clients that are counted in one window. Further clients are not rate-limited. */
const MAX_CLIENTS = 65_536;

export interface RateOptions {
  readonly connections: number;
  readonly perMs: number;
}

/**
 * How often each client has connected since the window began. All clients share one window, which
 * costs one map and no timer. Around its end a client may connect at twice the rate for a moment.
 */
class ConnectionRate {
  readonly #options: RateOptions;
  readonly #counts = new Map<string, number>();
  #windowFrom = 0;

  constructor(options: RateOptions) {
    this.#options = options;
  }

  /** Counts a connection, also one that is refused. False when the client is over its rate. */
  take(address: string, now: number): boolean {
    const { connections, perMs } = this.#options;
    if (now - this.#windowFrom >= perMs) {
      this.#counts.clear();
      this.#windowFrom = now;
    }
    const key = ipNetwork(address);
    const count = (this.#counts.get(key) ?? 0) + 1;
    if (count > 1 || this.#counts.size < MAX_CLIENTS) this.#counts.set(key, count);
    return count <= connections;
  }
}

export interface MessageRateOptions {
  readonly messages: number;
  readonly perMs: number;
}

/**
 * Counts the messages that each client begins; trusted relays have no limit.
 * The function rejects with the refusal `rate` when the client is over it.
 */
export function createMessageRate(
  { messages, perMs }: MessageRateOptions,
  trusted: Networks,
): (remoteAddress: string) => Promise<void> {
  const rate = new RateLimiterMemory({ points: messages, duration: perMs / 1000 });
  return async (remoteAddress) => {
    if (trusted.has(remoteAddress)) return;
    try {
      await rate.consume(ipNetwork(remoteAddress));
    } catch (error) {
      // The limiter rejects with its own verdict, which is no Error.
      throw error instanceof RateLimiterRes ? new SmtpRefusal('rate') : error;
    }
  };
}

const MAX_REMEMBERED = 4096;

export interface Networks {
  has(address: string): boolean;
}

/** @throws {TypeError} for a string that is neither an address nor `address/prefix` */
export function createNetworks(cidrs: readonly string[]): Networks {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const version = isIP(address);
    if (version === 0) throw new TypeError('expected an IP address or address/prefix');
    const family = version === 4 ? 'ipv4' : 'ipv6';
    const width = version === 4 ? 32 : 128;
    list.addSubnet(address, prefix === undefined ? width : Number(prefix), family);
  }
  // Each client is looked up several times per message, and each check makes an address object.
  const known = new Map<string, boolean>();
  return {
    has(address) {
      const before = known.get(address);
      if (before !== undefined) return before;
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      const contained = isIP(address) !== 0 && list.check(address, family);
      if (known.size === MAX_REMEMBERED) known.clear();
      known.set(address, contained);
      return contained;
    },
  };
}
