import { expect, test } from '@jest/globals';
import { gatewaySetting } from '../support/gateway-setting.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { waitFor } from '../support/wait-for.ts';

/** Code of the gateway's process in which nobody catches an error. */
const BUGS = {
  thrown: `process.on('SIGUSR2', () => { throw new TypeError('a bug'); });`,
  rejected: `process.on('SIGUSR2', () => void Promise.reject(new TypeError('a bug')));`,
};

test.each(['thrown', 'rejected'] as const)(
  'an error that nobody catches (%s) ends the process within two seconds, also while the platform is silent',
  async (how) => {
    const { start, platform, httpUrl } = await gatewaySetting();
    const bug = `data:text/javascript,${encodeURIComponent(BUGS[how])}`;
    const gateway = await start({ env: { NODE_OPTIONS: `--import=${bug}` } });
    platform.gate = () => new Promise(() => undefined);
    expect((await sendSms(httpUrl, { MessageSid: sidOf('a'), Body: 'a' })).status).toBe(200);
    await waitFor('a request in flight', () => platform.payloads.length > 0);

    const began = performance.now();
    gateway.signal('SIGUSR2');
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    // And more on a busy machine.
    expect(performance.now() - began).toBeLessThan(5000);
    expect(gateway.log.filter(({ message }) => message === 'process.unexpected')).toHaveLength(1);

    // What was in flight is delivered by the next one.
    platform.gate = () => undefined;
    await start();
    await waitFor('the message', () => platform.messages.length === 1);
  },
);
