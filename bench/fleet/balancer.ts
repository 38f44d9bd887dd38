import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Workbench } from '../support/workbench.ts';
import type { Door } from './gateways.ts';

/** As nginx and Kubernetes are set up: a gateway that is not ready gets no new connections. */
const PROBE_EVERY_MS = 1000;
const PROBE_WITHIN_MS = 1000;

/** A TCP load balancer in front of gateways that follows `/readyz`. */
export class Balancer implements Door {
  readonly host = '127.0.0.1';
  smtpPort = 0;
  httpUrl = '';
  readonly #doors: readonly Door[];
  readonly #ready = new Set<Door>();
  #turn = 0;

  private constructor(doors: readonly Door[]) {
    this.#doors = doors;
  }

  static async start(bench: Workbench, doors: readonly Door[]): Promise<Balancer> {
    const balancer = new Balancer(doors);
    const probing = setInterval(() => void balancer.#probe(), PROBE_EVERY_MS);
    bench.onEnd('probes', () => clearInterval(probing));
    await balancer.#probe();
    balancer.smtpPort = await balancer.#listen(bench, ({ smtpPort }) => smtpPort);
    const httpPort = await balancer.#listen(bench, ({ httpUrl }) => Number(new URL(httpUrl).port));
    balancer.httpUrl = `http://${balancer.host}:${httpPort}`;
    return balancer;
  }

  isReady(door: Door): boolean {
    return this.#ready.has(door);
  }

  async #probe(): Promise<void> {
    await Promise.all(
      this.#doors.map(async (door) => {
        if (await answersReady(door)) this.#ready.add(door);
        else this.#ready.delete(door);
      }),
    );
  }

  async #listen(bench: Workbench, portOf: (door: Door) => number): Promise<number> {
    const open = new Set<Socket>();
    const server: Server = createServer((client) => {
      const ready = [...this.#ready];
      const door = ready[(this.#turn += 1) % Math.max(1, ready.length)];
      if (door === undefined) {
        client.resetAndDestroy();
        return;
      }
      const upstream = connect(portOf(door), door.host);
      for (const socket of [client, upstream]) {
        open.add(socket);
        socket.setNoDelay(true);
        // One side that fails takes the other with it.
        socket.on('error', () => {
          client.resetAndDestroy();
          upstream.destroy();
        });
        socket.on('close', () => {
          open.delete(socket);
          (socket === client ? upstream : client).destroySoon();
        });
      }
      client.pipe(upstream).pipe(client);
    });
    server.listen(0, this.host);
    await once(server, 'listening');
    bench.onEnd('balancer', () => {
      for (const socket of open) socket.destroy();
      server.close();
    });
    // A listening TCP server has an AddressInfo; the other types are for pipes.
    return (server.address() as AddressInfo).port;
  }
}

async function answersReady({ httpUrl }: Door): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PROBE_WITHIN_MS);
    const response = await fetch(`${httpUrl}/readyz`, { signal, headers: { connection: 'close' } });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
