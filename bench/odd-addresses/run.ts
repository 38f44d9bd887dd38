import { allArrived, arrivals, faultsOf, hasArrived } from '../../test/support/arrivals.ts';
import {
  type Accepted,
  customerNumber,
  type Email,
  MailSession,
  sendText,
  Visitor,
} from '../../test/support/customers.ts';
import type { Received } from '../../test/support/platform-model-server.ts';
import {
  FORM_SENDER,
  type ListedEntry,
  type SceneShop,
  type ShopsScene,
} from '../../test/support/shops-scene.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { percentile } from '../support/statistics.ts';

export interface OddAddressesOptions {
  readonly odd: number;
  /** Further emails with odd addresses, which the platform refuses after every change. */
  readonly hopeless: number;
  /** The total of all three channels. */
  readonly ordinary: number;
  /** The time limit for ordinary messages to arrive and for odd ones to be settled. */
  readonly withinMs: number;
  /** The limit for the 95th percentile of ordinary messages, from acceptance to the platform. */
  readonly p95WithinMs: number;
}

export interface OddAddressesReport {
  readonly ordinary: { readonly sent: number; readonly arrived: number };
  /** From the acceptance of an ordinary message to its arrival at the platform. */
  readonly waitMs: { readonly median: number; readonly p95: number; readonly most: number };
  /** The odd messages, by state. */
  readonly odd: Readonly<Record<string, number>>;
  /** The hopeless messages, by state: dead, or waiting for the canary. */
  readonly hopeless: Readonly<Record<string, number>>;
  /** Create-message requests that the platform refused, and the distinct words of refusals. */
  readonly refusals: number;
  readonly words: readonly string[];
  /** The number of alarms, by the metric and by the log. */
  readonly alarms: number;
  readonly alarmLines: number;
  /** Empty if there were no faults. */
  readonly faults: readonly string[];
}

/** Addresses that mail systems accept and the API's `email format` does not. */
const ODD: readonly ((n: number) => Pick<Email, 'from' | 'replyTo' | 'cc'>)[] = [
  (n) => ({ from: `"p ${n}"@evil.example` }),
  (n) => ({ from: `root${n}@localhost` }),
  (n) => ({ from: `ann${n}@my_host.example` }),
  (n) => ({ from: `bob${n}@[127.0.0.1]` }),
  (n) => ({ from: `jörg${n}@example.com` }),
  (n) => ({ from: FORM_SENDER, replyTo: `"q ${n}"@evil.example` }),
  (n) => ({ from: FORM_SENDER, replyTo: `carol${n}@[127.0.0.1]` }),
  (n) => ({ from: `dave${n}@example.com`, cc: 'root@localhost' }),
  (n) => ({ from: `eve${n}@example.com`, cc: `"c ${n}"@evil.example` }),
  (n) => ({ from: `frank${n}@example.com`, cc: `jürgen${n}@example.com, x${n}@my_host.example` }),
];

const oddEmail = (n: number, content: string): Email => ({
  from: '',
  ...ODD[n % ODD.length]?.(n),
  content,
});

/** The platform model answers 422 to a text that contains this, and names no field. */
const REFUSED = '[[422]]';

const VISITORS = 10;

/** This many lanes with the same refusal raise the alarm. */
const ALARM_LANES = 5;

/**
 * Sends emails with odd addresses among ordinary messages of three channels to a shop whose
 * platform refuses such addresses, and checks the delivery of both.
 */
export async function oddAddresses(
  scene: ShopsScene<string>,
  shop: SceneShop,
  options: OddAddressesOptions,
): Promise<OddAddressesReport> {
  const { ordinary, odd, hopeless } = await sendAll(scene, shop, options);
  const faults: string[] = [];
  await allArrived(ordinary, options.withinMs).catch((error: unknown) => {
    faults.push(error instanceof Error ? error.message : String(error));
  });
  const entries = await settled(scene, shop, { odd, hopeless }, options.withinMs);
  for (const { remoteId, content } of odd) {
    faults.push(...faultOf(content, entries.get(remoteId), shop, ['delivered', 'dead']));
  }
  for (const { remoteId, content } of hopeless) {
    faults.push(...faultOf(content, entries.get(remoteId), shop, ['dead', 'queued']));
  }
  faults.push(...faultsOf([...ordinary, ...odd]));

  const waits = ordinary.flatMap((each) => {
    const at = arrivals(shop).get(each.remoteId)?.[0]?.at;
    return at === undefined ? [] : [Math.max(0, at - each.at)];
  });
  const p95 = percentile(waits, 0.95);
  if (!(p95 <= options.p95WithinMs)) faults.push(`p95 is ${p95} ms`);

  const refused = shop.platform
    .of('POST /messages/')
    .filter(({ shopId, status = 0 }) => shopId === shop.shopId && status >= 400 && status < 500);
  const words = [...new Set(refused.map(wordsOf))].sort();
  const alarms = await scene.alarms('refused_alike');
  const alarmLines = scene.gateway.log.filter(
    ({ message }) => message === 'platform.refuses_alike',
  ).length;
  const expected = hopeless.length >= ALARM_LANES ? 1 : 0;
  if (alarms !== expected || alarmLines !== expected) {
    faults.push(`${alarms} alarms and ${alarmLines} log lines instead of ${expected}`);
  }
  const statesOf = (sent: readonly Accepted[]) =>
    countBy(sent.map(({ remoteId }) => entries.get(remoteId)?.state ?? 'missing'));
  return {
    ordinary: { sent: ordinary.length, arrived: ordinary.filter(hasArrived).length },
    waitMs: { median: percentile(waits, 0.5), p95, most: Math.max(...waits) },
    odd: statesOf(odd),
    hopeless: statesOf(hopeless),
    ...{ refusals: refused.length, words, alarms, alarmLines, faults },
  };
}

export function describe(report: OddAddressesReport): string {
  const { ordinary, waitMs, odd, hopeless, refusals, words, alarms, alarmLines, faults } = report;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
  const states = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([state, count]) => `${count} ${state}`)
      .join(', ');
  return [
    `ordinary: ${ordinary.arrived} of ${ordinary.sent} arrived, after ${seconds(waitMs.median)} (median), ` +
      `${seconds(waitMs.p95)} (p95), ${seconds(waitMs.most)} (at most)`,
    `odd: ${states(odd)}`,
    `odd and refused whatever is left out: ${states(hopeless)}`,
    `the platform refused ${refusals} requests in these words: ${words.join('; ')}`,
    `the alarm rang ${alarms} times (metric), ${alarmLines} times (log)`,
    ...faults.map((fault) => `FAULT ${fault}`),
  ].join('\n');
}

interface Sent {
  readonly ordinary: readonly Accepted[];
  readonly odd: readonly Accepted[];
  readonly hopeless: readonly Accepted[];
}

/** Sends odd and ordinary emails alternately, and text messages and chat in parallel. */
async function sendAll(
  scene: ShopsScene<string>,
  shop: SceneShop,
  { odd, hopeless, ordinary }: OddAddressesOptions,
): Promise<Sent> {
  const emails = Math.ceil(ordinary / 3);
  const texts = Math.ceil((ordinary - emails) / 2);
  const lines = ordinary - emails - texts;
  const mail = await MailSession.open(scene);
  const visitors = await Promise.all(
    Array.from({ length: Math.min(VISITORS, lines) }, () => Visitor.open(scene, shop)),
  );
  const sent = { ordinary: [] as Accepted[], odd: [] as Accepted[], hopeless: [] as Accepted[] };
  const byMail = async (): Promise<void> => {
    // Spreads the ordinary emails evenly between the odd ones.
    const perOdd = emails / Math.max(1, odd);
    for (let n = 0, next = 0; n < odd || next < emails; n += 1) {
      if (n < odd) sent.odd.push(await mail.send(shop, oddEmail(n, `odd ${n}`)));
      if (n < hopeless) {
        const email = oddEmail(n, `hopeless ${n} ${REFUSED}`);
        sent.hopeless.push(await mail.send(shop, email));
      }
      for (; next < emails && (next < (n + 1) * perOdd || n >= odd); next += 1) {
        const from = `Ann <ann${next % 40}@example.com>`;
        sent.ordinary.push(await mail.send(shop, { from, content: `email ${next}` }));
      }
    }
  };
  const byText = async (): Promise<void> => {
    for (let n = 0; n < texts; n += 1) {
      sent.ordinary.push(await sendText(scene, shop, customerNumber(n % 40), `text ${n}`));
    }
  };
  const byChat = async (visitor: Visitor, from: number): Promise<void> => {
    for (let n = from; n < lines; n += visitors.length) {
      sent.ordinary.push(await visitor.send(`line ${n}`));
    }
  };
  try {
    await Promise.all([byMail(), byText(), ...visitors.map(byChat)]);
  } finally {
    mail.close();
    for (const visitor of visitors) visitor.close();
  }
  return sent;
}

/** All entries when odd ones are settled and hopeless ones were refused, or the time is over. */
async function settled(
  scene: ShopsScene<string>,
  shop: SceneShop,
  { odd, hopeless }: Pick<Sent, 'odd' | 'hopeless'>,
  withinMs: number,
): Promise<ReadonlyMap<string, ListedEntry>> {
  let entries: ReadonlyMap<string, ListedEntry> = new Map();
  const look = async (): Promise<boolean> => {
    const listed = await scene.entries(shop);
    entries = new Map(listed.map((entry) => [entry.remoteId, entry]));
    return (
      odd.every(({ remoteId }) => isSettled(entries.get(remoteId))) &&
      hopeless.every(({ remoteId }) => entries.get(remoteId)?.reason !== undefined)
    );
  };
  // An entry that is not settled by then is reported as a fault.
  await waitFor('the odd ones', look, 250, withinMs).catch(() => undefined);
  return entries;
}

const isSettled = (entry: ListedEntry | undefined): boolean =>
  entry?.state === 'delivered' || entry?.state === 'dead';

function faultOf(
  content: string,
  entry: ListedEntry | undefined,
  shop: SceneShop,
  mayBe: readonly string[],
): string[] {
  if (entry === undefined) return [`no entry: ${content}`];
  const { state, reason = '', remoteId } = entry;
  if (!mayBe.includes(state)) return [`${state}: ${content} (${reason})`];
  if (state === 'delivered') return [];
  const refused = shop.platform
    .of('POST /messages/')
    .filter((each) => each.remoteId === remoteId && each.refusal !== undefined);
  // Any of its refusals may be quoted, because changed requests are refused in other words.
  const isQuoted = refused.some(({ refusal = '', status }) => {
    const said = sentencesOf(refusal);
    return said.length === 0
      ? reason.includes(String(status))
      : said.some((sentence) => reason.includes(sentence));
  });
  return isQuoted ? [] : [`${state} without the platform's words: ${content} (${reason})`];
}

/** Status, code and field names of a refusal. */
function wordsOf({ status, refusal = '' }: Received): string {
  const names: string[] = [];
  const collect = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value as unknown[]) collect(item, path);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if ((key === 'field' || key === 'code') && typeof inner === 'string') names.push(inner);
        else collect(inner, path === '' ? key : `${path}.${key}`);
      }
    } else if (path !== '' && !/(?:message|detail|request_id)$/.test(path)) names.push(path);
  };
  collect(parsed(refusal), '');
  return [String(status), ...[...new Set(names)].sort()].join(' ');
}

/** The texts of a refusal. */
function sentencesOf(refusal: string): readonly string[] {
  const body = parsed(refusal);
  if (body === undefined) {
    const plain = refusal.replaceAll(/<title>.*?<\/title>|<[^>]*>/g, ' ').trim();
    return plain === '' ? [] : [plain];
  }
  const leaves = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
  };
  return leaves(body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
