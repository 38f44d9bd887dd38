/**
 * npm run bench -- sender-checks [--load 40] [--forged 200] [--silent 100]
 *
 * Checks of senders on a busy machine, over real SMTP and with a name server of its own.
 *
 * 1. While --load processes do nothing but compute, --forged mails of as many domains with p=reject, half of
 *    them with a signature that does not hold, and 20 that SPF confirms: is a forged one delivered?
 * 2. On a quiet machine, --silent mails of as many domains whose name servers do not respond: how much later than
 *    without them are 40 mails of other domains?
 *
 * Exit status 1 when a goal is missed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DnsServer } from '../test/support/dns-server.ts';
import { SmtpSession } from './load/smtp-session.ts';
import type * as FastPlatform from './platform/fast-platform.ts';
import { type Gateway, METRICS_TOKEN, startGateway } from './support/gateway.ts';
import { type Figure, printFigures } from './support/goals.ts';
import { timeOfDay, waitUntil } from './support/wait-until.ts';
import { withWorkbench, type Workbench } from './support/workbench.ts';

const SESSIONS = 8;
const HONEST_UNDER_LOAD = 20;
const HONEST = 40;
const HONEST_EVERY_MS = 50;
/** A check that does not end is made again for ten minutes. */
const SETTLED_WITHIN_MS = 20 * 60_000;
const LATER_BY_MS = 1000;

/** Of the domains that are forged; nothing is signed with it. */
const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .publicKey.export({ type: 'spki', format: 'der' })
  .toString('base64');

const { values } = parseArgs({
  options: {
    load: { type: 'string', default: '40' },
    forged: { type: 'string', default: '200' },
    silent: { type: 'string', default: '100' },
  },
});
const [load, forged, silent] = [values.load, values.forged, values.silent].map(Number);

await withWorkbench(async (bench) => {
  const underLoad = await forgeriesUnderLoad(bench, load ?? 0, forged ?? 0);
  const figures = [...underLoad, ...(await besideSilentZones(bench, silent ?? 0))];
  if (!printFigures(figures)) process.exitCode = 1;
});

function numbered(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${kind}-${n}.example`);
}

async function forgeriesUnderLoad(
  bench: Workbench,
  processes: number,
  forgeries: number,
): Promise<readonly Figure[]> {
  const domains = numbered('forged', forgeries);
  const honest = numbered('honest', HONEST_UNDER_LOAD);
  const scene = await startScene(bench, domains, honest);
  const mails = [...domains, ...honest];
  const busy = Array.from({ length: processes }, () =>
    spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }),
  );
  bench.onEnd('load', () => end(busy));
  const startedAt = timeOfDay();
  await inTurns(mails, (domain, n) => scene.send(domain, { signed: n % 2 === 1 }));
  const acceptedMs = timeOfDay() - startedAt;
  await waitUntil('all entries to settle', SETTLED_WITHIN_MS, async () => {
    await delay(500);
    const [held, delivered] = [await scene.settled('held'), await scene.settled('delivered')];
    return held + delivered >= mails.length ? true : undefined;
  });
  const settledMs = timeOfDay() - startedAt;
  await end(busy);
  const came = await scene.arrivals();
  return [
    {
      what: `of ${forgeries} forged mails under p=reject, delivered at a load of ${processes}`,
      value: domains.filter((domain) => came.has(domain)).length,
      atMost: 0,
    },
    {
      what: `of ${honest.length} mails that SPF confirms, delivered`,
      value: honest.filter((domain) => came.has(domain)).length,
      atLeast: honest.length,
    },
    { what: 'attempts that were put back', value: await scene.settled('queued') },
    { what: 'held because no check ended (alarms)', value: await scene.alarms() },
    { what: 'all acknowledged after, in s', value: acceptedMs / 1000 },
    { what: 'all settled after, in s', value: settledMs / 1000 },
  ];
}

async function besideSilentZones(bench: Workbench, zones: number): Promise<readonly Figure[]> {
  const slow = numbered('silent', zones);
  const first = numbered('first', HONEST);
  const [before, beside] = [numbered('before', HONEST), numbered('beside', HONEST)];
  const scene = await startScene(bench, [], [...first, ...before, ...beside]);
  const sendEvenly = async (domains: readonly string[]) => {
    const acknowledged = new Map<string, number>();
    for (const domain of domains) {
      await scene.send(domain);
      acknowledged.set(domain, timeOfDay());
      await delay(HONEST_EVERY_MS);
    }
    const came = await waitUntil('the mails of other domains', 60_000, async () => {
      const arrivals = await scene.arrivals();
      return domains.every((domain) => arrivals.has(domain)) ? arrivals : undefined;
    });
    return Math.max(
      ...domains.map((domain) => (came.get(domain) ?? 0) - (acknowledged.get(domain) ?? 0)),
    );
  };
  // The thread that checks senders is started with the first mail.
  await sendEvenly(first);
  const aloneMs = await sendEvenly(before);
  const sending = inTurns(slow, (domain) => scene.send(domain));
  const besideMs = await sendEvenly(beside);
  await sending;
  const allCame = await waitUntil('the mails of silent zones', 60_000, async () => {
    const arrivals = await scene.arrivals();
    return slow.every((domain) => arrivals.has(domain)) ? slow.length : undefined;
  });
  return [
    { what: 'slowest of 40 mails, alone, in ms', value: aloneMs },
    { what: `slowest of 40 mails beside ${zones} of silent zones, in ms`, value: besideMs },
    { what: 'later by, in ms', value: besideMs - aloneMs, atMost: LATER_BY_MS },
    { what: 'mails of silent zones, delivered in the end', value: allCame, atLeast: zones },
  ];
}

interface Scene {
  send(domain: string, how?: { readonly signed: boolean }): Promise<void>;
  /** When the mail of each domain came to the platform. */
  arrivals(): Promise<ReadonlyMap<string, number>>;
  settled(outcome: string): Promise<number>;
  alarms(): Promise<number>;
}

async function startScene(
  bench: Workbench,
  forgedDomains: readonly string[],
  honestDomains: readonly string[],
): Promise<Scene> {
  const dns = await DnsServer.start(
    Object.fromEntries([
      ...forgedDomains.flatMap((domain): [string, string[]][] => [
        [`_dmarc.${domain} TXT`, ['v=DMARC1; p=reject']],
        [`${domain} TXT`, ['v=spf1 ip4:192.0.2.1 -all']],
        [`s1._domainkey.${domain} TXT`, [`v=DKIM1; k=rsa; p=${KEY}`]],
      ]),
      ...honestDomains.flatMap((domain): [string, string[]][] => [
        [`_dmarc.${domain} TXT`, ['v=DMARC1; p=reject']],
        [`${domain} TXT`, ['v=spf1 ip4:127.0.0.1 -all']],
      ]),
    ]),
  );
  dns.silentTo = (question) => question.includes('silent-');
  bench.onEnd('name server', () => dns.stop());
  const file = new URL('./platform/fast-platform.ts', import.meta.url);
  const platform = await bench.part<typeof FastPlatform>(file, { hashMedia: false });
  const gateway = await startGateway(bench, {
    ...{ platformUrl: await platform.call('url'), paused: false },
    ...{ nameServer: dns.address, strangers: true },
  });
  const idle: SmtpSession[] = [];
  return {
    async send(domain, { signed } = { signed: false }) {
      const session = idle.pop() ?? (await SmtpSession.open(gateway.smtpPort));
      await session.send(`ann@${domain}`, [Buffer.from(mailOf(domain, signed))]);
      idle.push(session);
    },
    arrivals: async () =>
      new Map(
        (await platform.call('submitted')).map(({ remoteId, at }) => [
          remoteId.slice(remoteId.indexOf('@') + 1, -1),
          at,
        ]),
      ),
    settled: (outcome) => metric(gateway, 'sluice_settled_total', `outcome="${outcome}"`),
    alarms: () => metric(gateway, 'sluice_alarms_total', 'alarm="sender_not_checked"'),
  };
}

function mailOf(domain: string, signed: boolean): string {
  const body = `Hello from ${domain}\r\n`;
  const bodyHash = createHash('sha256').update(body).digest('base64');
  const signature = `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=s1; h=from; bh=${bodyHash}; b=AAAA\r\n`;
  return `${signed ? signature : ''}From: ann@${domain}\r\nMessage-ID: <1@${domain}>\r\nSubject: Hello\r\n\r\n${body}`;
}

/** The sum of the samples with this label. */
async function metric(gateway: Gateway, name: string, label: string): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  const lines = (await answer.text()).split('\n');
  return lines
    .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** A few at a time. */
async function inTurns(
  domains: readonly string[],
  send: (domain: string, n: number) => Promise<void>,
): Promise<void> {
  const left = [...domains.entries()];
  const worker = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      await send(next[1], next[0]);
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, worker));
}

async function end(processes: readonly ChildProcess[]): Promise<void> {
  const left = processes.filter(({ exitCode, signalCode }) => exitCode === null && !signalCode);
  const ended = left.map((each) => once(each, 'exit'));
  for (const each of left) each.kill('SIGKILL');
  await Promise.all(ended);
}
