import type { DataFolderFacts } from '../../observability/facts.ts';
import { descriptorLimit } from '../../runtime/set-up-trouble.ts';
import { type AdminDoor, checkBreakers, readMetrics } from './breaker.ts';
import { type CheckName, type CheckResult, CHECKS, get, verdicts } from './check.ts';
import { backupHint, checkDataFolder } from './data-folder.ts';
import {
  checkClock,
  checkDescriptors,
  checkDisk,
  freeBytes,
  type NeededDescriptors,
  unknownDisk,
} from './machine.ts';
import { checkCertificate, checkMx, checkRelay, type RelayToCheck, resolveMx } from './mail.ts';
import { checkPlatform, type PlatformShop } from './platform.ts';
import { askDoor, type Door, type GatewayState, judgeDoor } from './ports.ts';
import { calledUrl, checkPublicUrl, checkReach } from './public-url.ts';
import { checkTwilioShop, type TwilioShop } from './twilio/check-shop.ts';

export interface Patient {
  readonly publicUrl: string;
  /** Shops with an account at Twilio. */
  readonly smsShops: readonly TwilioShop[];
  readonly platforms: readonly PlatformShop[];
  readonly dataDir: string;
  readonly maxMessageBytes: number;
  readonly descriptors: NeededDescriptors;
  /** Looks at the data folder; kept until it is asked, and asked once. */
  readonly dataFolder: () => DataFolderFacts;
  /** `delivery.paused`. */
  readonly paused: boolean;
  /** Where the gateway listens; what has any free port is not among them. */
  readonly doors: readonly Door[];
  readonly admin?: AdminDoor;
  readonly relays: readonly RelayToCheck[];
  readonly alerts: {
    readonly webhookUrl?: string;
    /** Somebody has to be told: not of a set-up to try things with. */
    readonly wanted: boolean;
    readonly byEmail: boolean;
  };
  /** Email that the internet should bring by itself; absent when SMTP is off. */
  readonly mail?: {
    readonly hostname: string;
    readonly domains: readonly string[];
    readonly dnsServers: readonly string[];
    /** PEM text of a configured certificate. */
    readonly certificate?: string;
  };
}

export interface ExamineOptions {
  /** All when absent. */
  readonly only?: readonly CheckName[];
  /** Sets what is wrong at Twilio's numbers. Without it nothing is changed anywhere. */
  readonly fix: boolean;
  /** For one call to the outside. */
  readonly timeoutMs: number;
  readonly clock: () => number;
}

type Check = (
  patient: Patient,
  options: ExamineOptions,
) => Promise<readonly CheckResult[]> | readonly CheckResult[];

/** A new check is a line here, with its name in CHECKS. */
const TABLE: Readonly<Record<CheckName, Check>> = {
  // Browsers reach an inner URL, so without SMS there is nothing to say about it.
  'public-url': ({ publicUrl, smsShops }) =>
    smsShops.length === 0 ? [] : [checkPublicUrl(publicUrl)],

  twilio: async ({ smsShops, publicUrl }, { fix, timeoutMs }) => {
    if (smsShops.length === 0) {
      const { skipped } = verdicts('twilio', 'SMS', 'an account at Twilio');
      return [skipped('no shop has one (that of the demo shop is made up)')];
    }
    const accounts = new Set(smsShops.map(({ twilio }) => twilio.accountSid));
    const results = await Promise.all(
      [...accounts].map(async (sid) => {
        const ofAccount: CheckResult[] = [];
        // One after the other: shops of an account share its limit of requests.
        for (const shop of smsShops.filter(({ twilio }) => twilio.accountSid === sid)) {
          ofAccount.push(...(await checkTwilioShop(shop, { publicUrl, fix, timeoutMs })));
        }
        return ofAccount;
      }),
    );
    return results.flat();
  },

  reach: async ({ publicUrl, smsShops }, { timeoutMs, clock }) =>
    smsShops.length === 0
      ? []
      : [checkReach(publicUrl, await get(calledUrl(publicUrl), timeoutMs, clock))],

  platform: ({ platforms }, { timeoutMs }) =>
    Promise.all(platforms.map((shop) => checkPlatform(shop, timeoutMs))),

  clock: async ({ platforms }, { timeoutMs, clock }) => {
    // Any answer has a date: no key is sent. The embedded platform has this machine's clock.
    const [server] = platforms.filter(({ embedded }) => !embedded).map(({ baseUrl }) => baseUrl);
    return server === undefined ? [] : [checkClock(server, await get(server, timeoutMs, clock))];
  },

  disk: async ({ dataDir, maxMessageBytes }) => [
    await freeBytes(dataDir).then(
      (free) => checkDisk(dataDir, free, maxMessageBytes),
      (error: unknown) => unknownDisk(dataDir, error),
    ),
  ],

  descriptors: ({ dataFolder, descriptors }) => {
    const { lock, pid } = dataFolder();
    // The limit is a process's own: what this shell may open says nothing of a service.
    return lock === 'held' && pid !== undefined
      ? [checkDescriptors(pid, descriptorLimit(pid), descriptors)]
      : [];
  },

  mx: async ({ mail }) => {
    const { hostname = '', domains = [], dnsServers = [] } = mail ?? {};
    return Promise.all(
      domains.map(async (domain) => checkMx(domain, hostname, await resolveMx(domain, dnsServers))),
    );
  },

  certificate: ({ mail }, { clock }) =>
    mail === undefined ? [] : [checkCertificate(mail.certificate, mail.hostname, clock())],

  ports: ({ doors, dataFolder }, { timeoutMs, clock }) =>
    Promise.all(
      doors.map(async (door) =>
        judgeDoor(door, await askDoor(door, timeoutMs, clock), stateOf(dataFolder())),
      ),
    ),

  breaker: async ({ admin, platforms, dataFolder }, { timeoutMs, clock }) => {
    const facts = dataFolder();
    if (facts.folder === undefined) return [];
    const answer =
      admin === undefined
        ? { failure: 'no password for /metrics is known here' }
        : await readMetrics(admin, timeoutMs);
    const { failing = [], stopped = [] } = typeof facts.spool === 'object' ? facts.spool : {};
    return checkBreakers({ shops: platforms, failing, stopped, now: clock() }, answer);
  },

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

function stateOf({ folder, lock, spool }: DataFolderFacts): GatewayState {
  if (lock === 'held') return 'running';
  return folder === undefined || spool === undefined ? 'never-started' : 'stopped';
}

/** Looks at everything outside this program that it needs, and at what it stands on. */
export async function examine(patient: Patient, options: ExamineOptions): Promise<CheckResult[]> {
  const { only = CHECKS } = options;
  const names = CHECKS.filter((name) => only.includes(name));
  const results = await Promise.all(names.map(async (name) => TABLE[name](patient, options)));
  return results.flat();
}

/**
 * Whether the host that alerts are posted to answers at all. Nothing is posted, and its URL, which
 * is a secret, is not shown. Any answer will do: a webhook refuses a GET.
 */
export async function checkAlertWebhook(
  url: string,
  timeoutMs: number,
  clock: () => number,
): Promise<CheckResult> {
  const { host, origin } = new URL(url);
  const { ok, failed } = verdicts('alerts', 'alerts.webhook.url', `${host} answers`);
  const answer = await get(`${origin}/`, timeoutMs, clock);
  return 'failure' in answer
    ? failed(
        `${host}: ${answer.failure}`,
        'correct alerts.webhook.url, and see that this machine may reach that host: alerts are lost until then',
      )
    : ok(`${host} answers`);
}

/** Nobody is told when something goes wrong. */
export function noAlerts(): CheckResult {
  const { warning } = verdicts('alerts', 'alerts', 'somebody is told when messages do not flow');
  return warning('nobody is told', 'give alerts.webhook.url, or alerts.email.to with a relay');
}
