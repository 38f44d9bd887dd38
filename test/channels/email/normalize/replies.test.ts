import { afterAll, expect, test } from '@jest/globals';
import { generateReply } from '../../../support/replies/generate-reply.ts';
import { judgeReply } from '../../../support/replies/judge-reply.ts';
import { generateOwnReply, OWN_KINDS } from '../../../support/replies/own-text.ts';
import { madeUpWords } from '../../../support/replies/words.ts';
import { runCount } from '../../../support/run-count.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const scratch = tempDir();
afterAll(() => scratch.remove());

// `npm run bench -- replies --only SEED` prints one of them.
test('of generated replies no new word is lost and hardly a quoted one is left', async () => {
  const count = runCount(2000);
  const cut: string[] = [];
  const leftOver: string[] = [];
  for (let seed = 1; seed <= count; seed += 1) {
    const reply = generateReply(seed);
    const judged = await judgeReply(reply, scratch.path);
    if (judged.cut.length > 0) cut.push(`${seed}: ${reply.client}, ${reply.language}`);
    if (judged.leftOver.length > 0) leftOver.push(`${seed}: ${reply.client}, ${reply.language}`);
  }

  expect(cut).toEqual([]);
  expect({ leftOver, isFew: leftOver.length <= 0.01 * count }).toMatchObject({ isFew: true });
});

test('the generator writes each kind of reply', () => {
  const replies = Array.from({ length: 400 }, (_, seed) => generateReply(seed));
  const kinds = (of: (reply: (typeof replies)[number]) => string) => new Set(replies.map(of)).size;

  expect(kinds(({ posting }) => posting)).toBe(4);
  expect(kinds(({ language }) => language)).toBeGreaterThanOrEqual(25);
  expect(kinds(({ client }) => client)).toBeGreaterThanOrEqual(35);
});

test('the generator of own text writes each kind, and knows each word in it', () => {
  const replies = Array.from({ length: 400 }, (_, seed) => generateOwnReply(seed));
  const kinds = new Set(replies.map(({ kind }) => kind));

  expect(kinds.size).toBe(OWN_KINDS.length);
  for (const { body, own, quoted } of replies) {
    const words = madeUpWords(body);
    expect(own.length).toBeGreaterThan(0);
    expect(words).toEqual(expect.arrayContaining([...own]));
    // Not each head shows the name and the address of who is answered.
    expect([...own, ...quoted]).toEqual(expect.arrayContaining([...words]));
  }
});
