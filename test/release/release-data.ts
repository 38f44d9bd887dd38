import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EntryState } from '../../src/domain/entry-state.ts';
import type { Entry } from '../../src/spool/entry.ts';
import { ChatClient } from '../support/chat-client.ts';
import {
  freePorts,
  gatewayConfig,
  portsOf,
  ownLoopbackAddress,
  type Ports,
  type ShopChoices,
  shopNamed,
} from '../support/gateway-config.ts';
import { GatewayProcess } from '../support/gateway-process.ts';
import { ScriptedPlatform } from '../support/scripted-platform.ts';
import { SmtpClient } from '../support/smtp-client.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { sluice } from '../support/sluice-command.ts';
import { waitForEntries } from '../support/spool-beside.ts';

/** What a data folder of a release holds of an entry, in `entries.json` beside it. */
export interface KnownEntry {
  readonly id: string;
  readonly shop: string;
  readonly channel: string;
  readonly state: EntryState;
  readonly remoteId: string;
}

const FEW = { per10min: 2, perHour: 1e6, sameBodyPerHour: 1e6 };

/** acme: the local platform, and loops after two messages. The platforms of bean and corn are the scene's. */
export const ACME: ShopChoices = {
  ...shopNamed('acme', 0),
  email: { loop: { ...FEW, perThreadPer10min: 1e6 } },
  sms: { loop: { ...FEW, perDay: 1e6 } },
};
const BEAN = shopNamed('bean', 1);
const CORN = shopNamed('corn', 2);
const NAMES = new Map([ACME, BEAN, CORN].map(({ shopId, name }) => [shopId, name]));

/** The longest duration, ten years: entries stay, and are still tried. */
const FOREVER = '3650d';

/** Gateways of three shops on one data folder; the platforms of two of them do as they are told. */
export class ReleaseScene {
  readonly bean = new ScriptedPlatform();
  readonly corn = new ScriptedPlatform();
  readonly dataDir: string;
  readonly #configFile: string;
  readonly #host = ownLoopbackAddress();
  #ports: Ports = { smtp: 0, http: 0, admin: 0 };
  #gateway: GatewayProcess | undefined;

  /** @param dir of the configuration and, if it is to be a new one, of the data folder `data` */
  constructor(dir: string) {
    this.dataDir = join(dir, 'data');
    this.#configFile = join(dir, 'gateway.json');
  }

  /** Starts the built gateway. */
  async start(): Promise<GatewayProcess> {
    mkdirSync(this.dataDir, { recursive: true, mode: 0o700 });
    this.#ports = await freePorts(this.#host);
    const platforms = [await this.bean.start(), await this.corn.start()] as const;
    const config = gatewayConfig({
      ...{ dataDir: this.dataDir, host: this.#host, ports: this.#ports },
      requestTimeout: '120s',
      shops: [ACME, { ...BEAN, platformUrl: platforms[0] }, { ...CORN, platformUrl: platforms[1] }],
    });
    const all = {
      ...config,
      localPlatform: { ...config.localPlatform, port: (await portsOf('127.0.0.1', 1))[0] },
      spool: { retain: { raw: FOREVER, dead: FOREVER, entries: FOREVER } },
      delivery: { ...config.delivery, giveUpAfter: FOREVER },
    };
    writeFileSync(this.#configFile, JSON.stringify(all));
    const choices = { configFile: this.#configFile, host: this.#host, ports: this.#ports };
    this.#gateway = new GatewayProcess(choices);
    await this.#gateway.ready(choices);
    return this.#gateway;
  }

  async stop(): Promise<void> {
    await this.#gateway?.kill();
    await Promise.all([this.bean.stop(), this.corn.stop()]);
  }

  /** Runs a command of the gateway. @throws if it fails */
  async command(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await sluice([...args, '--config', this.#configFile]);
    if (code !== 0) throw new Error(`${args.join(' ')} failed\n${stdout}${stderr}`);
    return stdout;
  }

  /** Resolves with all entries once `probe` holds for them. */
  entries(what: string, probe: (known: readonly KnownEntry[]) => boolean) {
    return waitForEntries(this.dataDir, what, (entries) => {
      const known = entries.map(knownOf);
      return probe(known) && known;
    });
  }

  async email(shop: ShopChoices, id: string, header = 'Subject: Order'): Promise<void> {
    const client = await SmtpClient.connect(this.#ports.smtp, '127.0.0.1', this.#host);
    try {
      await client.reply();
      const from = `${id.replace(/-\d+$/, '')}@customer.example`;
      for (const line of [
        'EHLO client.example',
        `MAIL FROM:<${from}>`,
        `RCPT TO:<${shop.inbox}>`,
        'DATA',
      ])
        await client.say(line);
      const head = [
        `From: Ann <${from}>`,
        `To: ${shop.inbox}`,
        `Message-ID: <${id}@customer.example>`,
        header,
      ];
      client.send(`${head.join('\r\n')}\r\n\r\nemail ${id}`);
      const answer = await client.say('\r\n.');
      if (!answer.startsWith('250')) throw new Error(answer);
    } finally {
      client.destroy();
    }
  }

  async text(shop: ShopChoices, id: string, Body = `text ${id}`): Promise<void> {
    // The same person writes id-1, id-2 and so on.
    const person = Buffer.from(id.replace(/-\d+$/, '')).reduce((sum, byte) => sum + byte, 0);
    const From = `+1202555${String(person).padStart(4, '0')}`;
    const { status } = await sendSms(this.#httpUrl, {
      MessageSid: sidOf(id),
      From,
      To: shop.number,
      Body,
    });
    if (status !== 200) throw new Error(`the text was answered with ${status}`);
  }

  async chat(shop: ShopChoices, id: string): Promise<void> {
    const client = await ChatClient.connect({ url: this.#httpUrl, auth: { key: shop.chatKey } });
    try {
      const answer = await client.send(`chat ${id}`);
      if (!answer.ok) throw new Error(answer.error);
    } finally {
      client.close();
    }
  }

  /** One message of each channel. */
  async all(shop: ShopChoices, id: string): Promise<void> {
    await this.email(shop, id);
    await this.text(shop, id);
    await this.chat(shop, id);
  }

  get #httpUrl(): string {
    return `http://${this.#host}:${this.#ports.http}`;
  }
}

const knownOf = ({ id, shopId, channel, state, remoteId }: Entry): KnownEntry => ({
  ...{ id, shop: NAMES.get(shopId) ?? shopId, channel, state, remoteId },
});

const count = (entries: readonly KnownEntry[], shop: string, state: EntryState): number =>
  entries.filter((entry) => entry.shop === shop && entry.state === state).length;

/**
 * Makes a data folder with the built gateway: entries of each channel in each state that it can have, killed while it
 * delivers. @param dir an empty folder @param target gets `data.tar.gz` and `entries.json`
 */
export async function makeReleaseData(dir: string, target: string): Promise<void> {
  const scene = new ReleaseScene(dir);
  scene.bean.script = ({ method, path, body }) => {
    if (method !== 'POST' || path !== '/messages/') return undefined;
    return body.includes('refused') ? { status: 400, body: { detail: 'no' } } : { status: 503 };
  };
  scene.corn.script = ({ method, path }) =>
    method === 'POST' && path === '/messages/' ? 'hang' : undefined;
  try {
    await scene.start();
    await scene.all(BEAN, 'refused');
    await scene.entries('refused ones', (found) => count(found, 'bean', 'dead') === 3);
    for (const n of [1, 2, 3]) await scene.email(ACME, `ann-${n}`);
    for (const n of [1, 2, 3]) await scene.text(ACME, `ann-${n}`);
    await scene.chat(ACME, 'ann');
    await scene.email(ACME, 'away', 'Auto-Submitted: auto-replied');
    await scene.text(ACME, 'away', 'STOP');
    await scene.all(BEAN, 'discarded');
    const waiting = await scene.entries(
      'those to discard',
      (found) => count(found, 'bean', 'queued') === 3,
    );
    const ids = waiting.filter(({ state }) => state === 'queued').map(({ id }) => id);
    await scene.command('queue', 'discard', ...ids, '--yes');
    await scene.all(BEAN, 'waiting');
    await scene.all(CORN, 'underway');
    const entries = await scene.entries(
      'every state',
      (found) =>
        count(found, 'acme', 'delivered') === 5 &&
        count(found, 'acme', 'held') === 2 &&
        count(found, 'acme', 'suppressed') === 4 &&
        count(found, 'bean', 'queued') === 3 &&
        count(found, 'corn', 'delivering') === 3,
    );
    await scene.stop();
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, 'entries.json'), `${JSON.stringify(entries, null, 2)}\n`);
    for (const name of readdirSync(scene.dataDir))
      if (/^ballast|-shm$|\.pid$/.test(name))
        rmSync(join(scene.dataDir, name), { recursive: true });
    execFileSync('tar', [
      'czf',
      join(target, 'data.tar.gz'),
      '--owner=0',
      '--group=0',
      '-C',
      dir,
      'data',
    ]);
  } finally {
    await scene.stop();
  }
}
