import type { Endpoint } from '../domain/endpoint.ts';
import type { Command } from 'commander';
import { counted } from '../runtime/amounts.ts';
import { isServed } from '../spool/locks.ts';
import {
  type EndpointHealth,
  ENDPOINTS,
  type ShopHealth,
  shopHealthOf,
} from '../spool/shop-health.ts';
import type { ShopId } from '../domain/ids.ts';
import { sentence } from '../domain/reasons.ts';
import type { Colour } from './cell.ts';
import { document } from './json.ts';
import { withSpool, type OpenSpool } from './open-spool.ts';
import { iso, reasonJson, time } from './queue-entry.ts';
import { type Column, Table } from './table.ts';
import { printableLine, type Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

export interface ShopsOptions {
  readonly json?: true;
}

export interface KnownShop {
  readonly name: string;
  readonly shopId: ShopId;
  /** Undefined if no gateway has served the shop yet. */
  readonly health: ShopHealth | undefined;
  readonly queued: number;
}

const LAST_KNOWN =
  'No gateway is running on this data folder. This is the state at the end of the last run.\n';

/** `shops`: the health of each shop's platform, as the gateway last stored it. */
export async function listShops(
  options: ShopsOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    const served = isServed(open.config.dataDir);
    const shops = await knownShops(open);
    if (options.json) {
      terminal.out(document(shops.map((shop) => shopJson(shop, served))));
      return;
    }
    const rows = shops.flatMap(({ health, ...shop }) =>
      ENDPOINTS.map((part) => ({ ...shop, part, health: health?.[part], served })),
    );
    terminal.out(new Table(columns(terminal), terminal).lines(rows));
    terminal.out(shops.map(explained).join(''));
    if (!served) terminal.out(LAST_KNOWN);
  });
}

/** The configured shops, with what the gateway last stored about each. */
export async function knownShops({ spool, shops }: OpenSpool): Promise<KnownShop[]> {
  const counts = (await spool.counts()).filter(({ state }) => state === 'queued');
  return Promise.all(
    shops.map(async ({ name, shopId }) => ({
      ...{ name, shopId, health: await shopHealthOf(spool, shopId) },
      queued: counts.reduce((sum, each) => sum + (each.shopId === shopId ? each.count : 0), 0),
    })),
  );
}

interface Row extends Omit<KnownShop, 'health'> {
  readonly part: Endpoint;
  readonly health: EndpointHealth | undefined;
  readonly served: boolean;
}

const COLOURS: Readonly<Record<string, Colour>> = {
  flows: 'green',
  'in doubt': 'yellow',
  'being tried': 'yellow',
};

/** A terminal shows ages. A pipe, where lines are compared, gets times instead. */
function columns(terminal: Terminal): readonly Column<Row>[] {
  const now = Date.now();
  const seen = terminal.columns !== undefined;
  const width = seen ? 10 : 19;
  const ago = (at: number | undefined) =>
    at === undefined ? '' : seen ? `${shortSpan(now - at)} ago` : time(at);
  const until = (at: number | undefined) => {
    if (at === undefined) return '';
    if (!seen) return time(at);
    return at <= now ? 'now' : `in ${shortSpan(at - now)}`;
  };
  const next = ({ health, served }: Row) =>
    served && health?.probing !== true ? until(health?.nextProbeAt) : '';
  return [
    { head: 'shop', min: 8, max: 30, value: ({ name }) => name },
    { head: 'of', min: 11, value: ({ part }) => ENDPOINT_WORDS[part] },
    {
      head: 'state',
      min: 20,
      value: ({ health, served }) =>
        health === undefined ? 'not known yet' : stateWords(health, served),
      colour: (text) => COLOURS[text] ?? (text.startsWith('stopped') ? 'red' : undefined),
    },
    { head: 'since', min: width, value: ({ health }) => ago(health?.since) },
    { head: 'next try', min: width, value: next },
    {
      head: 'waiting',
      min: 7,
      right: true,
      value: ({ part, queued }) => (part === 'messages' ? queued : ''),
    },
    {
      head: 'delivered',
      min: width,
      drop: 1,
      value: ({ health }) => ago(health?.lastDeliveredAt),
    },
  ];
}

/** Printed below the table, because the platform's error texts are longer than any column. */
function explained({ name, health }: KnownShop): string {
  if (health === undefined) return '';
  const reasons = ENDPOINTS.flatMap((part) => {
    const { state, reason } = health[part];
    return state === 'steady' || reason === undefined
      ? []
      : [`${name}, ${ENDPOINT_WORDS[part]}: ${sentence(reason)}`];
  });
  const refusals = health.refusedAlike.map(
    ({ words, since, count }) =>
      `${name}: ${counted(count, 'message')} refused in the same words since ${time(since)} UTC: ${words}`,
  );
  return [...reasons, ...refusals].map((line) => `${printableLine(line)}\n`).join('');
}

export function shopJson({ name, shopId, health, queued }: KnownShop, served: boolean): object {
  return {
    ...{ shop: name, shopId, gatewayRuns: served, queued },
    ...(health !== undefined && {
      messages: partJson(health.messages, served),
      media: partJson(health.media, served),
      refusedAlike: health.refusedAlike.map((each) => ({ ...each, since: iso(each.since) })),
    }),
  };
}

function partJson(health: EndpointHealth, served: boolean): object {
  const { since, reason, nextProbeAt, lastDeliveredAt, lastProbe } = health;
  return {
    state: stateWords(health, served),
    ...(since !== undefined && { since: iso(since) }),
    ...reasonJson(reason),
    ...(nextProbeAt !== undefined && { nextTryAt: iso(nextProbeAt) }),
    ...(lastDeliveredAt !== undefined && { lastDeliveredAt: iso(lastDeliveredAt) }),
    ...(lastProbe !== undefined && {
      lastTry: {
        at: iso(lastProbe.at),
        outcome: lastProbe.outcome,
        ...reasonJson(lastProbe.reason),
      },
    }),
  };
}

/** The requests of each endpoint, for people. */
export const ENDPOINT_WORDS: Readonly<Record<Endpoint, string>> = {
  messages: 'messages',
  media: 'attachments',
};

type ShopState = 'flows' | 'in doubt' | 'stopped' | 'stopped (reads fail)' | 'being tried';

/** @param isServed a gateway is running; otherwise no probe can be in progress */
export function stateWords(
  { state, probing, readsFail }: Pick<EndpointHealth, 'state' | 'probing' | 'readsFail'>,
  isServed: boolean,
): ShopState {
  if (state === 'steady') return 'flows';
  if (probing && isServed) return 'being tried';
  if (state === 'doubted') return 'in doubt';
  return readsFail ? 'stopped (reads fail)' : 'stopped';
}
