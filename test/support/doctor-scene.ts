import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { DnsServer } from './dns-server.ts';
import { ACME, freePorts, gatewayConfig, ownLoopbackAddress } from './gateway-config.ts';
import { GatewayProcess } from './gateway-process.ts';
import { sluice, sluiceHere, type Told } from './sluice-command.ts';
import { tempDir } from './temp-dir.ts';
import { serveTwilioNumbers, type TwilioNumbers } from './twilio-numbers.ts';
import { OUR_NUMBER, startTwilioStandIn } from './twilio-stand-in.ts';

/** A platform as far as these checks and one failing delivery see it. */
export class DoctorsPlatform {
  /** What the key has to be. */
  key: string = ACME.apiKey;
  /** Added to the time in its answers, in milliseconds. */
  clockOffsetMs = 0;
  /** What a message is answered with. */
  messageStatus = 201;
  readonly #server: Server = createServer((request, response) => {
    request.resume();
    response.setHeader('date', new Date(Date.now() + this.clockOffsetMs).toUTCString());
    response.setHeader('content-type', 'application/json');
    const accepted = request.headers.authorization === `Bearer ${this.key}`;
    const status = !accepted ? 401 : request.method === 'POST' ? this.messageStatus : 200;
    response.writeHead(status).end('{"results": []}');
  });

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    // A listening TCP server has an address of this kind.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** PEM of a certificate for mx.acme.example, valid from one moment to another. */
export async function certificateFor(from: Date, to: Date): Promise<{ cert: string; key: string }> {
  const made = await generate([{ name: 'commonName', value: 'mx.acme.example' }], {
    keySize: 2048,
    notBeforeDate: from,
    notAfterDate: to,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'mx.acme.example' }] }],
  });
  return { cert: made.cert, key: made.private };
}

/** A gateway that runs, and everything outside of it that it needs: nothing is wrong with it. */
export class DoctorsScene {
  readonly dir = tempDir();
  readonly platform = new DoctorsPlatform();
  account!: TwilioNumbers;
  /** What the gateway was started with; a case changes a copy. */
  config: Record<string, unknown> = {};
  url = '';
  gateway: GatewayProcess | undefined;
  readonly #stops: (() => unknown)[] = [() => this.dir.remove()];
  #files = 0;

  async start(): Promise<void> {
    await this.platform.start();
    this.#stops.push(() => this.platform.stop());
    const standIn = await startTwilioStandIn();
    this.#stops.push(() => standIn.close());
    const dns = await DnsServer.start({ 'acme.example MX': ['10 mx.acme.example'] });
    this.#stops.push(() => dns.stop());
    const host = ownLoopbackAddress();
    const ports = await freePorts(host);
    this.url = `http://${host}:${ports.http}`;
    this.account = serveTwilioNumbers(standIn);
    const hook = `${this.url}/sms/twilio#rc=5&rp=all`;
    this.account.addNumber(OUR_NUMBER, { sms_url: hook, sms_fallback_url: hook });
    const day = 86_400_000;
    const tls = await this.certificate(new Date(Date.now() - day), new Date(Date.now() + 90 * day));
    const base = gatewayConfig({
      dataDir: join(this.dir.path, 'data'),
      platformUrl: this.platform.url,
      twilioUrl: standIn.baseUrl,
      host,
      ports,
      http: { publicUrl: this.url },
    });
    this.config = {
      ...base,
      smtp: { ...base.smtp, tls },
      dns: { servers: [dns.address] },
      alerts: { webhook: { url: `${this.platform.url}/services/hook` } },
    };
    this.gateway = await GatewayProcess.start({ configFile: this.file(), host, ports });
    this.#stops.push(() => this.gateway?.kill());
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.reverse()) await stop();
  }

  /** Written into files, as `smtp.tls` names them. */
  async certificate(from: Date, to: Date): Promise<{ cert: string; key: string }> {
    const { cert, key } = await certificateFor(from, to);
    this.#files += 1;
    const paths = { cert: this.#path('crt'), key: this.#path('key') };
    writeFileSync(paths.cert, cert);
    writeFileSync(paths.key, key, { mode: 0o600 });
    return paths;
  }

  /** The configuration with these changes, as a file. */
  file(changes: Record<string, unknown> = {}): string {
    this.#files += 1;
    const file = this.#path('json');
    writeFileSync(file, JSON.stringify({ ...this.config, ...changes }));
    return file;
  }

  /** One of its mappings with these changes. */
  part(name: string, changes: Record<string, unknown>): Record<string, unknown> {
    // What is changed so is always a mapping.
    return { [name]: { ...(this.config[name] as object), ...changes } };
  }

  doctor(changes: Record<string, unknown> = {}, ...args: string[]): Promise<Told> {
    return sluiceHere(['doctor', '--config', this.file(changes), ...args]);
  }

  /** By the built program, in a process of its own. */
  doctorAsBuilt(changes: Record<string, unknown> = {}, ...args: string[]): Promise<Told> {
    return sluice(['doctor', '--config', this.file(changes), ...args]);
  }

  #path(extension: string): string {
    mkdirSync(this.dir.path, { recursive: true });
    return join(this.dir.path, `file-${this.#files}.${extension}`);
  }
}
