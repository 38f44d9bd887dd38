import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { tempDir } from '../support/temp-dir.ts';

let dir: ReturnType<typeof tempDir>;
beforeEach(() => void (dir = tempDir()));
afterEach(() => dir.remove());

function load(text: string, env: Record<string, string> = {}) {
  const file = join(dir.path, 'sluice.yaml');
  writeFileSync(file, text);
  return loadConfig({ file, env });
}

const agent = (text: string) => `localPlatform:\n  agent: ${text}\n`;
const OPENAI = '{kind: openai, model: llama3.1:8b, apiKey: "${KEY}"';

test('an endpoint without model and key is a mistake for each, with a way out', () => {
  expect(load(agent('{kind: openai}'))).toMatchObject({
    ok: false,
    mistakes: [
      {
        path: 'localPlatform.agent.model',
        expected: expect.stringContaining('since localPlatform.agent.kind is openai'),
        found: 'nothing',
        place: { line: 2 },
      },
      { path: 'localPlatform.agent.apiKey', fix: expect.stringContaining('${OPENAI_API_KEY}') },
    ],
  });
});

test.each([
  ['a variable that is not set', `${OPENAI}}`, {}, 'localPlatform.agent.apiKey'],
  ['an empty key', `${OPENAI}}`, { KEY: '' }, 'localPlatform.agent.apiKey'],
  ['an empty model', '{kind: openai, model: " ", apiKey: x}', {}, 'localPlatform.agent.model'],
  [
    'no URL',
    `${OPENAI}, baseUrl: api.example.com/v1}`,
    { KEY: 'x' },
    'localPlatform.agent.baseUrl',
  ],
  [
    'a key in the URL',
    `${OPENAI}, baseUrl: "https://k@x/v1"}`,
    { KEY: 'x' },
    'localPlatform.agent.baseUrl',
  ],
  ['another kind', '{kind: chatgpt}', {}, 'localPlatform.agent.kind'],
  ['no timeout at all', `${OPENAI}, timeout: 0s}`, { KEY: 'x' }, 'localPlatform.agent.timeout'],
])('%s is a mistake', (_title, text, env, path) => {
  const loaded = load(agent(text), env);
  expect(loaded).toMatchObject({ ok: false, mistakes: [{ path }] });
});

test('a whole one is taken; its key is a secret', () => {
  const loaded = load(agent(`${OPENAI}, baseUrl: "http://localhost:11434/v1/", timeout: 5m}`), {
    KEY: 'sk-hunter2',
  });
  expect(loaded).toMatchObject({
    ok: true,
    warnings: [],
    config: {
      localPlatform: {
        agent: { baseUrl: 'http://localhost:11434/v1', model: 'llama3.1:8b', timeout: 300_000 },
      },
    },
  });
  expect(JSON.stringify(loaded)).not.toContain('hunter2');
});

test('a key that leaves this machine unencrypted is warned about', () => {
  const loaded = load(agent(`${OPENAI}, baseUrl: "http://llm.acme.example/v1"}`), { KEY: 'x' });
  expect(loaded).toMatchObject({
    ok: true,
    warnings: [expect.stringContaining('localPlatform.agent.baseUrl')],
  });
});

test('off, for all shops and for one', () => {
  const shop = (name: string, n: number, more = '') => `
  - name: ${name}
    shopId: 4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d4${n}
    apiKey: key
    email: {addresses: [support@${name}.example]}
    ${more}`;
  const loaded = load(
    `${agent('{kind: off}')}shops:${shop('one', 1)}${shop('two', 2, 'agent: off')}`,
  );
  expect(loaded).toMatchObject({
    ok: true,
    config: {
      localPlatform: { agent: { kind: 'off' } },
      shops: [{ agent: 'on' }, { agent: 'off' }],
    },
  });
});

describe('an agent without texts is warned about', () => {
  const shop = (more: object) => ({
    ...{ name: 'acme', shopId: '4f9d2c1e-8a57-4b06-9d3e-2f1c7a6b5d41', apiKey: 'key' },
    ...{ email: { addresses: ['support@acme.example'] }, ...more },
  });
  const warning = expect.stringMatching(
    /^localPlatform.agent.knowledge is not set:.*\.\/knowledge/,
  );

  test.each<[string, object, unknown[]]>([
    ['a shop of its own', { shops: [shop({})] }, [warning]],
    [
      'one of two on the local platform',
      { platform: { url: 'https://api.example' }, shops: [shop({ platformUrl: 'local' })] },
      [warning],
    ],
    ['the sample shop', {}, []],
    [
      'a shop of another platform',
      {
        smtp: { hostname: 'mx.acme.example' },
        shops: [shop({ platformUrl: 'https://api.example' })],
      },
      [],
    ],
    ['a shop without the agent', { shops: [shop({ agent: 'off' })] }, []],
    ['no agent', { localPlatform: { agent: { kind: 'off' } }, shops: [shop({})] }, []],
    [
      'a folder',
      { localPlatform: { agent: { knowledge: './config/knowledge/demo' } }, shops: [shop({})] },
      [],
    ],
  ])('%s', (_title, config, warnings) => {
    expect(load(JSON.stringify(config))).toMatchObject({ ok: true, warnings });
  });
});
