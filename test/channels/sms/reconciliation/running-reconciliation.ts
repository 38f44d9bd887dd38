import { readStored } from '../../../../src/channels/sms/stored.ts';
import type { ApiPace } from '../../../../src/channels/sms/provider.ts';
import {
  type Reconciliation,
  startReconciliation,
} from '../../../../src/channels/sms/reconciliation/reconciliation.ts';
import type { SmsShop } from '../../../../src/channels/sms/shop.ts';
import { createIntake, type Intake } from '../../../../src/intake/intake.ts';
import { createMetrics, type Metrics } from '../../../../src/observability/metrics.ts';
import type { Clock } from '../../../../src/runtime/clock.ts';
import type { Claimed, Entry } from '../../../../src/spool/entry.ts';
import type { Leases } from '../../../../src/runtime/leases.ts';
import type { Store } from '../../../../src/spool/store.ts';
import { openStore } from '../../../support/store.ts';
import { ends } from '../../../support/ends.ts';
import { claimFrom } from '../../../support/entries.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { serveMessages, type TwilioMessagesOptions } from '../../../support/twilio-messages.ts';
import { ACCOUNT_SID, startTwilioStandIn } from '../../../support/twilio-stand-in.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type LogLine, recordingLogger, smsShop } from '../running-door.ts';

export const MARK = `sms ${ACCOUNT_SID} reconciled until`;
const QUICK: ApiPace = { gapMs: 0, retries: 2, minTimeoutMs: 1 };

export interface Choices {
  readonly shops?: readonly SmsShop[];
  readonly everyMs?: number;
  readonly afterFailureMs?: readonly number[];
  readonly maxPages?: number;
  readonly pace?: ApiPace;
  readonly clock?: Clock;
  readonly intake?: Pick<Intake, 'accept'>;
  readonly leases?: Leases;
}

/** A store, a Twilio, and reconciliations over both, as many as a test starts. */
export async function reconciling(options: TwilioMessagesOptions = {}) {
  const twilio = await startTwilioStandIn();
  ends(() => twilio.close());
  const dir = tempDir();
  ends(() => dir.remove());
  const open = () => openStore(dir.path);
  let store: Store = await open();
  ends(() => store.spool.close());
  const metrics = createMetrics();
  const log: LogLine[] = [];
  const messages = serveMessages(twilio, options);
  /** The shops of a test, with their API at the stand-in. */
  const atStandIn = (shop: SmsShop): SmsShop => ({
    ...shop,
    account: Object.assign({}, shop.account, { apiBaseUrl: twilio.baseUrl }),
  });
  const newIntake = () =>
    createIntake({ ...store, metrics, clock: Date.now, onAccepted: () => undefined });

  const start = ({ shops = [smsShop()], clock = Date.now, ...choices }: Choices = {}) => {
    const reconciliation = startReconciliation(
      {
        shops: shops.map(atStandIn),
        pace: choices.pace ?? QUICK,
        everyMs: choices.everyMs ?? 3_600_000,
        afterFailureMs: choices.afterFailureMs ?? [1],
        ...(choices.maxPages !== undefined && { maxPages: choices.maxPages }),
      },
      {
        ...{ spool: store.spool, leases: choices.leases ?? store.leases },
        intake: choices.intake ?? newIntake(),
        metrics,
        logger: recordingLogger(log),
        clock,
      },
    );
    ends(() => reconciliation.stop());
    return reconciliation;
  };
  const runsIn = () => log.filter(({ event }) => event === 'sms.reconciliation').length;
  return {
    twilio,
    messages,
    metrics,
    log,
    start,
    runsIn,
    newIntake,
    get store() {
      return store;
    },
    /** One whole run that succeeds, and its end. */
    runOnce: async (choices: Choices = {}): Promise<void> => {
      const before = runsIn();
      const reconciliation: Reconciliation = start(choices);
      await waitFor('a run', () => runsIn() > before);
      await reconciliation.stop();
    },
    /** The process ends and another one opens the same folder. */
    restart: async () => {
      await store.spool.close();
      store = await open();
      await store.spool.recover();
    },
    /** Accepted entries, the oldest first. */
    entries: async (): Promise<readonly Entry[]> =>
      (await store.spool.list({ limit: 1000 })).toReversed(),
    claim: async (shop = smsShop()): Promise<readonly Claimed[]> =>
      claimFrom(store.spool, shop.shopId, 1000, 60_000),
  };
}

export const bodyOf = (claimed: Claimed): string => readStored(claimed).message.body;

export async function valueOf(
  metrics: Metrics,
  name: 'smsReconciled' | 'alarms',
  label?: Readonly<Record<string, string>>,
): Promise<number> {
  const { values } = await metrics[name].get();
  const matching = values.filter(({ labels }) =>
    Object.entries(label ?? {}).every(([key, value]) => Reflect.get(labels, key) === value),
  );
  return matching.reduce((sum, { value }) => sum + value, 0);
}
