import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import { CommandFailed, EXIT } from '../../src/cli/exit-codes.ts';
import { serve, type ServeHooks } from '../../src/cli/run-gateway.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import { type LogFields, type Logger, silentLogger } from '../../src/observability/logger.ts';
import { SpoolUnusable } from '../../src/spool/errors.ts';
import { waitFor } from '../support/wait-for.ts';

/** A process whose signals the test sends, and a gateway that tells what was asked of it. */
function scene(change: Partial<Gateway> = {}) {
  const steps: string[] = [];
  const exits: number[] = [];
  const logged: [string, LogFields | undefined][] = [];
  const events = Object.assign(new EventEmitter(), {
    exit: (code: number) => void exits.push(code),
  });
  const logger: Logger = {
    ...silentLogger,
    error: (event, fields) => void logged.push([event, fields]),
  };
  const gateway: Gateway = {
    start: () => {
      steps.push('start');
      return Promise.resolve({});
    },
    stop: () => {
      steps.push('stop');
      return Promise.resolve();
    },
    failed: new Promise(() => undefined),
    reload: (who) => {
      steps.push(`reload by ${who}`);
      return Promise.resolve({ ok: false, mistakes: ['shops[0].name'] });
    },
    ...change,
  };
  return {
    steps,
    exits,
    events,
    logged,
    run: (onReady: () => void, hooks: Partial<ServeHooks> = {}, opening?: () => void) => {
      const open = async () => {
        opening?.();
        return Promise.resolve(gateway);
      };
      return serve(open, logger, events, { onReady, ...hooks });
    },
  };
}

test.each(['SIGTERM', 'SIGINT'])('%s stops the gateway gracefully', async (signal) => {
  const { events, steps, exits, run } = scene();
  await run(() => events.emit(signal));
  expect(steps).toEqual(['start', 'stop']);
  expect(exits).toEqual([]);
  expect(events.eventNames()).toEqual([]);
});

test('a signal that comes twice at once, as under npm, is one', async () => {
  const { events, exits, run } = scene();
  await run(() => {
    events.emit('SIGINT');
    events.emit('SIGINT');
  });
  expect(exits).toEqual([]);
});

test('SIGHUP takes the configuration up and does not end the gateway; mistakes are told', async () => {
  const { events, steps, run } = scene();
  const told: string[] = [];
  await run(() => events.emit('SIGHUP'), {
    onRefused: (mistakes) => {
      told.push(...mistakes);
      events.emit('SIGTERM');
    },
  });
  expect(steps).toEqual(['start', 'reload by signal', 'stop']);
  expect(told).toEqual(['shops[0].name']);
});

test('a SIGHUP while the gateway is still being loaded is a reload once it runs', async () => {
  const { events, steps, run } = scene();
  const stop = () => events.emit('SIGTERM');
  await run(
    () => undefined,
    { onRefused: stop },
    () => events.emit('SIGHUP'),
  );
  expect(steps).toEqual(['start', 'reload by signal', 'stop']);
});

test('a terminal that has gone ends it: nobody sees it any more', async () => {
  const { events, steps, run } = scene();
  await run(() => events.emit('SIGHUP'), { terminalHasGone: () => true });
  expect(steps).toEqual(['start', 'stop']);
});

test('a bug that nobody caught is logged without its message, and ends in a graceful stop', async () => {
  const { events, steps, logged, run } = scene();
  const ended = run(() =>
    events.emit('unhandledRejection', new TypeError('ada@customer.example is undefined')),
  );
  await expect(ended).rejects.toBeInstanceOf(CommandFailed);
  expect(steps).toEqual(['start', 'stop']);
  expect(logged).toMatchObject([
    ['process.unexpected', { error: 'TypeError', at: expect.stringContaining('serve.test.ts') }],
  ]);
  expect(JSON.stringify(logged)).not.toContain('ada@');
});

test('a limit of the system that is reached while it runs is told as that, not as a bug', async () => {
  const { events, logged, run } = scene();
  const error = Object.assign(new Error('open'), { code: 'EMFILE', syscall: 'open' });
  const ended = run(() => events.emit('uncaughtException', error));
  await expect(ended).rejects.toThrow(/more files and sockets \(EMFILE\).*ulimit -n/);
  expect(logged).toMatchObject([
    ['process.failed', { code: 'EMFILE', found: expect.stringContaining('EMFILE') }],
  ]);
});

const STORE_FAILED = Promise.resolve({ part: 'store', error: new Error('EIO') } as const);

test('a bug in delivery is told as one', async () => {
  const error = new TypeError('what a customer wrote');
  const { steps, logged, exits, run } = scene({
    failed: Promise.resolve({ part: 'delivery', error } as const),
  });
  await expect(run(() => undefined)).rejects.toThrow(/an unexpected error; see the log/);
  expect(steps).toEqual(['start', 'stop']);
  expect(exits).toEqual([]);
  expect(logged).toMatchObject([
    ['process.unexpected', { error: 'TypeError', at: expect.stringContaining('serve.test.ts') }],
  ]);
  expect(JSON.stringify(logged)).not.toContain('customer');
});

test('a store that failed ends the process in failure', async () => {
  const { steps, logged, run } = scene({ failed: STORE_FAILED });
  await expect(run(() => undefined)).rejects.toThrow(/the store failed/);
  expect(steps).toEqual(['start', 'stop']);
  expect(logged.map(([event]) => event)).toEqual(['gateway.failed']);
});

test.each([
  ['the store failed', STORE_FAILED, []],
  ['an unexpected error', new Promise<never>(() => undefined), ['uncaughtException']],
  ['a rejection', new Promise<never>(() => undefined), ['unhandledRejection']],
])('after %s, a stop that hangs does not keep the process', async (_what, failed, emitted) => {
  let isStopped: () => void = () => undefined;
  const { events, exits, run } = scene({
    failed,
    stop: () => new Promise<void>((resolve) => (isStopped = resolve)),
  });
  const ended = run(() => emitted.forEach((event) => events.emit(event, new TypeError('a bug'))));
  const began = performance.now();
  await waitFor('the exit', () => exits.length > 0, 20);
  expect(exits).toEqual([EXIT.failed]);
  expect(performance.now() - began).toBeLessThan(2000);
  isStopped();
  await expect(ended).rejects.toThrow(CommandFailed);
});

async function startFailing(failure: Error): Promise<unknown> {
  const { steps, events, run } = scene({ start: () => Promise.reject(failure) });
  const thrown = await run(() => steps.push('ready')).catch((error: unknown) => error);
  expect(steps).toEqual([]);
  expect(events.eventNames()).toEqual([]);
  return thrown;
}

test('a port that is taken is named', async () => {
  const taken = Object.assign(new Error('listen'), {
    ...{ code: 'EADDRINUSE', syscall: 'listen', port: 2525 },
  });
  expect(await startFailing(taken)).toMatchObject({
    name: 'SetUpUnusable',
    mayPass: true,
    message: expect.stringMatching(/^port 2525 is in use/),
  });
});

test('a data folder that another gateway uses is told as it is', async () => {
  const locked = new SpoolUnusable('another gateway');
  expect(await startFailing(locked)).toBe(locked);
});
