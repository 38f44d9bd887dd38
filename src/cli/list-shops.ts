import type { Endpoint } from '../domain/endpoint.ts';
import type { Command } from 'commander';
import { isServed } from '../spool/locks.ts';
import { type EndpointHealth, ENDPOINTS } from '../spool/shop-health.ts';
import { datedSentence, type ShownCondition } from '../operations/conditions.ts';
import type { Colour } from './cell.ts';
import { document } from './json.ts';
import {
  type KnownConditions,
  knownConditions,
  type KnownShop,
  knownShops,
  requireAnswer,
} from './known-state.ts';
import { withSpool } from './open-spool.ts';
import { iso, reasonJson, time } from './queue-entry.ts';
import { type Column, Table } from './table.ts';
import { printableLine, type Terminal } from './terminal.ts';
import { shortSpan } from './time-argument.ts';

export interface ShopsOptions {
  readonly json?: true;
}

const LAST_KNOWN =
  'No gateway is running on this data folder. This is the state at the end of the last run.\n';

/**
 * `shops`: the health of each shop's platform, as the gateway last stored it, and what is wrong.
 * @throws {CommandFailed} the gateway does not answer
 */
export async function listShops(
  options: ShopsOptions,
  command: Command,
  terminal: Terminal,
): Promise<void> {
  await withSpool(command, terminal, async (open) => {
    const served = isServed(open.config.dataDir);
    const shops = await knownShops(open);
    const known = await knownConditions(open, shops);
    if (options.json) terminal.out(document(shops.map((shop) => shopJson(shop, served))));
    else terminal.out(lines({ shops, ...known, served }, terminal));
    requireAnswer(open.config.dataDir, known);
  });
}

function lines({ shops, conditions, served }: Listed, terminal: Terminal): string {
  const rows = shops.flatMap(({ health, ...shop }) =>
    ENDPOINTS.map((part) => ({ ...shop, part, health: health?.[part], served })),
  );
  const ofShops = conditions.filter(({ shop }) => shop !== undefined).map(explained);
  const table = new Table(columns(terminal), terminal).lines(rows);
  return `${table}${ofShops.join('')}${served ? '' : LAST_KNOWN}`;
}

interface Listed extends Pick<KnownConditions, 'conditions'> {
  readonly shops: readonly KnownShop[];
  readonly served: boolean;
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
function explained(condition: ShownCondition): string {
  const words = condition.words === undefined ? '' : ` The platform says: ${condition.words}`;
  return `${printableLine(`${datedSentence(condition)}.${words}`)}\n`;
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
