import { expect, test } from '@jest/globals';
import { failureOf } from '../../../../src/channels/sms/providers/twilio/api-failed.ts';

const NOW = Date.UTC(2026, 4, 1);

test.each([
  [200, undefined, undefined],
  [204, undefined, { kind: 'later', message: 'http-204' }],
  [302, undefined, { kind: 'later' }],
  [400, '5', { kind: 'never', retryAfterMs: undefined }],
  [401, undefined, { kind: 'credentials', message: 'http-401' }],
  [403, undefined, { kind: 'credentials' }],
  [404, undefined, { kind: 'never' }],
  [408, undefined, { kind: 'later' }],
  [429, '7', { kind: 'later', retryAfterMs: 7000 }],
  [429, undefined, { kind: 'later', retryAfterMs: undefined }],
  [429, 'Fri, 01 May 2026 00:00:30 GMT', { kind: 'later', retryAfterMs: 30_000 }],
  [429, 'Thu, 30 Apr 2026 00:00:30 GMT', { kind: 'later', retryAfterMs: 0 }],
  [429, '9'.repeat(18), { kind: 'later', retryAfterMs: 3_600_000 }],
  [429, '-5', { kind: 'later', retryAfterMs: undefined }],
  [503, 'soon', { kind: 'later', retryAfterMs: undefined }],
])('status %i with Retry-After %s', (status, retryAfter, failure) => {
  const actual = failureOf(status, retryAfter, NOW);
  if (failure === undefined) expect(actual).toBeUndefined();
  else expect(actual).toMatchObject(failure);
});
