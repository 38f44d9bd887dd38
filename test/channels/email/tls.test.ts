import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openTls, type TlsMaterial, TlsUnusable } from '../../../src/channels/email/tls.ts';
import { type LogFields, silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { SetUpUnusable } from '../../../src/domain/trouble.ts';
import { openDoor } from '../../support/email-door.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

let dir: ReturnType<typeof tempDir>;
let metrics = createMetrics();
const opened: TlsMaterial[] = [];
const logged: [string, LogFields | undefined][] = [];
const log = (event: string, fields?: LogFields) => void logged.push([event, fields]);
const logger = { ...silentLogger, warn: log, error: log };

const open = async (options: {
  dataDir?: string;
  hostname?: string;
  files?: { cert: string; key: string };
  awaitMs?: number;
}): Promise<TlsMaterial> => {
  const own = { dataDir: dir.path, hostname: 'mx.acme.example', checkEveryMs: 10, awaitMs: 0 };
  const material = await openTls({ ...own, ...options }, { logger, metrics });
  opened.push(material);
  return material;
};

beforeEach(() => {
  dir = tempDir();
  metrics = createMetrics();
  logged.length = 0;
});

afterEach(() => {
  for (const material of opened.splice(0)) material.close();
  dir.remove();
});

/** Certificate and key of another name, as files. */
async function pair(name: string): Promise<{ cert: string; key: string }> {
  const folder = join(dir.path, name);
  mkdirSync(folder);
  const { cert, key } = (await open({ dataDir: folder, hostname: name })).current();
  writeFileSync(join(folder, 'cert.pem'), cert);
  writeFileSync(join(folder, 'key.pem'), key);
  return { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
}

describe('without a configured certificate', () => {
  test('a self-signed one for our name is made, readable to us alone, and kept', async () => {
    const { cert } = (await open({})).current();
    const parsed = new X509Certificate(cert);
    expect(parsed.checkHost('mx.acme.example')).toBe('mx.acme.example');
    expect(Date.parse(parsed.validTo)).toBeGreaterThan(Date.now());
    expect(statSync(join(dir.path, 'smtp-self-signed.pem')).mode & 0o777).toBe(0o600);
    expect((await open({})).current().cert).toBe(cert);
  });

  test('one for a name that is no longer ours is made anew', async () => {
    await open({ hostname: 'localhost' });
    const { cert } = (await open({})).current();
    expect(new X509Certificate(cert).checkHost('mx.acme.example')).toBe('mx.acme.example');
    expect((await open({})).current().cert).toBe(cert);
  });

  test('a damaged one is made anew', async () => {
    writeFileSync(join(dir.path, 'smtp-self-signed.pem'), 'damaged');
    const { cert } = (await open({})).current();
    expect(() => new X509Certificate(cert)).not.toThrow();
    expect(readFileSync(join(dir.path, 'smtp-self-signed.pem'), 'utf8')).toContain(cert);
  });
});

describe('configured files', () => {
  test('are presented', async () => {
    const files = await pair('a.example');
    expect((await open({ files })).current().cert).toBe(readFileSync(files.cert, 'utf8'));
  });

  test('that cannot be used are refused at start', async () => {
    const [a, b] = [await pair('a.example'), await pair('b.example')];
    const mixed = open({ files: { cert: a.cert, key: b.key } });
    await expect(mixed).rejects.toThrow(TlsUnusable);
    // These are printed without a stack.
    await expect(mixed).rejects.toThrow(SetUpUnusable);
    await expect(mixed).rejects.toThrow(
      `smtp.tls.key (${b.key}): the key of another certificate. To do: name the key`,
    );
    // A path that is wrong is not waited for.
    await expect(open({ files: { ...a, key: '/nowhere' }, awaitMs: 3_600_000 })).rejects.toThrow(
      'smtp.tls.key (/nowhere): the file cannot be read (ENOENT)',
    );
  });

  test('that do not belong together at a start are read again until they do', async () => {
    const [a, b] = [await pair('a.example'), await pair('b.example')];
    const files = { cert: a.cert, key: b.key };
    const opening = open({ files, awaitMs: 30_000 });
    await waitFor('the first try', () => logged.length > 0);
    writeFileSync(b.key, readFileSync(a.key));
    expect((await opening).current().key).toBe(readFileSync(a.key, 'utf8'));
    expect(logged).toEqual([
      ['smtp.tls_awaited', { found: expect.stringMatching(/^smtp\.tls\.key /), awaitMs: 30_000 }],
    ]);
  });

  test('that stay unusable after a change raise one alarm, and the pair in use stays', async () => {
    const [a, b] = [await pair('a.example'), await pair('b.example')];
    const material = await open({ files: a });
    const before = material.current();
    const alarms = async () => (await metrics.alarms.get()).values;
    writeFileSync(a.cert, readFileSync(b.cert));
    await waitFor('the alarm', async () => (await alarms()).length > 0);
    expect(material.current()).toBe(before);
    expect(material.trouble()?.found).toBe(
      `smtp.tls.key (${a.key}): the key of another certificate`,
    );
    writeFileSync(a.key, readFileSync(b.key));
    await waitFor('the change', () => material.current() !== before);
    expect(material.trouble()).toBeUndefined();
    expect(await alarms()).toMatchObject([{ labels: { alarm: 'certificate_unusable' }, value: 1 }]);
    expect(logged).toEqual([
      [
        'smtp.tls_not_reloaded',
        { error: 'TlsUnusable', found: expect.stringMatching(/another certificate/) },
      ],
    ]);
  });

  test('are taken up when both have changed, and not when only one has', async () => {
    const [a, b] = [await pair('a.example'), await pair('b.example')];
    const material = await open({ files: a });
    const before = material.current().cert;
    const changes: string[] = [];
    material.onChange(({ cert }) => changes.push(cert));
    writeFileSync(a.cert, readFileSync(b.cert));
    // Certificate and key do not belong together yet.
    await expect(open({ files: a })).rejects.toThrow(TlsUnusable);
    expect(material.current().cert).toBe(before);
    writeFileSync(a.key, readFileSync(b.key));
    await waitFor('the change', () => changes.length > 0);
    expect(changes).toEqual([readFileSync(b.cert, 'utf8')]);
    expect(material.current().cert).toBe(changes[0]);
  });

  test('that change are what the next STARTTLS presents', async () => {
    const [a, b] = [await pair('a.example'), await pair('b.example')];
    const material = await open({ files: a });
    const changed = await openDoor({ parts: () => ({ tls: material }) });
    const presented = async (): Promise<string> => {
      const client = await changed.greeted();
      await client.say('EHLO client.example');
      await client.say('STARTTLS');
      const secure = await client.startTls();
      const { CN } = secure.getPeerCertificate().subject;
      client.destroy();
      return String(CN);
    };
    expect(await presented()).toBe('a.example');
    writeFileSync(a.cert, readFileSync(b.cert));
    writeFileSync(a.key, readFileSync(b.key));
    await waitFor('the reload', () =>
      changed.lines.some(({ event }) => event === 'smtp.tls_reloaded'),
    );
    expect(await presented()).toBe('b.example');
    await changed.close();
  });
});
