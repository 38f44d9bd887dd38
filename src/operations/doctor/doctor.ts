import type { DatabaseStatus, DataFolderStatus } from '../../observability/status.ts';
import type { KeyPair, PairTrouble } from '../../runtime/key-pair.ts';
import { descriptorLimit } from '../../runtime/set-up-trouble.ts';
import { askConditions, askRefusedPages } from '../running-gateway.ts';
import { checkBreakers } from './breaker.ts';
import { checkChatOrigins } from './chat-origins.ts';
import { type CheckName, type CheckResult, CHECKS, get, ofShops, resultsFor } from './check.ts';
import { checkDatabase, checkS3 } from './database.ts';
import { backupHint, checkDataFolder } from './data-folder.ts';
import {
  checkClock,
  checkDescriptors,
  checkDisk,
  type NeededDescriptors,
  spaceOf,
  unknownDisk,
} from './machine.ts';
import {
  checkCertificate,
  checkMx,
  checkRelay,
  checkSources,
  type RelayToCheck,
  resolveMx,
} from './mail.ts';
import { checkPlatform, type PlatformShop } from './platform.ts';
import { askDoor, type Door, type GatewayState, judgeDoor } from './ports.ts';
import {
  calledUrl,
  checkLinks,
  checkPublicUrl,
  checkReach,
  TELNYX,
  TWILIO,
  type WebhookProvider,
  WHATSAPP,
} from './public-url.ts';
import { checkTelnyxShop, type TelnyxShop } from './telnyx.ts';
import { checkTwilioShop, type TwilioShop } from './twilio/check-shop.ts';
import { checkWhatsAppShop, type WhatsAppShop } from './whatsapp.ts';

export interface DoctorTargets {
  readonly publicUrl: string;
  /** Whether emails go to chat visitors: their links start with the public URL. */
  readonly mailsChatVisitors: boolean;
  readonly twilioShops: readonly TwilioShop[];
  readonly telnyxShops: readonly TelnyxShop[];
  readonly whatsappShops: readonly WhatsAppShop[];
  readonly platforms: readonly PlatformShop[];
  /** The names of the shops with a chat. */
  readonly chatShops: readonly string[];
  readonly dataDir: string;
  /** New messages are refused when less disk space than this is free. */
  readonly reserveBytes: number;
  /** `alerts.rules.diskBelow` */
  readonly diskBelow: number;
  readonly descriptors: NeededDescriptors;
  /** Inspects the data folder; called at most once. */
  readonly dataFolder: () => DataFolderStatus;
  /** Inspects the database of a shared store; absent for the embedded one. */
  readonly database?: () => Promise<DatabaseStatus>;
  /** Stores an object in S3, reads it and removes it; absent if large messages are elsewhere. */
  readonly s3?: () => Promise<void>;
  /** `delivery.paused`. */
  readonly paused: boolean;
  /** The gateway's listeners, except those on ephemeral ports. */
  readonly doors: readonly Door[];
  readonly relays: readonly RelayToCheck[];
  readonly alerts: {
    readonly webhookUrl?: string;
    /** Whether alerting is expected; false for a trial set-up. */
    readonly wanted: boolean;
    readonly byEmail: boolean;
  };
  /** Domains whose email the gateway receives directly; absent when SMTP is off. */
  readonly mail?: {
    readonly hostname: string;
    readonly domains: readonly { readonly domain: string; readonly shops: readonly string[] }[];
    readonly dnsServers: readonly string[];
    /** The configured certificate and its key, or why one cannot be read. */
    readonly pair?: KeyPair | PairTrouble;
    /** Networks that bring most of a shop's email whose sender nothing confirms. */
    readonly sources?: () => readonly { readonly shop: string; readonly network: string }[];
  };
}

export interface ExamineOptions {
  /** All checks when absent. */
  readonly only?: readonly CheckName[];
  /** Corrects the settings of Twilio numbers. Otherwise nothing is changed. */
  readonly fix: boolean;
  /** The timeout of one network request. */
  readonly timeoutMs: number;
  readonly clock: () => number;
}

type Check = (
  targets: DoctorTargets,
  options: ExamineOptions,
) => Promise<readonly CheckResult[]> | readonly CheckResult[];

/** The function of each name in CHECKS. */
const CHECK_FUNCTIONS: Readonly<Record<CheckName, Check>> = {
  // Only SMS and links in emails need a URL that is reachable from the internet.
  'public-url': (targets) => {
    const providers = providersOf(targets);
    if (providers.length > 0) return [checkPublicUrl(targets.publicUrl, providers)];
    return targets.mailsChatVisitors ? [checkLinks(targets.publicUrl)] : [];
  },

  twilio: async ({ publicUrl, ...targets }, { fix, timeoutMs }) => {
    const { twilioShops } = targets;
    if (twilioShops.length === 0) {
      if (providersOf(targets).length > 0) return [];
      const { skipped } = resultsFor('twilio', 'SMS', 'an account at Twilio');
      return [skipped('not configured for any shop (except the fictitious one of the demo shop)')];
    }
    const accounts = new Set(twilioShops.map(({ twilio }) => twilio.accountSid));
    const results = await Promise.all(
      [...accounts].map(async (sid) => {
        const ofAccount: CheckResult[] = [];
        // Sequentially, since shops with the same account share its rate limit.
        for (const shop of twilioShops.filter(({ twilio }) => twilio.accountSid === sid)) {
          const results = await checkTwilioShop(shop, { publicUrl, fix, timeoutMs });
          ofAccount.push(...ofShops([shop.name], results));
        }
        return ofAccount;
      }),
    );
    return results.flat();
  },

  telnyx: async ({ telnyxShops, publicUrl }, { timeoutMs }) => {
    const results: CheckResult[] = [];
    // Sequentially, since shops with the same account share its rate limit.
    for (const shop of telnyxShops) {
      const ofShop = await checkTelnyxShop(shop, { publicUrl, timeoutMs });
      results.push(...ofShops([shop.name], ofShop));
    }
    return results;
  },

  whatsapp: async ({ whatsappShops, publicUrl }, { timeoutMs, clock }) => {
    const results: CheckResult[] = [];
    for (const shop of whatsappShops) {
      const ofShop = await checkWhatsAppShop(shop, { publicUrl, timeoutMs, now: clock() });
      results.push(...ofShops([shop.name], ofShop));
    }
    return results;
  },

  reach: (targets, { timeoutMs, clock }) => {
    const { publicUrl } = targets;
    return Promise.all(
      providersOf(targets).map(async (provider) => {
        const answer = await get(calledUrl(publicUrl, provider), timeoutMs, clock);
        return checkReach(publicUrl, answer, provider);
      }),
    );
  },

  platform: async ({ platforms }, { timeoutMs }) => {
    const results = await Promise.all(
      platforms.map(async (shop) => ofShops([shop.name], [await checkPlatform(shop, timeoutMs)])),
    );
    return results.flat();
  },

  clock: async ({ platforms }, { timeoutMs, clock }) => {
    // Every response has a date, so no key is sent. The embedded platform uses this machine's
    // clock.
    const [server] = platforms.filter(({ embedded }) => !embedded).map(({ baseUrl }) => baseUrl);
    return server === undefined ? [] : [checkClock(server, await get(server, timeoutMs, clock))];
  },

  disk: async ({ dataDir, reserveBytes, diskBelow }) => [
    await spaceOf(dataDir).then(
      (space) => checkDisk(dataDir, { space, reserveBytes, diskBelow }),
      (error: unknown) => unknownDisk(dataDir, error),
    ),
  ],

  descriptors: ({ dataFolder, descriptors }) => {
    const { lock, pid } = dataFolder();
    // The limit belongs to the gateway's process and may differ from this shell's.
    return lock === 'held' && pid !== undefined
      ? [checkDescriptors(pid, descriptorLimit(pid), descriptors)]
      : [];
  },

  mx: async ({ mail }) => {
    const { hostname = '', domains = [], dnsServers = [] } = mail ?? {};
    const results = await Promise.all(
      domains.map(async ({ domain, shops }) =>
        ofShops(shops, [checkMx(domain, hostname, await resolveMx(domain, dnsServers))]),
      ),
    );
    return [...results.flat(), ...checkSources(mail?.sources)];
  },

  certificate: ({ mail }, { clock }) =>
    mail === undefined ? [] : checkCertificate(mail.pair, mail.hostname, clock()),

  ports: ({ doors, dataFolder }, { timeoutMs, clock }) =>
    Promise.all(
      doors.map(async (door) =>
        judgeDoor(door, await askDoor(door, timeoutMs, clock), stateOf(dataFolder())),
      ),
    ),

  breaker: async ({ dataDir, platforms, dataFolder }) => {
    const status = dataFolder();
    if (status.folder === undefined) return [];
    const asked = await askConditions(dataDir);
    const { stopped = [] } = typeof status.spool === 'object' ? status.spool : {};
    return checkBreakers({ shops: platforms, stopped }, asked);
  },

  'chat-origins': async ({ dataDir, chatShops, dataFolder }) =>
    chatShops.length === 0 || dataFolder().folder === undefined
      ? []
      : checkChatOrigins(chatShops, await askRefusedPages(dataDir)),

  database: async ({ database, s3 }) => [
    ...(database === undefined ? [] : await checkDatabase(database)),
    ...(s3 === undefined ? [] : [await checkS3(s3)]),
  ],

  'data-folder': ({ dataFolder, paused }, { clock }) =>
    checkDataFolder(dataFolder(), { now: clock(), uid: process.getuid?.(), paused }),

  relay: ({ relays }, { timeoutMs }) =>
    Promise.all(relays.map(async (relay) => checkRelay(relay, timeoutMs))),

  alerts: async ({ alerts }, { timeoutMs, clock }) => {
    const { webhookUrl: url, byEmail, wanted } = alerts;
    if (url !== undefined) return [await checkAlertWebhook(url, timeoutMs, clock)];
    return byEmail || !wanted ? [] : [noAlerts()];
  },

  backup: ({ dataFolder }) => {
    const { dir, spool } = dataFolder();
    return typeof spool === 'object' ? [backupHint(dir, spool.bytes)] : [];
  },
};

/** Where the shops have numbers. */
export const providersOf = ({
  twilioShops,
  telnyxShops,
  whatsappShops,
}: Pick<
  DoctorTargets,
  'twilioShops' | 'telnyxShops' | 'whatsappShops'
>): readonly WebhookProvider[] => [
  ...(twilioShops.length > 0 ? [TWILIO] : []),
  ...(telnyxShops.length > 0 ? [TELNYX] : []),
  ...(whatsappShops.length > 0 ? [WHATSAPP] : []),
];

function stateOf({ folder, lock, secrets }: DataFolderStatus): GatewayState {
  if (lock === 'held') return 'running';
  return folder === undefined || secrets.length === 0 ? 'never-started' : 'stopped';
}

/** Runs the checks of everything the gateway depends on. */
export async function examine(
  targets: DoctorTargets,
  options: ExamineOptions,
): Promise<CheckResult[]> {
  const { only = CHECKS } = options;
  const names = CHECKS.filter((name) => only.includes(name));
  const results = await Promise.all(
    names.map(async (name) => CHECK_FUNCTIONS[name](targets, options)),
  );
  return results.flat();
}

/**
 * Whether the host of the alert webhook responds. Nothing is posted, and the URL, a secret, is not
 * shown. Any status counts, since a webhook refuses GET.
 */
export async function checkAlertWebhook(
  url: string,
  timeoutMs: number,
  clock: () => number,
): Promise<CheckResult> {
  const { host, origin } = new URL(url);
  const { ok, failed } = resultsFor('alerts', 'alerts.webhook.url', `${host} responds`);
  const answer = await get(`${origin}/`, timeoutMs, clock);
  return 'failure' in answer
    ? failed(
        `${host}: ${answer.failure}`,
        'correct alerts.webhook.url, and check that this machine can reach the host; until then alerts are lost',
      )
    : ok(`${host} responds`);
}

/** No alert target is configured. */
export function noAlerts(): CheckResult {
  const { warning } = resultsFor('alerts', 'alerts', 'a target for alerts');
  return warning(
    'none: alerts are shown only in the console',
    'set alerts.webhook.url, or alerts.email.to with a relay',
  );
}
