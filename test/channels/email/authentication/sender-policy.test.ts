import { expect, test } from '@jest/globals';
import {
  isRejected,
  type SenderRules,
  treatSender,
} from '../../../../src/channels/email/authentication/sender-policy.ts';
import {
  type AuthenticationVerdict,
  UNKNOWN_VERDICT,
} from '../../../../src/channels/email/authentication/verdict.ts';

const verdict = (
  dmarc: AuthenticationVerdict['dmarc'],
  policy: AuthenticationVerdict['policy'] = 'none',
): AuthenticationVerdict => ({ ...UNKNOWN_VERDICT, dmarc, policy });
const rules = (
  dmarc: SenderRules['dmarc'] = 'hold',
  unverified: SenderRules['unverified'] = 'deliver',
): SenderRules => ({ dmarc, unverified });
const asItCame = { dropCopies: false, label: false };
const held = { hold: 'dmarc', dropCopies: true, label: false };

test.each([
  ['p=reject fails: held', verdict('fail', 'reject'), false, rules(), held],
  ['p=quarantine fails: held', verdict('fail', 'quarantine'), false, rules(), held],
  [
    'p=quarantine fails at a shop that rejects: held',
    verdict('fail', 'quarantine'),
    false,
    rules('reject'),
    held,
  ],
  ['p=none fails: no copies', verdict('fail'), false, rules(), { dropCopies: true, label: false }],
  ['observe only records', verdict('fail', 'reject'), false, rules('observe'), asItCame],
  [
    'pass goes out, whatever is unverified',
    verdict('pass', 'reject'),
    false,
    rules('hold', 'hold'),
    asItCame,
  ],
  [
    'a Reply-To is not verified by a pass',
    verdict('pass'),
    true,
    rules('hold', 'label'),
    { dropCopies: false, label: true },
  ],
  [
    'none is not verified',
    verdict('none'),
    false,
    rules('hold', 'hold'),
    { hold: 'unverified', dropCopies: false, label: false },
  ],
  [
    'DNS trouble is not verified, and no failure',
    verdict('temperror', 'reject'),
    false,
    rules(),
    asItCame,
  ],
  [
    'no author: the envelope can name whom it likes, and loses his copies',
    verdict('permerror'),
    false,
    rules(),
    { dropCopies: true, label: false },
  ],
  ['no verdict changes nothing', undefined, false, rules(), asItCame],
  [
    'no verdict is not verified',
    undefined,
    false,
    rules('hold', 'label'),
    { dropCopies: false, label: true },
  ],
] as const)('%s', (_what, found, fromReplyTo, asked, expected) => {
  expect(treatSender(found, fromReplyTo, asked)).toEqual(expected);
});

test.each([
  [verdict('fail', 'reject'), true],
  [verdict('fail', 'quarantine'), false],
  [verdict('fail'), false],
  [verdict('temperror', 'reject'), false],
  [UNKNOWN_VERDICT, false],
  [undefined, false],
])('only a failure under p=reject is refused (%#)', (found, expected) => {
  expect(isRejected(found)).toBe(expected);
});
