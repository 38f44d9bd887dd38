import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';
import { ends } from '../support/ends.ts';
import { tempDir } from '../support/temp-dir.ts';

const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
const [build = '', image = ''] = DOCKERFILE.split(/^# Run: .*$/m);

const portSchema = z.string().regex(/^(?:[\d.]+:)?\d+:\d+$/);
const gatewaySchema = z.looseObject({
  volumes: z.array(z.string()),
  ports: z.array(portSchema),
  stop_grace_period: z.string().regex(/^\d+s$/),
  environment: z.record(z.string(), z.string()).optional(),
});
const composeSchema = z.strictObject({
  services: z.strictObject({
    sluice: gatewaySchema,
    'gateway-1': gatewaySchema,
    'gateway-2': gatewaySchema,
    database: z.looseObject({ volumes: z.array(z.string()) }),
    nginx: z.looseObject({ volumes: z.array(z.string()), ports: z.array(portSchema) }),
  }),
  volumes: z.record(z.string(), z.unknown()),
});
const COMPOSE = readFileSync('compose.yaml', 'utf8');
const compose = composeSchema.parse(parse(COMPOSE, { merge: true }));

const loaded = loadConfig({ env: {} });
if (!loaded.ok) throw new Error('the defaults have mistakes');
const { smtp, http, admin } = loaded.config;

test('the Dockerfile has no mistake that a linter finds', () => {
  expect(
    validate(DOCKERFILE).map(({ message, range }) => ({ message, line: range.start.line })),
  ).toEqual([]);
});

test('what it copies from the checkout is there', () => {
  const sources = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files]) =>
    (files ?? '').split(' '),
  );
  expect(sources.length).toBeGreaterThan(5);
  expect(sources.filter((file) => !existsSync(file))).toEqual([]);
});

test('the image has no build tools, does not run as root, and shows its health', () => {
  expect(build).toContain('npm ci');
  expect(image).not.toMatch(/\bnpm\b|apt-get/);
  expect(image).toMatch(/^FROM node:\d+-bookworm-slim$/m);
  expect(image).toMatch(/^USER node$/m);
  expect(image).toMatch(new RegExp(`127\\.0\\.0\\.1:${admin.port}/healthz`));
});

test('ports are the same in the configuration, the image and compose', () => {
  const ports = [smtp.port, http.port, admin.port];
  expect(image).toMatch(new RegExp(`^EXPOSE ${ports.join(' ')}$`, 'm'));
  const inner = compose.services.sluice.ports.map((port) => Number(port.split(':').at(-1)));
  expect(inner).toEqual(ports);
});

test('compose keeps the data, publishes the console to loopback only, and waits for a stop', () => {
  const { volumes, ports, stop_grace_period: grace } = compose.services.sluice;
  expect(volumes).toContain('data:/data');
  expect(ports.find((port) => port.endsWith(`:${admin.port}`))).toMatch(/^127\.0\.0\.1:/);
  expect(Number.parseInt(grace, 10)).toBeGreaterThan(30);
});

test("the profile of several gateways has what the configuration and nginx's name", () => {
  const { nginx, database, ...gateways } = compose.services;
  const [, one, other] = Object.values(gateways);
  const mounted = [nginx, database, ...Object.values(gateways)].flatMap(({ volumes }) => volumes);
  for (const volume of mounted) {
    const [from = ''] = volume.split(':');
    expect([from, from.startsWith('.') ? existsSync(from) : from in compose.volumes]).toEqual([
      from,
      true,
    ]);
  }
  for (const name of ['gateway-1', 'gateway-2']) {
    expect(readFileSync('config/deploy/fleet/nginx.conf', 'utf8')).toContain(
      `server ${name}:${http.port}`,
    );
  }
  const values = {
    ...one?.environment,
    ...{ SLUICE_ADMIN_PASSWORD: 'a-long-password', PLATFORM_API_KEY: 'a-key-of-the-platform' },
    ...{ PLATFORM_URL: 'https://api.platform.example' },
    PLATFORM_SHOP_ID: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d40',
    SLUICE_SPOOL_URL: 'postgres://sluice:sluice@database/sluice',
  };
  expect(other?.environment).toEqual(one?.environment);
  const file = 'config/deploy/fleet/sluice.yaml';
  expect(loadConfig({ file, env: { ...values, SLUICE_CONFIG: file } })).toMatchObject({ ok: true });
  const published = [one, other].flatMap((gateway) => gateway?.ports ?? []);
  expect(new Set([...published, ...nginx.ports]).size).toBe(5);
});

describe('the password of the database', () => {
  const uses = [...COMPOSE.matchAll(/\$\{DATABASE_PASSWORD([^}]*)\}/g)].map(
    ([, rest = '']) => rest,
  );
  const command = /^:\?set it first: (.+)$/.exec(uses[0] ?? '')?.[1] ?? '';

  test('has no default: without it, compose refuses with the command that sets it', () => {
    expect(uses.length).toBeGreaterThan(1);
    expect(new Set(uses)).toEqual(new Set([`:?set it first: ${command}`]));
    // In a message, compose replaces variables too.
    expect(command).not.toMatch(/[$'{}]/);
  });

  test('is set by that command, and can stand in a URL', () => {
    const dir = tempDir();
    ends(() => dir.remove());
    execFileSync('sh', ['-c', command], { cwd: dir.path });
    const env = readFileSync(join(dir.path, '.env'), 'utf8');
    expect(env).toMatch(/^DATABASE_PASSWORD=[0-9a-f]{48}\n$/);
    for (const file of ['.gitignore', '.dockerignore']) {
      expect(readFileSync(file, 'utf8')).toMatch(/^\/?\.env$/m);
    }
  });

  test.each(['README.md', 'docs/operations.md', 'docs/scaling.md', 'docs/upgrading.md'])(
    'is set first in %s',
    (page) => {
      const text = readFileSync(page, 'utf8');
      expect(text).toMatch(/docker compose (?:--profile fleet )?up/);
      expect(text).toContain(command);
    },
  );
});
