import type { GatewayStatus, ShopStatus } from '../../../src/observability/status.ts';
import type { RuleOptions } from '../../../src/operations/alerts/rules.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** Any moment. */
export const NOW = Date.UTC(2026, 10, 22, 12);

export const RULES: RuleOptions = {
  thresholds: {
    dead: 1,
    held: 1,
    breakerOpen: MINUTE,
    refusedAlike: 5,
    oldestQueued: 10 * MINUTE,
    certificate: 14 * DAY,
    diskBelow: 1e9,
    badSignaturesPer10min: 10,
  },
  forMs: 30 * SECOND,
};

export const closedShop: ShopStatus = {
  shop: 'acme',
  shopId: '3c1f8a1e-52b7-4a0e-9f52-6b7d1f0a9c01',
  breakers: [
    { part: 'messages', state: 'closed' },
    { part: 'media', state: 'closed' },
  ],
  refusedAlike: [],
  lastDeliveredAt: NOW - MINUTE,
};

export const openShop: ShopStatus = {
  ...closedShop,
  breakers: [
    {
      ...{ part: 'messages', state: 'open', since: NOW - 2 * MINUTE },
      ...{ nextProbeAt: NOW + MINUTE, reason: 'the platform answered 503 (http) to /messages/' },
    },
    { part: 'media', state: 'closed' },
  ],
};

/** A gateway that is well, but for what is given. */
export function someStatus(changed: Partial<GatewayStatus> = {}): GatewayStatus {
  return {
    at: NOW,
    startedAt: NOW - HOUR,
    deliveryPaused: false,
    counts: [],
    shops: [closedShop],
    disk: { freeBytes: 50e9, totalBytes: 100e9, reserveBytes: 55e6 },
    certificate: { subject: 'mx.acme.example', endsAt: NOW + 90 * DAY, selfSigned: false },
    badSignatures: 0,
    sockets: { chat: 0, smtp: 0 },
    refusedPages: [],
    waitingTickets: [{ shop: 'acme', waiting: 0, answerWithinMs: 4 * HOUR }],
    ...changed,
  };
}

export const counted = (
  state: string,
  count: number,
  ageMs = MINUTE,
): GatewayStatus['counts'][number] => ({
  ...{ shop: 'acme', channel: 'email', state, count },
  oldestAt: NOW - ageMs,
});
