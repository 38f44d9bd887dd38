import { createServer, Server } from 'node:net';
import { expect, test } from '@jest/globals';
import { listenOn } from '../../src/runtime/listen.ts';
import { ends } from '../support/ends.ts';

/** A server on a machine where no IPv6 address can be listened on. */
function serverWithout(ipv6: 'EAFNOSUPPORT' | 'EADDRNOTAVAIL'): Server {
  const server = new (class extends Server {
    override listen(...args: unknown[]): this {
      const [options, done] = args as [{ host: string; port: number }, () => void];
      if (!options.host.includes(':')) return super.listen(options, done);
      const error = Object.assign(new Error(ipv6), { code: ipv6, syscall: 'listen' });
      process.nextTick(() => this.emit('error', error));
      return this;
    }
  })();
  ends(() => server.close());
  return server;
}

test.each(['EAFNOSUPPORT', 'EADDRNOTAVAIL'] as const)(
  'without IPv6 (%s), :: becomes all IPv4 addresses, and that is told',
  async (code) => {
    const server = serverWithout(code);
    let told = 0;
    const port = await listenOn(server, { host: '::', port: 0, onNoIpv6: () => (told += 1) });
    expect(server.address()).toEqual({ address: '0.0.0.0', family: 'IPv4', port });
    expect(told).toBe(1);
  },
);

test('another address that is not there is an error', async () => {
  const server = serverWithout('EADDRNOTAVAIL');
  const told = () => {
    throw new Error('it fell back');
  };
  const listening = listenOn(server, { host: '2001:db8::1', port: 0, onNoIpv6: told });
  await expect(listening).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
});

test('a port in use is an error on :: too', async () => {
  const first = createServer();
  ends(() => first.close());
  const port = await listenOn(first, { host: '::', port: 0 });
  const second = listenOn(createServer(), { host: '::', port });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
