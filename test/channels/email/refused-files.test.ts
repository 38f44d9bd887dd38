import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EmailServerParts } from '../../../src/channels/email/door-smtp.ts';
import { SpoolFull, SpoolUnavailable } from '../../../src/spool/errors.ts';
import { type EmailDoor, MESSAGE, openDoor } from '../../support/email-door.ts';

const LARGE = `${MESSAGE}\r\n${'x'.repeat(998)}\r\n`.padEnd(1000 * 1000, `${'y'.repeat(998)}\r\n`);

let trouble: Error | undefined;
let areShopsGone: boolean;
let door: EmailDoor;

/** A door whose intake refuses, and whose shops go, when the test says so. */
function troubled({ intake, directory }: EmailServerParts): Partial<EmailServerParts> {
  const changing = {
    ...directory,
    shop: (...args: Parameters<typeof directory.shop>) =>
      areShopsGone ? undefined : directory.shop(...args),
    snapshot: () => changing,
  };
  return {
    directory: changing,
    intake: {
      ...intake,
      accept: (arrivals) =>
        trouble === undefined ? intake.accept(arrivals) : Promise.reject(trouble),
    },
  };
}

beforeEach(async () => {
  trouble = undefined;
  areShopsGone = false;
  door = await openDoor({ parts: troubled });
});

afterEach(() => door.close());

describe('the file of a large message', () => {
  test('is removed when there is no space for the message, however often it comes', async () => {
    trouble = new SpoolFull('over its share');
    for (let n = 0; n < 3; n += 1) expect(await door.deliver(LARGE)).toMatch(/^452 4\.3\.1/);
    expect(door.files()).toEqual([]);
    trouble = undefined;
    expect(await door.deliver(LARGE)).toMatch(/^250/);
    expect(door.files()).toHaveLength(1);
  });

  test('is removed when its recipients are nobody’s any more', async () => {
    areShopsGone = true;
    expect(await door.deliver(LARGE)).toMatch(/^451/);
    expect(door.files()).toEqual([]);
  });

  test('stays when nobody knows whether an entry names it', async () => {
    trouble = new SpoolUnavailable('the store has failed');
    expect(await door.deliver(LARGE)).toMatch(/^451/);
    expect(door.files()).toHaveLength(1);
  });
});
