import { describe, expect, test } from '@jest/globals';
import {
  type AuthenticationVerdict,
  type Claim,
  confirmationOf,
  isRejected,
  type SenderRules,
  type SenderTreatment,
  treatSender,
  UNKNOWN_VERDICT,
  withoutPass,
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
  ['p=reject fails: held', verdict('fail', 'reject'), undefined, rules(), held],
  ['p=quarantine fails: held', verdict('fail', 'quarantine'), undefined, rules(), held],
  [
    'p=quarantine fails at a shop that rejects: held',
    verdict('fail', 'quarantine'),
    undefined,
    rules('reject'),
    held,
  ],
  [
    'p=none fails: no copies',
    verdict('fail'),
    undefined,
    rules(),
    { dropCopies: true, label: false },
  ],
  ['observe only records', verdict('fail', 'reject'), undefined, rules('observe'), asItCame],
  [
    'pass goes out, whatever is unverified',
    verdict('pass', 'reject'),
    undefined,
    rules('hold', 'hold'),
    asItCame,
  ],
  [
    'none is not verified',
    verdict('none'),
    undefined,
    rules('hold', 'hold'),
    { hold: 'unverified', dropCopies: false, label: false },
  ],
  [
    'DNS trouble is not verified, and no failure',
    verdict('temperror', 'reject'),
    undefined,
    rules(),
    asItCame,
  ],
  [
    'no author: the envelope can name whom it likes, and loses his copies',
    verdict('permerror'),
    undefined,
    rules(),
    { dropCopies: true, label: false },
  ],
  ['no verdict changes nothing', undefined, undefined, rules(), asItCame],
  [
    'no verdict is not verified',
    undefined,
    undefined,
    rules('hold', 'label'),
    { dropCopies: false, label: true },
  ],
] as const)('%s', (_what, found, claim, asked, expected) => {
  expect(treatSender(found, claim, asked)).toEqual(expected);
});

const claiming = (
  dmarc: AuthenticationVerdict['dmarc'],
  claimed: NonNullable<AuthenticationVerdict['claimed']>,
): AuthenticationVerdict => ({ ...verdict(dmarc), claimed });
const labelled = { dropCopies: true, label: true };

test.each<[string, AuthenticationVerdict | undefined, Claim, SenderRules, SenderTreatment]>([
  ['a form that passes may name anybody', claiming('pass', 'reject'), 'by-form', rules(), labelled],
  ['a form that fails may not', claiming('fail', 'reject'), 'by-form', rules(), held],
  ['a form without DMARC may not', claiming('none', 'quarantine'), 'by-form', rules(), held],
  ['a form while DNS fails may', claiming('temperror', 'reject'), 'by-form', rules(), labelled],
  ['a stranger may not, p=reject', claiming('pass', 'reject'), 'by-anybody', rules(), held],
  ['a stranger may not, p=quarantine', claiming('pass', 'quarantine'), 'by-anybody', rules(), held],
  ['a stranger may, p=none', claiming('pass', 'none'), 'by-anybody', rules(), labelled],
  ['a stranger may, unknown', claiming('pass', 'temperror'), 'by-anybody', rules(), labelled],
  [
    'the door refuses nothing for it',
    claiming('pass', 'reject'),
    'by-anybody',
    rules('reject'),
    held,
  ],
  [
    'observe holds nothing, and says what it is',
    claiming('pass', 'reject'),
    'by-anybody',
    rules('observe'),
    labelled,
  ],
  [
    'it is unverified',
    claiming('pass', 'none'),
    'by-form',
    rules('hold', 'hold'),
    { hold: 'unverified', dropCopies: true, label: false },
  ],
  ['what was not asked', verdict('pass'), 'by-anybody', rules(), labelled],
  ['what was released', undefined, 'by-anybody', rules(), labelled],
  ['a trusted seal', claiming('pass', 'verified'), 'by-anybody', rules('hold', 'hold'), asItCame],
  [
    'a seal does not cover for a From that fails',
    { ...claiming('fail', 'verified'), policy: 'reject' },
    'by-anybody',
    rules(),
    held,
  ],
])('a claimed person: %s', (_what, found, claim, asked, expected) => {
  expect(treatSender(found, claim, asked)).toEqual(expected);
});

test('a claimed person is never refused at the door', () => {
  expect(isRejected(claiming('pass', 'reject'))).toBe(false);
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

describe('a message whose structure leaves open which text was signed', () => {
  const pass: AuthenticationVerdict = {
    ...verdict('pass', 'reject'),
    dkim: 'pass',
    aligned: 'dkim',
  };

  test.each([
    ['goes out without copies', rules(), { dropCopies: true, label: false }],
    ['gets the label', rules('hold', 'label'), { dropCopies: true, label: true }],
    ['is held', rules('hold', 'hold'), { hold: 'unverified', dropCopies: true, label: false }],
    ['goes out as it came where checks only record', rules('observe'), asItCame],
  ])('%s', (_, shop, expected) => {
    expect(treatSender(withoutPass(pass), undefined, shop)).toEqual(expected);
  });

  test('what has not passed stays as it is', () => {
    expect(withoutPass(verdict('fail', 'reject'))).toEqual(verdict('fail', 'reject'));
    expect(withoutPass(verdict('none'))).toEqual(verdict('none'));
  });

  test('neither a seal nor a form vouches for the person that it names', () => {
    const sealed = withoutPass({ ...pass, claimed: 'verified' });
    expect(treatSender(sealed, 'by-anybody', rules())).toEqual({ dropCopies: true, label: true });
    const enforced = withoutPass({ ...pass, claimed: 'reject' });
    expect(treatSender(enforced, 'by-form', rules())).toEqual(held);
  });
});

describe('what a pass does not cover', () => {
  const pass = (more: Partial<AuthenticationVerdict>): AuthenticationVerdict => ({
    ...{ ...UNKNOWN_VERDICT, dkim: 'pass', dmarc: 'pass', policy: 'reject', aligned: 'dkim' },
    ...more,
  });
  const left = { ...asItCame, uncovered: ['to', 'cc'] };

  test.each<[string, AuthenticationVerdict, SenderRules, SenderTreatment]>([
    ['copies are left out', pass({ uncovered: 'to cc' }), rules(), left],
    ['also in a shop that holds', pass({ uncovered: 'to cc' }), rules('hold', 'hold'), left],
    ['observe only records', pass({ uncovered: 'to cc' }), rules('observe'), asItCame],
    [
      'a second field: no copies',
      pass({ repeated: 'subject', uncovered: 'cc' }),
      rules(),
      { dropCopies: true, label: false },
    ],
    [
      'a second field: the label',
      pass({ repeated: 'subject' }),
      rules('hold', 'label'),
      { dropCopies: true, label: true },
    ],
    [
      'a second field: held where unverified mail is',
      pass({ repeated: 'subject' }),
      rules('hold', 'hold'),
      { hold: 'unverified', dropCopies: true, label: false },
    ],
    ['a second field: observe only records', pass({ repeated: 'to' }), rules('observe'), asItCame],
  ])('%s', (_, found, shop, expected) => {
    expect(treatSender(found, undefined, shop)).toEqual(expected);
  });

  test('who wrote two subjects gets no automatic answer, and is not refused', () => {
    const twice = pass({ repeated: 'subject' });
    expect(confirmationOf(twice, undefined)).not.toBe('confirmed');
    expect(isRejected(twice)).toBe(false);
    expect(confirmationOf(pass({ uncovered: 'cc' }), undefined)).toBe('confirmed');
  });
});

describe('a check that did not end', () => {
  const ended = (policy: AuthenticationVerdict['policy'], unfinished: 'check' | 'record') =>
    ({ ...UNKNOWN_VERDICT, policy, unfinished }) as const;
  const notChecked = { hold: 'sender_not_checked', dropCopies: true, label: false };

  test.each([
    ['p=reject', ended('reject', 'check'), rules(), notChecked],
    ['p=quarantine', ended('quarantine', 'check'), rules(), notChecked],
    ['p=reject at a shop that rejects', ended('reject', 'check'), rules('reject'), notChecked],
    ['a policy that could not be read', ended('none', 'record'), rules(), notChecked],
    ['no policy', ended('none', 'check'), rules(), asItCame],
    ['p=reject where checks only record', ended('reject', 'check'), rules('observe'), asItCame],
  ])('%s', (_, found, shop, expected) => {
    expect(treatSender(found, undefined, shop)).toEqual(expected);
    expect(isRejected(found)).toBe(false);
  });
});

describe('an automatic answer goes to the person who wrote', () => {
  const spf = { aligned: 'spf' } as const;
  test.each<[string, AuthenticationVerdict | undefined, Claim | undefined, boolean]>([
    ['DMARC passes', verdict('pass', 'reject'), undefined, true],
    [
      'SPF or DKIM passes for a domain without a policy',
      { ...verdict('none'), ...spf },
      undefined,
      true,
    ],
    [
      'the policy could not be read, and SPF passes',
      { ...verdict('temperror'), ...spf },
      undefined,
      true,
    ],
    ['nothing passes', verdict('none'), undefined, false],
    ['it fails', { ...verdict('fail'), ...spf }, undefined, false],
    ['there are two authors', { ...verdict('permerror'), ...spf }, undefined, false],
    ['it was not checked', undefined, undefined, false],
    ['a form that passes names them', verdict('pass'), 'by-form', false],
    ['anybody who passes names them', { ...verdict('none'), ...spf }, 'by-anybody', false],
    [
      'a seal confirms who is named',
      { ...verdict('fail'), claimed: 'verified' },
      'by-anybody',
      true,
    ],
    ['who passes has an ambiguous structure', withoutPass(verdict('pass')), undefined, false],
    ['so has who is aligned', withoutPass({ ...verdict('none'), ...spf }), undefined, false],
  ])('%s: %p %p: %s', (_, found, claim, expected) => {
    expect(confirmationOf(found, claim) === 'confirmed').toBe(expected);
  });
});

test.each<[string, AuthenticationVerdict | undefined, Claim | undefined, boolean]>([
  ['quarantine', verdict('fail', 'quarantine'), undefined, true],
  ['reject, by a form', verdict('fail', 'reject'), 'by-form', true],
  ['no policy', verdict('fail'), undefined, false],
  ['a pass', verdict('pass', 'reject'), undefined, false],
  ['no DNS', verdict('temperror', 'reject'), undefined, false],
  ['no check', undefined, undefined, false],
  ['a person of such a domain', { ...verdict('pass'), claimed: 'reject' }, 'by-anybody', true],
  ['named by a form', { ...verdict('pass'), claimed: 'reject' }, 'by-form', false],
])('fails a policy that is enforced: %s', (_what, found, claim, expected) => {
  expect(confirmationOf(found, claim) === 'fails policy').toBe(expected);
});
