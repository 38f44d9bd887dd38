import type * as BareChat from '../baselines/bare-chat.ts';
import type * as BareSmtp from '../baselines/bare-smtp.ts';
import type * as BareWebhook from '../baselines/bare-webhook.ts';
import type * as NaiveBridge from '../baselines/naive-bridge.ts';
import type * as ChatLoad from '../load/chat.ts';
import type * as EmailLoad from '../load/emails.ts';
import type * as SignedEmails from '../load/signed-emails.ts';
import type * as WebhookLoad from '../load/webhooks.ts';
import type * as FastPlatform from '../platform/fast-platform.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../support/gateway.ts';
import type { Part, PartModule } from '../support/part.ts';
import { type Postfix, startPostfix } from '../support/postfix.ts';
import type { Workbench } from '../support/workbench.ts';
import { MeasuredProcess } from './measured-process.ts';
import { Probe } from './probe.ts';

/** A gateway, and what it uses. */
export interface MeasuredGateway {
  readonly gateway: Gateway;
  readonly process: MeasuredProcess;
  /** From `serve` to ready. */
  readonly startSeconds: number;
}

/** Something to compare with, and what it uses. */
export interface Baseline {
  readonly port: number;
  readonly process: MeasuredProcess;
}

interface Size {
  /** Measured ones; one more before them warms up. */
  readonly rounds: number;
  /** The messages of a round, instead of each scenario's own number. */
  readonly messages: number | undefined;
  /** The part of each scenario's own number of messages. */
  readonly share: number;
  /** A folder for CPU profiles of the gateway with trusted clients. */
  readonly profileInto: string | undefined;
}

const at = (file: string): URL => new URL(file, import.meta.url);

/** Everything that scenarios need; each part is started when one first asks for it. */
export class Stage {
  readonly rounds: number;
  readonly #bench: Workbench;
  readonly #size: Size;

  constructor(bench: Workbench, size: Size) {
    this.#bench = bench;
    this.#size = size;
    this.rounds = size.rounds;
  }

  /** @param usual the scenario's own number of messages in a round */
  messages(usual: number): number {
    return this.#size.messages ?? Math.max(1, Math.ceil(usual * this.#size.share));
  }

  readonly platform = once(() =>
    this.#part<typeof FastPlatform>('../platform/fast-platform.ts', { hashMedia: false }),
  );

  /** Its clients are trusted relays. */
  readonly trusted = once(() => {
    const { profileInto } = this.#size;
    return this.#gateway(profileInto === undefined ? {} : { profileInto });
  });

  /** Its clients are strangers, whose SPF records, signatures and policies it checks. */
  readonly outside = once(() => this.#gateway({ strangers: true }));

  /** It acknowledges and delivers nothing. */
  readonly paused = once(() => this.#gateway({ paused: true }));

  readonly bridge = once(() => this.#bridge(1));
  readonly twoBridges = once(() => this.#bridge(2));

  readonly postfix = once(async (): Promise<Postfix & Baseline> => {
    const postfix = await startPostfix(this.#bench);
    return { ...postfix, process: new MeasuredProcess(postfix.pid) };
  });

  readonly bareSmtp = once(() =>
    this.#baseline<typeof BareSmtp>('../baselines/bare-smtp.ts', undefined),
  );
  readonly bareWebhook = once(() =>
    this.#baseline<typeof BareWebhook>('../baselines/bare-webhook.ts', undefined),
  );
  readonly bareChat = once(() =>
    this.#baseline<typeof BareChat>('../baselines/bare-chat.ts', { sendsLines: false }),
  );

  readonly emails = once(() => this.#part<typeof EmailLoad>('../load/emails.ts', undefined));
  readonly signed = once(() =>
    this.#part<typeof SignedEmails>('../load/signed-emails.ts', undefined),
  );
  readonly webhooks = once(() => this.#part<typeof WebhookLoad>('../load/webhooks.ts', undefined));
  readonly chat = once(() => this.#part<typeof ChatLoad>('../load/chat.ts', undefined));

  /**
   * A new gateway whose memory is its own: its heap is not counted. The senders' domain is known if its clients are
   * strangers; mail from relays has signatures without a key, so that its domain must have no policy.
   */
  newGateway(options: Partial<GatewayOptions> = {}): Promise<MeasuredGateway> {
    return this.#gateway(options, false);
  }

  async #gateway(options: Partial<GatewayOptions>, countsHeap = true): Promise<MeasuredGateway> {
    const probe = await Probe.make(this.#bench, countsHeap);
    const names = await this.signed();
    const nameServer = await names.call(options.strangers === true ? 'address' : 'emptyAddress');
    const platformUrl = await (await this.platform()).call('url');
    const startedAt = performance.now();
    const gateway = await startGateway(this.#bench, {
      ...{ platformUrl, paused: false, nameServer, nodeArguments: [probe.nodeArgument] },
      ...options,
    });
    const startSeconds = (performance.now() - startedAt) / 1000;
    return { gateway, process: new MeasuredProcess(gateway.pid, probe), startSeconds };
  }

  async #bridge(processes: number): Promise<Baseline> {
    const platformUrl = await (await this.platform()).call('url');
    const options = { platformUrl, processes };
    return this.#baseline<typeof NaiveBridge>('../baselines/naive-bridge.ts', options);
  }

  async #baseline<Module extends PartModule>(
    file: string,
    options: Parameters<Module['start']>[0],
  ): Promise<Baseline> {
    const probe = await Probe.make(this.#bench, true);
    const part = await this.#bench.part<BaselineModule>(at(file), options, [probe.nodeArgument]);
    return { port: await part.call('port'), process: new MeasuredProcess(part.pid, probe) };
  }

  #part<Module extends PartModule>(
    file: string,
    options: Parameters<Module['start']>[0],
  ): Promise<Part<Module>> {
    return this.#bench.part<Module>(at(file), options);
  }
}

/** What baselines have in common. */
interface BaselineModule {
  readonly start: (options: unknown) => Promise<{ readonly port: () => number }>;
}

/** Calls `start` at the first call only. */
function once<Value>(start: () => Promise<Value>): () => Promise<Value> {
  let started: Promise<Value> | undefined;
  return () => (started ??= start());
}
