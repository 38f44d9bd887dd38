import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ends } from '../support/ends.ts';
import { freePorts, ownLoopbackAddress } from '../support/gateway-config.ts';
import { certificateFor } from '../support/doctor-scene.ts';
import { GatewayProcess } from '../support/gateway-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

test.each([
  ['says where it listens', [], 'pretty'],
  ['says only what is in the log, with --quiet', ['--quiet'], 'pretty'],
  ['says everything as JSON, with a log for programs', [], 'json'],
])('a shop in environment variables is served without a file; %s', async (_what, args, format) => {
  const dir = tempDir();
  ends(() => dir.remove());
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const gateway = new GatewayProcess({
    ...{ host, ports, program: [MAIN, ...args] },
    // No file.
    configFile: '',
    env: {
      SLUICE_DATA_DIR: dir.path,
      SLUICE_LOG_FORMAT: format,
      SLUICE_SMTP_HOSTNAME: 'localhost',
      SLUICE_PLATFORM_URL: 'https://platform.example',
      SLUICE_SMTP_HOST: host,
      SLUICE_SMTP_PORT: String(ports.smtp),
      SLUICE_HTTP_HOST: host,
      SLUICE_HTTP_PORT: String(ports.http),
      SLUICE_ADMIN_HOST: host,
      SLUICE_ADMIN_PORT: String(ports.admin),
      SLUICE_ADMIN_PASSWORD: 'of-the-console',
      SLUICE_LOCAL_PLATFORM_PORT: '0',
      SLUICE_SHOP_NAME: 'acme',
      SLUICE_SHOP_ID: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
      SLUICE_SHOP_API_KEY: 'key-of-acme',
      SLUICE_SHOP_EMAIL_ADDRESSES: 'support@acme.example',
      SLUICE_SHOP_SMS_NUMBERS: '+12025550142',
      SLUICE_SHOP_SMS_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
      SLUICE_SHOP_SMS_AUTH_TOKENS: 'a-token',
      SLUICE_SHOP_CHAT_KEY: 'acme',
      SLUICE_SHOP_CHAT_ALLOW_NO_ORIGIN: 'true',
    },
  });
  ends(() => gateway.kill());
  await gateway.ready({ host, ports });
  await gateway.terminate();
  const { output, log } = gateway;
  const isShown = format === 'pretty' && args.length === 0;
  expect(output.includes('Sluice is ready')).toBe(isShown);
  if (isShown) expect(output).toMatch(/email .*support@acme\.example/);
  const warning = expect.stringContaining('smtp.hostname is localhost: set it');
  if (format === 'json') {
    expect(output.split('\n').filter((line) => !line.startsWith('{'))).toEqual(['']);
    expect(log).toContainEqual(expect.objectContaining({ message: 'config.warning', warning }));
    expect(log.map(({ message }) => message)).toContain('gateway.ready');
  } else {
    expect(output).toContain('warning: smtp.hostname is localhost: set it');
    expect(output).toContain('gateway.ready');
  }
});

test('a certificate that has expired is a warning at the start, with what to do', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const { cert, key } = await certificateFor(new Date(2024, 0, 1), new Date(2024, 5, 1, 12));
  const files = { cert: join(dir.path, 'crt.pem'), key: join(dir.path, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const gateway = new GatewayProcess({
    ...{ host, ports, program: [MAIN] },
    configFile: '',
    env: {
      SLUICE_DATA_DIR: join(dir.path, 'data'),
      SLUICE_SMTP_HOST: host,
      SLUICE_SMTP_PORT: String(ports.smtp),
      SLUICE_SMTP_HOSTNAME: 'mx.acme.example',
      SLUICE_SMTP_TLS_CERT: files.cert,
      SLUICE_SMTP_TLS_KEY: files.key,
      SLUICE_HTTP_HOST: host,
      SLUICE_HTTP_PORT: String(ports.http),
      SLUICE_ADMIN_HOST: host,
      SLUICE_ADMIN_PORT: String(ports.admin),
      SLUICE_LOCAL_PLATFORM_PORT: '0',
    },
  });
  ends(() => gateway.kill());
  await gateway.ready({ host, ports });
  expect(gateway.output).toContain(
    'warning: smtp.tls.cert: expired on 2024-06-01; renew it; a changed file is loaded without a restart',
  );
  await gateway.terminate();
});
