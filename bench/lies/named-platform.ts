import { once } from 'node:events';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { generate } from 'selfsigned';
import type { PlatformModelServer } from '../../test/support/platform-model-server.ts';

interface Pair {
  readonly cert: string;
  readonly key: string;
}

const NAMES = fileURLToPath(new URL('./names.mjs', import.meta.url));
/** Loopback addresses, at all of which a platform could be found. */
const HOME = '127.0.0.1';
export const MOVED_TO = '127.0.0.2';
export const STRANGER = '127.0.0.3';
export const NOBODY = '127.0.0.4';
const DAY_MS = 24 * 3_600_000;

/** The names of platforms, where they lead, and the certificates that the gateway trusts. */
export class Names {
  readonly #folder: string;
  readonly #addresses = new Map<string, string>();
  readonly #trusted: string[] = [];

  constructor(folder: string) {
    this.#folder = join(folder, 'names');
    mkdirSync(this.#folder);
    this.lead('nobody.lies.example', HOME);
  }

  /** The environment of a gateway that knows the names. */
  get env(): Readonly<Record<string, string>> {
    writeFileSync(this.#file('trusted.pem'), this.#trusted.join('\n'));
    return {
      NODE_OPTIONS: `--import ${NAMES}`,
      NAMES_FILE: this.#file('names.json'),
      NODE_EXTRA_CA_CERTS: this.#file('trusted.pem'),
    };
  }

  /** @param address undefined: the name is not known */
  lead(name: string, address: string | undefined): void {
    if (address === undefined) this.#addresses.delete(name);
    else this.#addresses.set(name, address);
    // The gateway may read it at any moment.
    writeFileSync(this.#file('new'), JSON.stringify(Object.fromEntries(this.#addresses)));
    renameSync(this.#file('new'), this.#file('names.json'));
  }

  trust({ cert }: Pair): void {
    this.#trusted.push(cert);
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }
}

/** A platform with a name and a certificate, both of which may change while it runs. */
export class NamedPlatform {
  readonly name: string;
  readonly #names: Names;
  readonly #pairs: Readonly<Record<'own' | 'renewed' | 'expired' | 'unknown' | 'other', Pair>>;
  readonly #home: Server;
  readonly #elsewhere: Server;
  readonly #stranger = createPlainServer((socket) => {
    socket
      .on('error', () => undefined)
      .resume()
      .end('220 mx.stranger.example ESMTP\r\n');
  });
  readonly #open = new Set<Socket>();
  /** Set before the gateway starts. */
  platform: PlatformModelServer | undefined;

  private constructor(name: string, names: Names, pairs: NamedPlatform['pairs']) {
    this.name = name;
    this.#names = names;
    this.#pairs = pairs;
    this.#home = this.#server();
    this.#elsewhere = this.#server();
  }

  static async start(label: string, names: Names): Promise<NamedPlatform> {
    const name = `${label}.lies.example`;
    const [own, renewed, expired, unknown, other] = await Promise.all([
      pairOf(name, 30),
      pairOf(name, 30),
      pairOf(name, -1),
      pairOf(name, 30),
      pairOf('other.lies.example', 30),
    ]);
    const pairs = { own, renewed, expired, unknown, other };
    for (const each of [own, renewed, expired, other]) names.trust(each);
    const started = new NamedPlatform(name, names, pairs);
    await started.#listen();
    names.lead(name, HOME);
    return started;
  }

  get url(): string {
    return `https://${this.name}:${this.#port}`;
  }

  get pairs() {
    return this.#pairs;
  }

  /** From now on it shows this certificate. */
  show(pair: Pair): void {
    this.#home.setSecureContext(pair);
    this.#elsewhere.setSecureContext(pair);
    this.cut();
  }

  /** From now on its name leads there. */
  lead(address: string | undefined): void {
    this.#names.lead(this.name, address);
    this.cut();
  }

  /** It moves; its connections at the old address stay open and say nothing any more. */
  move(): void {
    this.#names.lead(this.name, MOVED_TO);
    for (const socket of this.#open) socket.pause();
  }

  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** As it was at the start. */
  heal(): void {
    this.show(this.#pairs.own);
    this.#names.lead(this.name, HOME);
  }

  async stop(): Promise<void> {
    this.cut();
    await Promise.all(
      [this.#home, this.#elsewhere, this.#stranger].map(
        (server) => new Promise((resolve) => server.close(resolve)),
      ),
    );
  }

  get #port(): number {
    // A listening TCP server has an AddressInfo; the other types are for pipes.
    return (this.#home.address() as AddressInfo).port;
  }

  #server(): Server {
    const server = createServer(this.#pairs.own, (socket) => {
      this.#open.add(socket);
      socket.on('error', () => undefined).on('close', () => this.#open.delete(socket));
      this.platform?.accept(socket);
    });
    return server.on('tlsClientError', () => undefined);
  }

  async #listen(): Promise<void> {
    this.#home.listen(0, HOME);
    await once(this.#home, 'listening');
    this.#elsewhere.listen(this.#port, MOVED_TO);
    this.#stranger.listen(this.#port, STRANGER);
    await Promise.all([once(this.#elsewhere, 'listening'), once(this.#stranger, 'listening')]);
  }
}

/** @param days from now until it expires */
async function pairOf(name: string, days: number): Promise<Pair> {
  const now = Date.now();
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    ...{ keyType: 'ec', algorithm: 'sha256' },
    ...{ notBeforeDate: new Date(now - 60 * DAY_MS), notAfterDate: new Date(now + days * DAY_MS) },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  });
  return { cert, key };
}
