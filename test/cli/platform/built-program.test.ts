import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { completeConfig } from '../../../src/config/complete.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createGateway } from '../../../src/gateway.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import type { MediaRecord, Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { freePorts } from '../../support/gateway-config.ts';
import { anEmail, create, newFolder } from '../../local-platform/harness.ts';
import { type Ran, setting, type Setting } from './harness.ts';

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const DOCUMENT = new URL('../../../docs/client.md', import.meta.url);
const PEAK = new URL('peak-memory.mjs', import.meta.url).href;
/** Processes of their own, on a machine that may be busy. */
const TIMEOUT_MS = 180_000;

interface How {
  readonly input?: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

/** Runs a line in a shell, in which `sluice` is the built program. */
async function shell(line: string, file: string, how: How = {}): Promise<Ran> {
  const { input = '', env = {}, cwd } = how;
  const child = spawn('sh', ['-c', `sluice() { "$NODE" "$MAIN" "$@"; }\n${line}`], {
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env['PATH'], NODE: process.execPath, MAIN, SLUICE_CONFIG: file, ...env },
  });
  ends(() => child.kill());
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const closed = new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? -1));
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    closed,
  ]);
  return { code, stdout, stderr };
}

let it: Setting;
beforeEach(async () => {
  it = await setting();
});

test(
  'a reader that goes ends it quietly',
  async () => {
    const content = 'long '.repeat(2000);
    const bodies = Array.from({ length: 120 }, () => anEmail({ message: { content } }));
    await Promise.all(bodies.map((body) => create(it.platform, body)));
    const line = 'sluice platform messages list --all --json --limit 20 | head -n 1';
    const { code, stdout, stderr } = await shell(line, it.file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ role: 'customer' });
  },
  TIMEOUT_MS,
);

test(
  'text from a pipe; times in the local zone; a failure without a stack trace',
  async () => {
    const line =
      'sluice platform messages create --type web_chat --content - ' +
      '--timestamp 2026-04-30T12:00 --json';
    const zone = { env: { TZ: 'America/New_York' } };
    const { stdout } = await shell(line, it.file, { input: 'Grüße\nfrom a pipe\n', ...zone });
    const { message } = JSON.parse(stdout) as { message: Message };
    expect(message).toMatchObject({
      content: 'Grüße\nfrom a pipe',
      created_at: '2026-04-30T16:00:00.000Z',
    });
    const table = await shell('sluice platform messages list', it.file, zone);
    expect(table.stdout).toContain('2026-04-30 12:00');
    await it.platform.stop();
    const failed = await shell('sluice platform tickets count', it.file);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toMatch(/^nothing listens at [\d.:]+; .*\n$/);
  },
  TIMEOUT_MS,
);

test(
  'a large file is uploaded in little memory',
  async () => {
    const upload = async (size: number) => {
      const path = join(it.dir, `${size}.bin`);
      const file = openSync(path, 'w');
      for (let at = 0; at < size; at += 1_000_000) writeFileSync(file, Buffer.alloc(1_000_000, at));
      closeSync(file);
      const line = `sluice platform media upload "${path}" --private --json`;
      const env = { NODE_OPTIONS: `--import ${PEAK}` };
      const { code, stdout, stderr } = await shell(line, it.file, { env });
      expect(code).toBe(0);
      const [record] = JSON.parse(stdout) as MediaRecord[];
      return { record, peakKiB: Number(/^peak: (\d+)$/m.exec(stderr)?.[1]) };
    };
    const large = await upload(30_000_000);
    const larger = await upload(90_000_000);
    const answer = await fetch(larger.record?.url ?? '');
    expect(answer.headers.get('content-length')).toBe('90000000');
    await answer.body?.cancel();
    // Of three times as much, it holds no more: what there is waits for the garbage collector.
    expect(larger.peakKiB - large.peakKiB).toBeLessThan(30_000);
  },
  TIMEOUT_MS,
);

test(
  'the lines of the documentation',
  async () => {
    const { body } = await create(it.platform, anEmail());
    for (const name of ['question.txt', 'lamp.jpg', 'invoice.pdf']) {
      writeFileSync(join(it.dir, name), `this is ${name}\n`);
    }
    const [, lines = ''] = /```sh\n(.*?)```/s.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
    expect(lines.match(/^sluice platform /gm)).toHaveLength(9);
    // The first id in them is a ticket's, the second a conversation's; the days are long ago.
    const ids = [body.ticket_id, body.conversation_id];
    const real = lines.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, () => String(ids.shift()));
    const { code, stdout, stderr } = await shell(`set -e\n${real}`, it.file, { cwd: it.dir });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('No tickets.');
    expect(stdout.match(/^created:$/gm)).toHaveLength(2);
    expect(stdout).toContain('recorded for contact');
  },
  TIMEOUT_MS,
);

describe('beside a gateway that is not configured', () => {
  test(
    'it is the demo shop on the local platform',
    async () => {
      const dataDir = join(newFolder(), 'data');
      const host = '127.0.0.1';
      const { http, admin, smtp } = await freePorts(host);
      const file = join(it.dir, 'demo.json');
      const config = {
        dataDir,
        smtp: { enabled: false },
        http: { host, port: http, publicUrl: `http://${host}:${http}` },
        admin: { host, port: admin },
        localPlatform: { port: smtp },
      };
      writeFileSync(file, JSON.stringify(config));
      const loaded = loadConfig({ file, env: {} });
      if (!loaded.ok) throw new Error('not valid');
      const complete = await completeConfig(loaded.config);
      const gateway = createGateway({ config: complete, logger: silentLogger });
      ends(() => gateway.stop());
      await gateway.start();
      const line =
        'sluice platform messages create --type email --email ann@customer.example ' +
        '--content "How can I pay?" && sluice platform tickets count';
      const { code, stdout } = await shell(line, file);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^created:\n(?: {2}.*\n)+1\n$/);
    },
    TIMEOUT_MS,
  );
});
