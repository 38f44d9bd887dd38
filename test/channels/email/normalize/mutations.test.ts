import { afterAll, describe, expect, test } from '@jest/globals';
import { fuzzMail } from '../../../support/mail-fuzz.ts';
import { mutateMail, readMailSeeds } from '../../../support/mail-mutations.ts';
import { runCount } from '../../../support/run-count.ts';
import { tempDir } from '../../../support/temp-dir.ts';

/** The same on each run; `npm run bench -- fuzz` takes others, and more of them. */
const FIRST_SEED = 1;
const MESSAGES = runCount(1000);
/** Far above what any message takes on a busy machine, and below what the test may take. */
const DEADLINE_MS = 120_000;

const folder = tempDir();
afterAll(() => folder.remove());

describe('mutations of real messages, in the worker threads', () => {
  test('kill no worker, keep none for long, and come out as the platform takes them', async () => {
    const seeds = Array.from({ length: MESSAGES }, (_, index) => FIRST_SEED + index);
    const report = await fuzzMail({
      folder: folder.path,
      seeds,
      deadlineMs: DEADLINE_MS,
    });
    expect(report).toMatchObject({
      messages: MESSAGES,
      workerDeaths: 0,
      failures: [],
      overTime: [],
      refused: [],
      stubs: [],
    });
  });

  test('the same seed makes the same message', () => {
    const mail = readMailSeeds();
    expect(mutateMail(mail, 42)).toEqual(mutateMail(mail, 42));
    expect(mutateMail(mail, 42)).not.toEqual(mutateMail(mail, 43));
  });
});
