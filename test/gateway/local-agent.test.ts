import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { localAgent } from '../../src/gateway/local.ts';
import { ends } from '../support/ends.ts';
import { gatewayConfig } from '../support/gateway-config.ts';
import { tempDir } from '../support/temp-dir.ts';

async function agentOf(config: (dataDir: string) => object) {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'gateway.json');
  writeFileSync(file, JSON.stringify(config(dir.path)));
  const loaded = loadConfig({ file, env: {} });
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  return localAgent(await completeConfig(loaded.config)).agent;
}

test('only the sample shop has the texts of the sample shop', async () => {
  const sample = await agentOf((dataDir) => ({ dataDir }));
  expect(sample).toMatchObject({ kind: 'builtin', knowledgeDir: expect.stringMatching(/demo$/) });
  const { localPlatform: _withTexts, ...own } = gatewayConfig({ dataDir: '.' });
  expect(await agentOf((dataDir) => ({ ...own, dataDir }))).toEqual({ kind: 'builtin' });
});

test('a folder of its own is used for either', async () => {
  const localPlatform = { agent: { knowledge: 'docs' } };
  for (const shops of [undefined, gatewayConfig({ dataDir: '.' }).shops]) {
    const agent = await agentOf((dataDir) => ({ dataDir, localPlatform, ...(shops && { shops }) }));
    expect('knowledgeDir' in agent && basename(agent.knowledgeDir ?? '')).toBe('docs');
  }
});
