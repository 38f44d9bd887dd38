import { spawn } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { completeConfig } from '../../../src/config/complete.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import type { Message } from '../../../src/platform-api/resources.ts';
import { ends } from '../../support/ends.ts';
import { freePorts } from '../../support/gateway-config.ts';
import { anEmail, create, newFolder } from '../../local-platform/harness.ts';
import { BadServer } from '../../platform-api/bad-server.ts';
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

/** Runs a line whose output another program reads, and resolves with the code of the first. */
async function piped(line: string, reader: string, dir: string): Promise<Ran> {
  const file = join(dir, 'code');
  const ran = await shell(`{ ${line}; echo $? > "${file}"; } | ${reader}`, it.file);
  return { ...ran, code: Number(readFileSync(file, 'utf8')) };
}

/** A platform that counts the bytes of each upload. */
async function uploadServer(): Promise<{ readonly url: string; readonly uploads: number[] }> {
  const server = new BadServer();
  const uploads: number[] = [];
  server.raw = (request, response) => {
    let bytes = 0;
    request.on('error', () => response.destroy());
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      uploads.push(bytes);
      response.writeHead(201).end(`{"id":"m${uploads.length}"}`);
    });
  };
  ends(() => server.stop());
  return { url: await server.start(), uploads };
}

describe('a reader that goes', () => {
  test(
    'ends a list, quietly',
    async () => {
      const content = 'long '.repeat(2000);
      const bodies = Array.from({ length: 120 }, () => anEmail({ message: { content } }));
      await Promise.all(bodies.map((body) => create(it.platform, body)));
      const line = 'sluice platform messages list --all --json --limit 20';
      const { code, stdout, stderr } = await piped(line, 'head -n 1', it.dir);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({ role: 'customer' });
    },
    TIMEOUT_MS,
  );

  test.each(['head -n 1', 'true'])(
    'does not cut uploads off: | %s',
    async (reader) => {
      const { url, uploads } = await uploadServer();
      const paths = ['a', 'b', 'c', 'd'].map((name) => join(it.dir, name));
      for (const path of paths) writeFileSync(path, path);
      const files = paths.map((path) => `"${path}"`).join(' ');
      const line = `sluice platform media upload ${files} --url ${url}`;
      const { code, stderr } = await piped(line, reader, it.dir);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(uploads).toHaveLength(4);
    },
    TIMEOUT_MS,
  );

  test.each([
    ['sluice platform --help', 0],
    ['sluice serve --help', 0],
    ['sluice --version', 0],
    // Standard error goes to nobody too.
    ['sluice platform tickets lits 2>&1', 2],
    ['sluice platform tickets count --url http://127.0.0.1:9 2>&1', 1],
  ])(
    'changes no exit code: %s',
    async (line, code) => {
      // It has gone before the program begins.
      expect(await piped(line, 'true', it.dir)).toEqual({ code, stdout: '', stderr: '' });
    },
    TIMEOUT_MS,
  );
});

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
  'a file larger than all its memory is uploaded',
  async () => {
    const { url, uploads } = await uploadServer();
    const size = 500_000_000;
    const path = join(it.dir, 'large.bin');
    writeFileSync(path, '');
    // No blocks on the disk.
    truncateSync(path, size);
    const line = `sluice platform media upload "${path}" --url ${url} --timeout 170s --json`;
    const env = { NODE_OPTIONS: `--max-old-space-size=64 --import ${PEAK}` };
    const { code, stdout, stderr } = await shell(line, it.file, { env });
    expect({ code, records: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      records: [{ id: 'm1' }],
    });
    expect(uploads).toHaveLength(1);
    expect(uploads[0]).toBeGreaterThan(size);
    // What has been read waits for the garbage collector: half of it is far above that.
    expect(Number(/^peak: (\d+)$/m.exec(stderr)?.[1]) * 1024).toBeLessThan(size / 2);
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
