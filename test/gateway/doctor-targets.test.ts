import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { completeConfig } from '../../src/config/complete.ts';
import { Secret } from '../../src/config/secret.ts';
import { examine } from '../../src/operations/doctor/doctor.ts';
import { configSource } from '../../src/gateway/config-source.ts';
import { doctorTargets } from '../../src/gateway/doctor-targets.ts';
import { ends } from '../support/ends.ts';
import { writeConfig } from '../support/running-gateway.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a certificate that went away while the gateway runs is a finding, not an error', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const loaded = configSource({ file: writeConfig({ dataDir: dir.path }), env: {} }).load();
  if (!loaded.ok) throw new Error('a configuration with mistakes');
  const config = await completeConfig(loaded.config);
  const gone = join(dir.path, 'gone.pem');
  const withTls = { ...config, smtp: { ...config.smtp, tls: { cert: gone, key: gone } } };
  const patient = doctorTargets(withTls, withTls);
  const options = { fix: false, timeoutMs: 60_000, clock: Date.now };
  const [result] = await examine(patient, { ...options, only: ['certificate'] });
  expect(result).toMatchObject({ check: 'certificate', status: 'failed' });
});

test.each([
  ['a shop of the local platform with a chat and a relay', true, 'local', true],
  ['without a relay', false, 'local', false],
  ['of another platform', true, 'https://api.example', false],
])('links in emails, %s', async (_what, hasRelay, platformUrl, expected) => {
  const dir = tempDir();
  ends(() => dir.remove());
  const loaded = configSource({ file: writeConfig({ dataDir: dir.path }), env: {} }).load();
  if (!loaded.ok) throw new Error('a configuration with mistakes');
  const config = await completeConfig(loaded.config);
  const { relay: _relay, ...replies } = config.localPlatform.replies;
  const relay = new Secret('smtp://127.0.0.1');
  const changed = {
    ...config,
    shops: config.shops.map((shop) => ({ ...shop, platformUrl })),
    localPlatform: {
      ...config.localPlatform,
      replies: hasRelay ? { ...replies, relay } : replies,
    },
  };
  expect(doctorTargets(changed, changed)).toMatchObject({ mailsChatVisitors: expected });
});
