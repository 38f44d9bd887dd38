import { expect, test } from '@jest/globals';
import { normalPhone } from '../../src/local-platform/addresses.ts';

test.each([
  ['+15550002222', '+15550002222'],
  [' +1 (555) 000-2222 ', '+15550002222'],
  ['+49 (0) 30 901820', '+4930901820'],
  ['+44 20 7946 0958', '+442079460958'],
  // Not to be told to be a number of a country: as it is.
  ['555 000 2222', '555 000 2222'],
  ['12345', '12345'],
  ['ACME', 'ACME'],
  ['whatsapp:+15550002222', 'whatsapp:+15550002222'],
  ['+1 555 000 2222 ext. 5', '+1 555 000 2222 ext. 5'],
  ['', ''],
])('%j is stored as %j', (given, stored) => {
  expect(normalPhone(given)).toBe(stored);
});
