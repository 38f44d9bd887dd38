import { expect, test } from '@jest/globals';
import { trialWords, type TrialWords } from '../../../src/console/trial-words.ts';
import type { ShopTrial } from '../../../src/domain/shop-trial.ts';

const NOW = 1_000_000;
const FLOWS: ShopTrial = { parts: [], refusedAlike: [], released: 0, waiting: 0 };
const seconds = (ms: number) => `${ms / 1000} s`;

test.each<[Partial<ShopTrial>, TrialWords['outcome'], boolean, string]>([
  [{}, 'flows', true, 'messages flow; none is waiting'],
  [{ waiting: 2 }, 'flows', true, 'messages flow; 2 are on the way'],
  [{ released: 1 }, 'flows', true, 'messages flow; 1 waiting message is sent now'],
  [{ released: 3 }, 'flows', true, 'messages flow; 3 waiting messages are sent now'],
  [
    { parts: [{ part: 'messages', outcome: 'delivered' }] },
    ...(['delivered', true, 'delivered; no message is waiting'] as const),
  ],
  [
    { parts: [{ part: 'messages', outcome: 'delivered' }], waiting: 12 },
    ...(['delivered', true, 'delivered; 12 messages follow'] as const),
  ],
  [
    { parts: [{ part: 'messages', outcome: 'nothing_to_try' }] },
    ...(['nothing_to_try', true, 'no message is waiting, so nothing was tried'] as const),
  ],
  [
    {
      parts: [
        {
          ...{ part: 'messages', outcome: 'failed', nextProbeAt: NOW + 12_000 },
          reason: 'the platform answered 401: <b>no</b>',
        },
        { part: 'media', outcome: 'failed', nextProbeAt: NOW - 1 },
      ],
    },
    'failed',
    false,
    'deliveries still fail: the platform answered 401: <b>no</b>; next attempt in 12 s; uploads of attachments still fail; next attempt in 1 s',
  ],
  [
    { parts: [{ part: 'media', outcome: 'no_answer' }] },
    'no_answer',
    false,
    'uploads of attachments have not finished after 15 s',
  ],
  [
    { refusedAlike: [{ words: '422 a', over: false }] },
    'flows',
    false,
    'messages flow; none is waiting; messages are still refused with the same error: 422 a',
  ],
  [
    { refusedAlike: [{ words: '422 a', over: true }] },
    'flows',
    true,
    'messages flow; none is waiting; no longer refused: 422 a',
  ],
])('%j is told as it came', (change, outcome, ok, text) => {
  expect(trialWords({ ...FLOWS, ...change }, NOW, seconds)).toEqual({ outcome, ok, text });
});
