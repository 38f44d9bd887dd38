import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { BuiltinAgent } from '../../../src/local-platform/agent/builtin-agent.ts';
import { KnowledgeFolder } from '../../../src/local-platform/agent/knowledge-folder.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { KNOWLEDGE } from '../harness.ts';

/**
 * Questions in five languages, half of them for a person only, written from a list of topics or headings
 * by somebody who had not seen the texts.
 */
interface Asked {
  readonly language: string;
  readonly question: string;
  /** Headings of sections that answer it. */
  readonly answer: readonly string[];
  /** Whether a person is a right answer too. */
  readonly person?: true;
}

const read = (name: string): Asked[] =>
  // The file has this type.
  JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as Asked[];

const agent = new BuiltinAgent(new KnowledgeFolder(KNOWLEDGE, silentLogger));

async function outcomeOf({ question, answer, person }: Asked) {
  // An email has the headings.
  const said = await agent.answer({
    ...{ shopName: 'Acme Shoes', channel: 'email', contactName: undefined, subject: undefined },
    ...{ text: question, attachments: 0, history: [], tickets: () => [] },
  });
  if (said === undefined || said.escalate) return person ? 'right' : 'escalated';
  return answer.some((heading) => said.text.includes(`**${heading}**`)) ? 'right' : 'wrong';
}

/**
 * The limits of fit.ts were chosen by these sets but for `unseen-questions.json`, which was written when
 * limits and texts were fixed. No question is a phrase of the texts, but some phrases were written with
 * the last set in mind: it shows what is lost, not how well the agent does with other questions.
 */
test.each([
  { name: 'questions.json', wrong: 0, right: 0.9, escalated: 1 },
  { name: 'held-out-questions.json', wrong: 0, right: 0.9, escalated: 1 },
  { name: 'unseen-questions.json', wrong: 0, right: 0.8, escalated: 0.95 },
  { name: 'further-questions.json', wrong: 2, right: 0.85, escalated: 0.98 },
])('$name: few wrong answers; what the texts answer is answered', async (limits) => {
  const asked = await Promise.all(
    read(limits.name).map(async (one) => ({ ...one, outcome: await outcomeOf(one) })),
  );
  const wrong = asked.filter(({ outcome }) => outcome === 'wrong');
  const isWithin = wrong.length <= limits.wrong;
  expect(isWithin ? [] : wrong.map(({ question }) => question)).toEqual([]);
  const share = (some: typeof asked, wanted: string) =>
    some.filter(({ outcome }) => outcome === wanted).length / some.length;
  const answerable = asked.filter(({ answer }) => answer.length > 0);
  expect(share(answerable, 'right')).toBeGreaterThanOrEqual(limits.right);
  const others = asked.filter(({ answer }) => answer.length === 0);
  expect(share(others, 'escalated')).toBeGreaterThanOrEqual(limits.escalated);
});
