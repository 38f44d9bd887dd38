import { because } from '../support/entries.ts';
import { describe, expect, test } from '@jest/globals';
import { Health } from '../../src/delivery/health.ts';

const MINUTE = 60_000;

function setting({ random = 0, delivered = [] as string[] } = {}) {
  const time = { now: 1_000_000 };
  const health = new Health(
    () => time.now,
    () => random,
  );
  for (const lane of delivered) health.delivered(lane);
  return { time, health };
}

const times = (count: number, action: (n: number) => void) => {
  for (let n = 0; n < count; n += 1) action(n);
};
/** Strangers' messages, each of a lane of its own. */
const strangersFail = (health: Health, count: number) =>
  times(count, (n) => health.failed(`stranger ${n}`, because('500')));

describe('what a failure says about the shop', () => {
  test('one makes it doubted, and nothing but its health changes', () => {
    const { health } = setting();
    expect(health.report()).toEqual({ state: 'steady', probing: false, untried: true });
    health.failed('a', because('503'));
    expect(health.state).toBe('doubted');
    expect(health.allowance).toBeGreaterThanOrEqual(64);
  });

  test.each<[string, string[], (health: Health) => void, 'doubted' | 'open']>([
    [
      '9 in a row of lanes that delivered',
      ['a'],
      (h) => times(9, () => h.failed('a', because(''))),
      'doubted',
    ],
    [
      '10 in a row of lanes that delivered',
      ['a'],
      (h) => times(10, () => h.failed('a', because(''))),
      'open',
    ],
    [
      '10 of lanes that delivered, with one delivery between',
      ['a', 'b'],
      (h) => {
        times(9, () => h.failed('a', because('')));
        h.delivered('b');
        h.failed('a', because(''));
      },
      'doubted',
    ],
    ['9 different lanes where nothing delivered', [], (h) => strangersFail(h, 9), 'doubted'],
    ['10 different lanes where nothing delivered', [], (h) => strangersFail(h, 10), 'open'],
    ['one lane, 50 times', [], (h) => times(50, () => h.failed('a', because(''))), 'doubted'],
    [
      '1,000 strangers where another lane delivered',
      [],
      (h) => {
        h.delivered('a');
        strangersFail(h, 1000);
      },
      'doubted',
    ],
    [
      '1,000 strangers whose text is forbidden',
      [],
      (h) => {
        h.delivered('a');
        times(1000, (n) => h.failed(`s${n}`, because(''), { forbidden: true }));
      },
      'doubted',
    ],
    [
      'two lanes that delivered are forbidden',
      ['a', 'b'],
      (h) => times(4, (n) => h.failed(n % 2 === 0 ? 'a' : 'b', because(''), { forbidden: true })),
      'doubted',
    ],
    [
      'three lanes that delivered are forbidden, and none delivers',
      ['a', 'b', 'c'],
      (h) => ['a', 'b', 'c'].forEach((lane) => h.failed(lane, because(''), { forbidden: true })),
      'open',
    ],
    ['a read fails where reads worked', [], (h) => h.readsFailed(because('401')), 'open'],
  ])('%s', (_, delivered, happens, state) => {
    const { health } = setting({ delivered });
    happens(health);
    expect(health.state).toBe(state);
  });

  test('the first delivery of any lane ends the trouble', () => {
    const { health } = setting();
    strangersFail(health, 10);
    health.delivered('somebody else');
    expect(health.report()).toMatchObject({ state: 'steady', lastDeliveredAt: 1_000_000 });
    expect(health.report()).not.toHaveProperty('since');
  });

  test('it tells since when it is open, and what failed last', () => {
    const { health, time } = setting({ delivered: ['a'] });
    health.failed('a', because('500 first'));
    time.now += MINUTE;
    times(10, (n) => health.failed('a', because(`500 no. ${n}`)));
    expect(health.report()).toMatchObject({ since: time.now, reason: because('500 no. 9') });
  });
});

describe('how many may be in flight', () => {
  test('while open, one at a time of what has not failed; none while reads fail', () => {
    const { health } = setting();
    strangersFail(health, 10);
    expect(health.allowance).toBe(1);
    health.readsFailed(because('timeout'));
    expect(health.allowance).toBe(0);
    health.readsAnswered();
    expect([health.state, health.allowance]).toEqual(['open', 1]);
  });

  test('after trouble one, and twice as many with each delivery', () => {
    const { health, time } = setting();
    strangersFail(health, 10);
    time.now += MINUTE;
    const allowances = Array.from({ length: 12 }, () => {
      health.delivered('a');
      return health.allowance;
    });
    expect(allowances.slice(0, 6)).toEqual([1, 2, 4, 8, 16, 32]);
    expect(allowances.at(-1)).toBe(1000);
  });

  test('trouble of a moment slows nothing down', () => {
    const { health, time } = setting();
    health.failed('a', because('500'));
    time.now += 1000;
    health.delivered('b');
    expect(health.allowance).toBe(1000);
  });

  test('“too many requests” halves it, and it grows again by one a round', () => {
    const { health, time } = setting();
    const slowed = Array.from({ length: 6 }, () => {
      health.slowDown(1000);
      time.now += 1000;
      return health.allowance;
    });
    expect(slowed).toEqual([16, 8, 4, 2, 1, 1]);
    expect(health.state).toBe('steady');
  });

  test('asked for patience, it waits', () => {
    const { health, time } = setting();
    times(6, () => health.slowDown(60_000));
    time.now += 59_999;
    expect(health.allowance).toBe(0);
    time.now += 1;
    expect(health.allowance).toBe(1);
    health.delivered('a');
    expect(health.allowance).toBe(2);
    times(2, () => health.delivered('a'));
    expect(health.allowance).toBe(2);
    health.delivered('a');
    expect(health.allowance).toBe(3);
  });
});

describe('probes', () => {
  test('nothing is probed while nothing is wrong', () => {
    const { health, time } = setting();
    health.tryNow();
    time.now += 60 * MINUTE;
    expect(health.isProbeDue).toBe(false);
  });

  test.each([
    [0, 5000],
    [0.5, 15_000],
    [0.999, 24_980],
  ])(
    'the first comes after 5 s, each further one 5 to 25 s after the last (%f)',
    (random, wait) => {
      const { health, time } = setting({ random });
      health.failed('a', because('500'));
      for (const expected of [1000, wait, wait, wait]) {
        time.now += expected - 1;
        expect(health.isProbeDue).toBe(false);
        time.now += 1;
        expect(health.isProbeDue).toBe(true);
        const end = health.beginProbe();
        expect(health.report().probing).toBe(true);
        time.now += 3000;
        health.failed('a', because('500'));
        end();
      }
    },
  );

  test('there is one at a time, and failures meanwhile put off none', () => {
    const { health, time } = setting();
    health.failed('a', because('500'));
    time.now += 5000;
    const end = health.beginProbe();
    time.now += MINUTE;
    strangersFail(health, 20);
    expect(health.isProbeDue).toBe(false);
    end();
    end();
    time.now += 5000;
    expect(health.isProbeDue).toBe(true);
    strangersFail(health, 20);
    expect(health.isProbeDue).toBe(true);
  });

  test('an operator’s word makes one due at once', () => {
    const { health } = setting();
    health.failed('a', because('500'));
    health.tryNow();
    expect(health.isProbeDue).toBe(true);
  });

  test('while one is under way that an earlier trouble began, there is no other', () => {
    const { health, time } = setting();
    health.failed('a', because('500'));
    time.now += 5000;
    const end = health.beginProbe();
    health.delivered('b');
    health.failed('a', because('500'));
    time.now += 5000;
    expect(health.isProbeDue).toBe(false);
    end();
    time.now += 4999;
    expect(health.isProbeDue).toBe(false);
    time.now += 1;
    expect(health.isProbeDue).toBe(true);
  });

  test('without anything to try the trouble is over, unless reads fail', () => {
    const { health } = setting();
    strangersFail(health, 10);
    health.nothingToTry();
    expect(health.state).toBe('steady');
    health.readsFailed(because('503'));
    health.nothingToTry();
    expect(health.state).toBe('open');
    health.readsAnswered();
    health.nothingToTry();
    expect(health.state).toBe('steady');
  });

  test('one without an end is given up after 15 minutes, and the next is due', () => {
    const { health, time } = setting();
    health.failed('a', because('500'));
    time.now += 5000;
    health.beginProbe();
    time.now += 15 * MINUTE - 1;
    expect(health.repairProbe(time.now)).toBe(false);
    time.now += 1;
    expect(health.repairProbe(time.now)).toBe(true);
    expect(health.isProbeDue).toBe(true);
    expect(health.repairProbe(time.now)).toBe(false);
  });

  test('a slow platform is one that times out while its reads are answered', () => {
    const { health } = setting();
    health.failed('a', because('timeout'), { timedOut: true });
    expect(health.isSlow).toBe(true);
    health.readsFailed(because('timeout'));
    expect(health.isSlow).toBe(false);
    health.readsAnswered();
    health.failed('a', because('500'));
    expect(health.isSlow).toBe(false);
  });
});

describe('a platform that asks for patience', () => {
  const asked = (retryAfterMs: number) => {
    const each = setting();
    each.health.failed('a', because('503'), { retryAfterMs });
    return each;
  };

  test.each([
    [4 * MINUTE, 4 * MINUTE],
    [60 * MINUTE, 5 * MINUTE],
  ])('of %d ms is not probed for %d ms', (ms, stands) => {
    const { health, time } = asked(ms);
    time.now += stands - 1;
    expect([health.isProbeDue, health.allowance]).toEqual([false, 0]);
    time.now += 1;
    expect(health.isProbeDue).toBe(true);
    expect(health.allowance).toBeGreaterThan(0);
  });

  test('after five minutes is tried once a minute', () => {
    const { health, time } = asked(60 * MINUTE);
    time.now += 5 * MINUTE;
    health.begun();
    time.now += MINUTE - 1;
    expect(health.allowance).toBe(0);
    time.now += 1;
    expect(health.allowance).toBe(1);
  });

  test('is believed no longer once three that were sent since are delivered', () => {
    const { health, time } = asked(60 * MINUTE);
    const askedAt = time.now;
    time.now += 6 * MINUTE;
    health.delivered('a', askedAt - 1);
    times(2, () => health.delivered('a', askedAt + 5 * MINUTE));
    expect(health.takeRelease()).toBe(false);
    health.delivered('a', askedAt + 5 * MINUTE);
    expect([health.takeRelease(), health.takeRelease()]).toEqual([true, false]);
    expect(health.allowance).toBeGreaterThan(0);
  });

  test('again meanwhile, is believed anew', () => {
    const { health, time } = asked(60 * MINUTE);
    const askedAt = time.now;
    time.now += 6 * MINUTE;
    times(2, () => health.delivered('a', askedAt + 5 * MINUTE));
    health.failed('b', because('503'), { retryAfterMs: 10 * MINUTE });
    times(2, () => health.delivered('a', askedAt + 5 * MINUTE));
    expect(health.takeRelease()).toBe(false);
  });

  test('is probed at once when an operator asks', () => {
    const { health } = asked(10 * MINUTE);
    health.tryNow();
    expect(health.isProbeDue).toBe(true);
  });

  test.each([
    ['an operator', true],
    ['the schedule', false],
  ])('is over when a probe that %s asked for is delivered: %s', (_who, isAsked) => {
    const { health, time } = asked(10 * MINUTE);
    if (isAsked) health.tryNow();
    else time.now += 5 * MINUTE;
    const end = health.beginProbe();
    health.begun();
    health.delivered('a');
    end();
    expect(health.takeRelease()).toBe(isAsked);
    expect(health.allowance).toBe(isAsked ? 1 : 0);
  });
});

describe('calm', () => {
  const SOON = 15_000;

  test('comes once, when heads failed, none does any more, and others were delivered', () => {
    const { health, time } = setting();
    expect(health.takeUnrest()).toBeUndefined();
    health.failed('a', because('500'), { first: true });
    time.now += 1000;
    health.delivered('b');
    expect(health.takeUnrest()).toBeUndefined();
    time.now += SOON;
    expect(health.takeUnrest()).toBe(time.now - SOON - 1000);
    expect(health.takeUnrest()).toBeUndefined();
  });

  test.each<[string, (health: Health, pass: () => void) => void]>([
    ['nothing was delivered since', (h) => h.failed('a', because('500'), { first: true })],
    [
      'heads go on failing',
      (h, pass) => {
        h.failed('a', because('500'), { first: true });
        h.delivered('b');
        pass();
        h.failed('c', because('500'), { first: true });
        h.delivered('b');
      },
    ],
  ])('not while %s', (_, happens) => {
    const { health, time } = setting();
    happens(health, () => (time.now += SOON - 1));
    time.now += SOON - 1;
    expect(health.takeUnrest()).toBeUndefined();
  });

  test('what fails again and again is no unrest', () => {
    const { health, time } = setting();
    health.failed('a', because('500'));
    health.delivered('b');
    time.now += SOON;
    expect(health.takeUnrest()).toBeUndefined();
  });
});

describe('recovery', () => {
  const afterOutage = (lastedMs: number) => {
    const scene = setting({ delivered: ['a'] });
    scene.health.failed('a', because('503'));
    scene.time.now += lastedMs;
    scene.health.delivered('a');
    return scene;
  };

  test('lasts until the allowance is full', () => {
    const { health, time } = afterOutage(MINUTE);
    expect(health.report().recoveringSince).toBe(time.now);
    times(9, () => health.delivered('a'));
    expect(health.report().recoveringSince).toBe(time.now);
    health.delivered('a');
    expect(health.report()).not.toHaveProperty('recoveringSince');
  });

  test('ends when nothing that waited is left, also after a 429', () => {
    const { health } = afterOutage(MINUTE);
    health.slowDown(1000);
    health.caughtUp();
    expect(health.report()).not.toHaveProperty('recoveringSince');
  });

  test('there is none after a short outage, and not while another one lasts', () => {
    expect(afterOutage(1000).health.report()).not.toHaveProperty('recoveringSince');
    const { health } = afterOutage(MINUTE);
    health.failed('a', because('503'));
    expect(health.report()).not.toHaveProperty('recoveringSince');
  });
});
