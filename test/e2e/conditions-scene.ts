import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import type { Overview } from '../../src/console/contract.ts';
import { datedSentence } from '../../src/operations/conditions.ts';
import { ends } from '../support/ends.ts';
import { ScriptedPlatform } from '../support/scripted-platform.ts';
import { sluiceHere } from '../support/sluice-command.ts';
import { waitFor } from '../support/wait-for.ts';

export type Seen = Overview['conditions'][number];

/** How long something has waited, and what is free, changes from one look to the next. */
export const timeless = (text: string): string =>
  text
    .replace(/\b\d+ (?:second|minute)s?\b/g, 'a while')
    .replace(/\([\d.]+ [kMG]?B of/g, '(some of');

export async function platformThat(answers: ScriptedPlatform['script']): Promise<string> {
  const platform = new ScriptedPlatform();
  platform.script = answers;
  const url = await platform.start();
  ends(() => platform.stop());
  return url;
}

export async function overviewOf({ adminUrl }: { adminUrl: string }): Promise<Overview> {
  const headers = { authorization: 'Bearer of-the-console' };
  const answer = await fetch(`${adminUrl}/api/overview`, { headers });
  return (await answer.json()) as Overview;
}

/**
 * Expects that `status`, with and without `--json`, and `shops` say what the overview says, and the alerts
 * about those that have some.
 */
export async function expectSameWords(gateway: { adminUrl: string }, file: string) {
  const said = ({ id, sentence, remedy }: Seen) => [id, timeless(sentence), remedy];
  // Counts may change between the two looks.
  const { conditions, alerts } = await waitFor('status to say what the overview says', async () => {
    const all = await overviewOf(gateway);
    const { stdout } = await sluiceHere(['status', '--json', '--config', file]);
    const found = (JSON.parse(stdout) as { conditions: readonly Seen[] }).conditions;
    return isDeepStrictEqual(found.map(said), all.conditions.map(said)) && all;
  });
  const told = conditions.map((each) => timeless(datedSentence(each)));
  for (const { summary } of alerts) expect(told).toContain(timeless(summary));

  const printed = timeless((await sluiceHere(['status', '--config', file])).stdout);
  const shops = timeless((await sluiceHere(['shops', '--config', file])).stdout);
  for (const { shop, sentence } of conditions) {
    expect(printed).toContain(timeless(sentence));
    if (shop !== undefined) expect(shops).toContain(timeless(sentence));
  }
}
