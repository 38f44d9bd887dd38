import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';

const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
const [build = '', image = ''] = DOCKERFILE.split(/^# Run: .*$/m);

const portSchema = z.string().regex(/^(?:[\d.]+:)?\d+:\d+$/);
const composeSchema = z.strictObject({
  services: z.strictObject({
    sluice: z.looseObject({
      volumes: z.array(z.string()),
      ports: z.array(portSchema),
      stop_grace_period: z.string().regex(/^\d+s$/),
    }),
  }),
  volumes: z.record(z.string(), z.unknown()),
});
const compose = composeSchema.parse(parse(readFileSync('compose.yaml', 'utf8')));

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
  expect(Object.keys(compose.volumes)).toEqual(['data']);
  expect(ports.find((port) => port.endsWith(`:${admin.port}`))).toMatch(/^127\.0\.0\.1:/);
  expect(Number.parseInt(grace, 10)).toBeGreaterThan(30);
});
