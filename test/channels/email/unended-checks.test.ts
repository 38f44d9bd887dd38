import { expect, test } from '@jest/globals';
import { createAddressDirectory } from '../../../src/channels/email/routing.ts';
import {
  type AuthenticationVerdict,
  UNENDED_VERDICT,
  UNKNOWN_VERDICT,
} from '../../../src/channels/email/authentication/verdict.ts';
import { MESSAGE, openDoor, SHOPS } from '../../support/email-door.ts';
import { ends } from '../../support/ends.ts';

/** A door whose shops refuse forged mail, with this verdict on all of it. */
async function rejectingDoor(verdict: AuthenticationVerdict) {
  const refusesForged = {
    trustedArcSealers: [],
    senders: { addresses: [], formSenders: [] },
  };
  const directory = createAddressDirectory(SHOPS.map((shop) => ({ ...shop, refusesForged })));
  const authenticator = { check: () => Promise.resolve(verdict) };
  const door = await openDoor({ parts: () => ({ directory, authenticator }) });
  ends(() => door.close());
  return door;
}

test('a message whose check does not end is accepted, and is checked again at delivery', async () => {
  const door = await rejectingDoor(UNENDED_VERDICT);
  expect(await door.deliver(MESSAGE)).toMatch(/^250/);
  const [entry] = await door.entries();
  expect(entry?.meta).not.toHaveProperty('authentication');
});

test('after DNS trouble it is accepted with its verdict', async () => {
  const door = await rejectingDoor(UNKNOWN_VERDICT);
  expect(await door.deliver(MESSAGE)).toMatch(/^250/);
  const [entry] = await door.entries();
  expect(entry?.meta).toMatchObject({ authentication: { dmarc: 'temperror' } });
});
