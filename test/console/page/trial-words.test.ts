import { expect, test } from '@jest/globals';
import type { ShopTrial } from '../../../src/console/contract.ts';
import { trialWords } from '../../../src/console/page/overview/trial-words.ts';

const NOW = 1_000_000;
const FLOWS: ShopTrial = { parts: [], refusedAlike: [], released: 0, waiting: 0 };
const words = (change: Partial<ShopTrial>) => trialWords({ ...FLOWS, ...change }, NOW);

test.each<[Partial<ShopTrial>, boolean, string]>([
  [{}, true, 'Messages flow.'],
  [{ released: 1 }, true, 'Messages flow: 1 that waited goes now.'],
  [{ released: 3 }, true, 'Messages flow: 3 that waited go now.'],
  [
    { parts: [{ part: 'messages', outcome: 'delivered' }], waiting: 12 },
    true,
    'Delivered: 12 messages go out.',
  ],
  [
    { parts: [{ part: 'messages', outcome: 'nothing_to_try' }] },
    true,
    'Nothing waits: nothing was tried.',
  ],
  [
    {
      parts: [
        {
          ...{ part: 'messages', outcome: 'failed', nextProbeAt: NOW + 12_000 },
          reason: 'the platform answered 401: <b>no</b>',
        },
      ],
    },
    false,
    'Still refused: the platform answered 401: <b>no</b>; next try in 12 s.',
  ],
  [
    { parts: [{ part: 'media', outcome: 'no_answer' }] },
    false,
    'Attachments: Still being tried after 15 s.',
  ],
  [
    { refusedAlike: [{ words: '422 a', over: false }] },
    false,
    'Messages flow; messages are still refused alike.',
  ],
])('%j is told as it came', (trial, ok, text) => {
  expect(words(trial)).toEqual({ ok, text });
});
