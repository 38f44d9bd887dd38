import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Entry } from '../../src/spool/entry.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { ends } from '../support/ends.ts';
import { type RunningGateway, startGateway, writeConfig } from '../support/running-gateway.ts';
import { type Answer, ScriptedPlatform } from '../support/scripted-platform.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { entriesOf, waitForEntries } from '../support/spool-beside.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

let dataDir: string;
let file: string;
let platform: ScriptedPlatform;
let platformUrl: string;
let gateway: RunningGateway;

beforeEach(async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  dataDir = dir.path;
  platform = new ScriptedPlatform();
  ends(() => platform.stop());
  platformUrl = await platform.start();
  gateway = await startGateway({ dataDir, platformUrl });
  ends(() => gateway.stop());
  file = writeConfig({ dataDir, platformUrl });
});

const sluice = (...args: string[]) => sluiceHere([...args, '--config', file]);
const shops = async () => (await sluice('shops')).stdout;
/** What the command prints once it fits: while the shop is being tried, its message is not queued. */
const betweenTries = (fits: RegExp, ...args: string[]) =>
  waitFor(
    'the time between two tries',
    async () => {
      const { stdout } = await sluice(...args);
      return fits.test(stdout) && stdout;
    },
    50,
  );
const parsed = (text: string): unknown => JSON.parse(text);

/** Each of a person of its own, so that none waits for another. */
const text = (n: number, body = `Text ${n}`) =>
  sendSms(gateway.httpUrl, {
    ...{ MessageSid: sidOf(`text ${n}`), From: `+1202555${1000 + n}`, Body: body },
  });

async function entryIn(state: string): Promise<Entry> {
  return waitForEntries(dataDir, `a ${state} entry`, (entries) =>
    entries.find((entry) => entry.state === state),
  );
}

const all = (answer: Answer) => () => answer;
const refused = (words: string): Answer => ({
  status: 422,
  body: { error: { code: 'invalid', message: words, fields: { 'message.content': words } } },
});

async function delivered(count: number): Promise<void> {
  await waitForEntries(
    dataDir,
    `${count} deliveries`,
    (entries) => entries.filter(({ state }) => state === 'delivered').length >= count,
  );
}

/** When the entry that fails is tried again, once it has failed so often. */
const nextAttempt = (failures: number): Promise<number> =>
  waitForEntries(
    dataDir,
    `failure ${failures}`,
    (entries) =>
      entries.find((entry) => entry.state === 'queued' && entry.failures >= failures)
        ?.nextAttemptAt,
  );

/** The gateway tells twice a second. */
const flows = () =>
  waitFor('it to flow', async () => /^acme +messages +flows/m.test(await shops()), 100);

async function stopped(): Promise<void> {
  await text(0);
  await delivered(1);
  // A read that worked is remembered; then the key is refused, for reads as well.
  await waitFor('a read', () => platform.of('GET /contacts/').length > 0);
  platform.script = all({ status: 401, body: { detail: 'the key of acme has expired' } });
  await text(1);
  await waitFor(
    'it to be stopped',
    async () => (await shops()).includes('stopped (reads fail)'),
    100,
  );
}

describe('a shop that flows', () => {
  test('is said to, with what waits and when it last delivered', async () => {
    await text(0);
    await delivered(1);
    const told = await waitFor(
      'the gateway to tell',
      async () => /acme +messages +flows +0 +\d{4}-/.test(await shops()) && shops(),
      50,
    );
    expect(told).toMatch(/^shop +of +state +since +next try +waiting +delivered$/m);
    expect(told).toMatch(/^acme +attachments +flows$/m);
    expect(told).not.toContain('No gateway is running');
  });

  test('sends at once what waits for its next attempt when it is tried', async () => {
    await text(0);
    await delivered(1);
    platform.script = ({ body }) => (body.includes('Disliked') ? { status: 503 } : undefined);
    await text(1, 'Disliked');
    await text(2);
    await delivered(2);
    // Its fourth attempt is minutes away, when others are delivered after each.
    let n = 3;
    for (let failures = 1; (await nextAttempt(failures)) < Date.now() + 10_000; failures += 1) {
      await text(n);
      await delivered(n);
      n += 1;
    }
    // Its latest failure is no matter of the shop's any more.
    await text(n);
    await delivered(n);
    await flows();
    platform.script = () => undefined;
    const { code, stdout } = await sluice('shops', 'try', 'acme');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'acme: messages flow; 1 waiting message is sent now\n',
    });
    await waitForEntries(dataDir, 'nothing to wait', (entries) =>
      entries.every(({ state }) => state === 'delivered'),
    );
  });
});

describe('a shop that is stopped', () => {
  test('tells why in the platform’s words, since when, and the next try', async () => {
    await stopped();
    const told = await betweenTries(
      /^acme +messages +stopped \(reads fail\) +2\d{3}-\S+ \S+ +2\d{3}-.* 1 [^]*^Deliveries of acme are stopped: /m,
      'shops',
    );
    expect(told).toMatch(
      /^Deliveries of acme are stopped: API key refused \(401\), since .* The platform says: .*key of acme has expired/m,
    );
    const [shop] = parsed(
      await betweenTries(/"queued": 1,[^]*"state": "stopped/, 'shops', '--json'),
    ) as object[];
    expect(shop).toMatchObject({
      ...{ shop: 'acme', gatewayRuns: true, queued: 1, refusedAlike: [] },
      messages: { state: 'stopped (reads fail)', reason: expect.stringContaining('401') },
      media: { state: 'flows' },
    });
  });

  test('is tried at once, and the result is printed: it still fails, then it is delivered', async () => {
    await stopped();
    const failed = await sluice('shops', 'try', 'acme');
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toMatch(
      /^acme: deliveries still fail: the platform answered 401 .*has expired.*; next attempt in \d+s\n$/,
    );
    platform.script = () => undefined;
    const worked = await sluice('shops', 'try', 'acme');
    expect(worked).toMatchObject({ code: 0, stdout: expect.stringMatching(/^acme: delivered; /) });
    await delivered(2);
    await flows();
    const { stdout } = await sluice('audit', '--json');
    const outcomes = (parsed(stdout) as { action: string; target: string; outcome: string }[])
      .filter(({ action }) => action === 'try')
      .map(({ target, outcome }) => `${target}: ${outcome}`);
    expect(outcomes).toEqual(['acme: delivered', 'acme: failed']);
  });

  test('says that nothing was tried when nothing waits', async () => {
    platform.script = ({ method }) => (method === 'POST' ? { status: 503 } : undefined);
    await text(0);
    const { id } = await waitForEntries(dataDir, 'a failure', (entries) =>
      entries.find(({ failures }) => failures > 0),
    );
    await waitFor('doubt', async () => /in doubt|being tried/.test(await shops()), 50);
    await waitFor('the discard', async () => (await sluice('queue', 'discard', id)).code === 0, 50);
    expect(await sluice('shops', 'try', 'acme')).toMatchObject({
      code: 0,
      stdout: 'acme: no message is waiting, so nothing was tried\n',
    });
  });

  test('is told as it was last known once the gateway has ended', async () => {
    await stopped();
    await gateway.stop();
    const told = await shops();
    expect(told).toMatch(/^acme +messages +stopped \(reads fail\)/m);
    expect(told).toContain('No gateway is running on this data folder');
    expect(await sluice('shops', 'try', 'acme')).toMatchObject({
      code: 1,
      stderr: 'no gateway is running on this data folder; the shop is tried when one starts\n',
    });
    const { stdout } = await sluice('shops', 'try', 'acme', '--json');
    expect(parsed(stdout)).toEqual({ shop: 'acme', outcome: 'not_tried' });
  });
});

test('a refusal that many messages got is told with its words and how many', async () => {
  platform.script = ({ method, path }) =>
    method === 'POST' && path.startsWith('/messages/') ? refused('Dear Ann, no') : undefined;
  for (let n = 0; n < 6; n += 1) await text(n);
  const line = await waitFor(
    'the refusal',
    async () => /^The platform has refused \d+ messages of acme.*$/m.exec(await shops())?.[0],
    50,
  );
  expect(line).toMatch(
    / with the same error \(422 invalid message\.content\), since 2\d{3}-\S+ \S+ UTC\.$/,
  );
  expect(line).not.toContain('Ann');
});

test('a shop that is not configured is named, with the nearest that is', async () => {
  expect(await sluice('shops', 'try', 'acne')).toMatchObject({
    code: 2,
    stderr: 'there is no shop acne; did you mean acme?\n',
  });
});

describe('a retry beside a gateway', () => {
  const deadOne = async () => {
    platform.script = ({ method, path }) =>
      method === 'POST' && path.startsWith('/messages/') ? refused('not like this') : undefined;
    await text(0);
    return entryIn('dead');
  };

  test('says that the message was delivered', async () => {
    const { id } = await deadOne();
    platform.script = () => undefined;
    expect(await sluice('queue', 'retry', id)).toMatchObject({
      code: 0,
      stdout: `${id}: delivered\n`,
    });
  });

  test('says why it is dead again, in the platform’s words', async () => {
    const { id } = await deadOne();
    const { stdout } = await sluice('queue', 'retry', id);
    expect(stdout).toMatch(new RegExp(`^${id}: dead: the platform answered 422 .*not like this`));
    const [told] = parsed((await sluice('queue', 'retry', id, '--json')).stdout) as object[];
    expect(told).toMatchObject({
      ...{ id, ok: true, result: 'retried now', state: 'dead', tried: true },
      reason: expect.stringContaining('not like this'),
    });
  });

  test('says that it still waits, and why', async () => {
    const { id } = await deadOne();
    platform.script = ({ method }) =>
      method === 'POST' ? { status: 503, body: { detail: 'in maintenance' } } : undefined;
    const { code, stdout } = await sluice('queue', 'retry', id);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      new RegExp(`^${id}: still queued: the platform answered 503 .*in maintenance`),
    );
  });

  test('does not wait when it is told not to, and keeps the last reason', async () => {
    const { id } = await deadOne();
    platform.script = all('hang');
    const { stdout } = await sluice('queue', 'retry', id, '--no-wait');
    expect(stdout).toBe(`${id}: retried now\n`);
    const kept = (await entriesOf(dataDir)).find((entry) => entry.id === id);
    expect(kept?.reason).toMatchObject({ code: 'platform_answered', params: { status: 422 } });
    await platform.stop();
  });

  test('has a shop that is stopped tried at once', async () => {
    await stopped();
    // No further probe comes by itself for minutes.
    platform.script = all({ status: 503, headers: { 'retry-after': '3600' } });
    await waitFor(
      'the last probe',
      async () => {
        const { next } =
          /^acme +messages +stopped .*? {2}\S+ \S+ {2}(?<next>\S+ \S+)/m.exec(await shops())
            ?.groups ?? {};
        return Date.parse(`${next}Z`) > Date.now() + 120_000;
      },
      100,
    );
    const { id } = await entryIn('queued');
    platform.script = () => undefined;
    expect(await sluice('queue', 'retry', id)).toMatchObject({
      stdout: `${id}: delivered\n`,
    });
    await flows();
  });

  test('by a filter asks for a try of the shops, and does not wait', async () => {
    await text(0);
    await delivered(1);
    // No probe comes by itself for an hour.
    platform.script = all({ status: 503, headers: { 'retry-after': '3600' } });
    await text(1);
    await waitFor('it to wait', async () => (await entryIn('queued')).failures > 0, 50);
    platform.script = () => undefined;
    const { stdout } = await sluice(
      ...['queue', 'retry', '--all', '--state', 'queued', '--shop', 'acme', '--yes'],
    );
    expect(stdout).toMatch(/^ +1 {2}retried now/);
    await delivered(2);
  });
});
