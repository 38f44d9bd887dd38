import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import formats from 'ajv-formats';
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { EntryList, MadeApiToken } from '../../../src/console/contract.ts';
import { adminDocument } from '../../../src/console/server/reference/document.ts';
import {
  type AdminOperation,
  errorsOf,
  OPERATIONS,
} from '../../../src/console/server/reference/operations.ts';
import { closed } from '../../support/closed-schema.ts';
import type { RunningGateway } from '../../support/running-gateway.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitFor } from '../../support/wait-for.ts';
import { servedRoutes } from './admin-routes.ts';
import { type ConsoleClient, consoleClient } from './console-client.ts';
import { sharedConsole } from './console-scene.ts';

const DOCUMENT = adminDocument('1.2.3');
const DORA = { name: 'dora', password: 'of-the-support-desk', role: 'desk' };
/** Part of the page that /api/docs is, and of the console's page. */
const UNDOCUMENTED = ['get /api/docs/style.css', 'get /{*path}'];

describe('the document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate({ ...structuredClone(DOCUMENT) })).toEqual({
      valid: true,
    });
  });

  test('has every route that the listener serves, and no other', () => {
    const documented = Object.entries(DOCUMENT.paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    const served = servedRoutes();
    expect(served.length).toBeGreaterThan(35);
    expect(served.filter((route) => !UNDOCUMENTED.includes(route)).toSorted()).toEqual(
      documented.toSorted(),
    );
  });

  test('says of each operation what it does, who may, and how it fails', () => {
    for (const operation of OPERATIONS) {
      const { [operation.method]: documented } = DOCUMENT.paths?.[operation.path] ?? {};
      expect(documented).toMatchObject({
        operationId: operation.id,
        summary: expect.stringMatching(/^[A-Z]/),
        description: expect.stringMatching(/Scope: `|For operators only|Needs no credentials/),
      });
      const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const parameters = (documented?.parameters ?? []) as { name: string; in: string }[];
      const inPath = parameters.filter((parameter) => parameter.in === 'path');
      expect(inPath.map(({ name }) => name)).toEqual(names);
      expect(Object.keys(documented?.responses ?? {}).map(Number)).toEqual(
        [operation.success.status, ...errorsOf(operation)].toSorted((a, b) => a - b),
      );
    }
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });
});

test('the examples of the page name operations', () => {
  const text = readFileSync('docs/admin-api.md', 'utf8');
  const named = [...text.matchAll(/127\.0\.0\.1:8081(\/[\w./$]+)/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(6);
  const paths = OPERATIONS.map(({ path }) =>
    path.replace('{shop}', 'acme').replace(/\{\w+\}/g, '$ID'),
  );
  expect(named.filter((path) => !paths.includes(path))).toEqual([]);
});

describe('a running gateway', () => {
  let gateway: RunningGateway;
  let operator: ConsoleClient;
  const shared = sharedConsole({ admin: { operators: [DORA] } });
  const ids: Record<string, string> = { shop: 'acme', part: '0' };

  beforeAll(async () => {
    ({ gateway, operator } = await shared());
    for (const channel of ['email', 'web_chat']) {
      await operator.post('/api/test-message', { shop: 'acme', channel });
    }
    await sendSms(gateway.httpUrl, { MessageSid: sidOf('p'), Body: 'Where is order 1001?' });
    const entries = await waitFor(
      'the deliveries',
      async () => {
        const list = (await operator.get('/api/entries?state=delivered')).body as EntryList;
        return list.entries.length >= 3 && list.entries;
      },
      50,
    );
    ids['email'] = entries.find(({ channel }) => channel === 'email')?.id ?? '';
    const action = { action: 'discard', ids: [ids['email']] };
    const begun = await operator.post('/api/actions', action);
    ids['action'] = (begun.body as { id: string }).id;
    await operator.post('/api/tokens', { name: 'ci', scope: 'read', lifetimeMs: null });
  });

  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ ...(closed(DOCUMENT) as object), $id: 'document' });
  const mistakes = ({ path, method, success }: AdminOperation, body: unknown) => {
    const place = encodeURIComponent(path.replaceAll('/', '~1'));
    const content = `responses/${success.status}/content/application~1json/schema`;
    const validate = ajv.compile({ $ref: `document#/paths/${place}/${method}/${content}` });
    return validate(body) ? [] : (validate.errors ?? []).map((error) => JSON.stringify(error));
  };

  const firstOf = async (path: string): Promise<string> => {
    const { results } = (await operator.get(path)).body as { results: { id: string }[] };
    return results[0]?.id ?? '';
  };
  async function pathOf({ path }: AdminOperation): Promise<string> {
    const [, resources] = /^\/api\/platform\/\{shop\}\/(\w+)\/\{id\}$/.exec(path) ?? [];
    const id =
      resources === undefined
        ? path.includes('/actions/')
          ? ids['action']
          : path.includes('/desk/')
            ? await firstOf('/api/platform/acme/tickets')
            : ids['email']
        : await firstOf(`/api/platform/acme/${resources}`);
    const values: Record<string, string | undefined> = { ...ids, id };
    return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  }

  const reading = OPERATIONS.filter(({ method, success }) => method === 'get' && success.schema);
  test.each(reading.map((operation) => [operation.path, operation] as const))(
    'answers GET %s as documented, to a field',
    async (_path, operation) => {
      const query = operation.id === 'listEntries' ? '?count=1&limit=2' : '';
      const answer = await operator.get((await pathOf(operation)) + query);
      expect(answer.status).toBe(operation.success.status);
      expect(mistakes(operation, answer.body)).toEqual([]);
    },
    40_000,
  );

  test('answers an unknown id with a documented problem', async () => {
    const validate = ajv.compile({ $ref: 'document#/components/schemas/Problem' });
    for (const operation of reading.filter(({ path }) => path.includes('{id}'))) {
      const path = operation.path.replace('{shop}', 'acme').replace(/\{\w+\}/g, 'nobody');
      const answer = await operator.get(path);
      expect(errorsOf(operation)).toContain(answer.status);
      expect([path, validate(answer.body)]).toEqual([path, true]);
    }
  });

  /** What the document says of people at the desk. */
  const isOfTheDesk = ({ method, path, access }: AdminOperation): boolean =>
    access === 'anyone' ||
    DOCUMENT.paths?.[path]?.[method]?.description?.includes('Also for the role `desk`') === true;
  /** Whom an operation is for. */
  const ALLOWED = {
    nobody: ({ access }) => access === 'anyone',
    desk: isOfTheDesk,
    'read token': ({ access }) => access === 'anyone' || access === 'read',
    'operate token': ({ access }) => access !== 'operator',
    operator: () => true,
  } satisfies Readonly<Record<string, (operation: AdminOperation) => boolean>>;

  test.each(Object.entries(ALLOWED))(
    'admits %s to what the document says only',
    async (who, may) => {
      const scope = who.endsWith(' token') ? who.split(' ', 1)[0] : undefined;
      const wanted = { name: `of-${who.replace(' ', '-')}`, scope, lifetimeMs: null };
      const made = scope && ((await operator.post('/api/tokens', wanted)).body as MadeApiToken);
      const client = who === 'operator' ? operator : consoleClient(gateway.adminUrl);
      if (who === 'desk') await client.signIn(DORA.password, DORA.name);
      for (const operation of OPERATIONS) {
        const { id, method, path } = operation;
        // They go on for long, or end the session.
        if (['openStream', 'runDoctor', 'signOut', 'signIn'].includes(id)) continue;
        const answer = await client.ask(path.replace(/\{\w+\}/g, 'nobody'), {
          method: method.toUpperCase(),
          ...(method === 'post' && { body: { wrong: true } }),
          ...(made && { headers: { authorization: `Bearer ${made.secret}` } }),
        });
        const refused = who === 'nobody' ? answer.status === 401 : answer.status === 403;
        expect({ id, refused }).toEqual({ id, refused: !may(operation) });
        if (who !== 'nobody') expect(answer.status).not.toBe(401);
        if (made) expect(answer.text).not.toContain(made.secret);
      }
    },
  );

  test('serves document and page to those who may use the API', async () => {
    const stranger = consoleClient(gateway.adminUrl);
    for (const path of ['/api/docs', '/api/openapi.json', '/api/docs/style.css']) {
      expect((await stranger.get(path)).status).toBe(401);
    }
    expect((await operator.get('/api/openapi.json')).body).toMatchObject({ openapi: '3.1.0' });
    const page = await operator.get('/api/docs');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'self'/,
    );
    expect(page.text).not.toMatch(/<script|<style|style=|\son\w+=|src=/);
    const style = await operator.get('/api/docs/style.css');
    expect(style.headers['content-type']).toBe('text/css; charset=utf-8');
    const shown = new Set([...page.text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
    for (const [, anchor] of page.text.matchAll(/href="#([^"]+)"/g)) {
      expect([anchor, shown.has(anchor)]).toEqual([anchor, true]);
    }
    for (const { id, path, query } of OPERATIONS) {
      expect(shown).toContain(id);
      expect(page.text).toContain(path);
      for (const name of Object.keys(query?.shape ?? {})) {
        expect(page.text).toContain(`<code>${name}</code>`);
      }
    }
  });
});
