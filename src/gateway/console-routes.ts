import type { Router } from 'express';
import { z } from 'zod';
import type { CompleteConfig } from '../config/complete.ts';
import type { Overview } from '../console/contract.ts';
import { actionRoutes, type Actions } from '../console/server/actions.ts';
import type { Audit } from '../console/server/audit.ts';
import { auditRoutes } from '../console/server/audit-routes.ts';
import { contentRoutes, type EntryContents } from '../console/server/content-routes.ts';
import type { DeskAccess } from '../console/server/desk-access.ts';
import { DeskPresence } from '../console/server/desk-presence.ts';
import { deskRoutes } from '../console/server/desk-routes.ts';
import { outboxRoutes } from '../console/server/outbox-routes.ts';
import { entryRoutes } from '../console/server/entry-routes.ts';
import type { LiveFigures } from '../console/server/live-figures.ts';
import { peopleRoutes, type RunBeside } from '../console/server/people-routes.ts';
import { platformRoutes } from '../console/server/platform-routes.ts';
import { referenceRoutes } from '../console/server/reference/routes.ts';
import { type ShopNames, shopRoutes } from '../console/server/shop-routes.ts';
import { liveRoutes, type Stream } from '../console/server/stream.ts';
import { tokenRoutes } from '../console/server/token-routes.ts';
import { upkeepRoutes } from '../console/server/upkeep-routes.ts';
import type { ShopId } from '../domain/ids.ts';
import type { IncidentLog } from '../operations/alerts/incident-log.ts';
import type { CheckResult } from '../operations/doctor/check.ts';
import { examine } from '../operations/doctor/doctor.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Entry } from '../spool/entry.ts';
import type { EntryIndex } from '../spool/entry-index.ts';
import type { Store } from '../spool/store.ts';
import type { ConfigurationService } from './configuration-service.ts';
import { snippetOf } from './console-contents.ts';
import { type Arrivals, type Doors, sendTestMessage } from './console-test-message.ts';
import type { Delivery } from './delivery/delivery.ts';
import { doctorTargets } from './doctor-targets.ts';
import { retentionOf } from './housekeeping.ts';
import type { LiveConfig } from './live-config.ts';
import type { ShopClient } from './platforms.ts';
import { version } from './version.ts';

/** What fits a row of the list. */
const SNIPPET_CHARS = 120;
/** How many of a person's newest messages are looked at. */
const MESSAGES_OF_PERSON = 200;
/** The time to look up a link to the ticket, which is not essential. */
const TICKET_MS = 1500;

interface RouteParts {
  readonly parts: {
    readonly live: LiveConfig;
    readonly configuration: ConfigurationService;
    readonly store: Store;
    readonly index: EntryIndex;
    readonly incidents: Pick<IncidentLog, 'all'>;
    readonly shops: () => readonly ShopClient[];
    readonly health: Delivery['health'];
    readonly doors: () => Doors;
    readonly platformUrl: () => string | undefined;
    readonly wake: () => void;
    readonly clock: Clock;
    readonly desk: DeskAccess;
    readonly runBeside: RunBeside | undefined;
  };
  readonly audit: Audit;
  readonly actions: Actions;
  readonly shops: ShopNames;
  readonly arrivals: Arrivals;
  readonly contents: EntryContents;
  readonly overview: () => Promise<Overview>;
  readonly figures: Pick<LiveFigures, 'history'>;
  readonly stream: Stream;
  /** The names of the people who can sign in. */
  readonly people: () => readonly string[];
}

/** The routes of the admin API behind the sign-in. Each is in `console/server/reference/operations.ts`. */
export function consoleRoutes(own: RouteParts): readonly Router[] {
  const { parts, audit, actions, shops, arrivals, contents, overview, figures, stream } = own;
  const { live, store, index, clock, desk } = parts;
  const { spool, operator } = store;
  return [
    liveRoutes({
      ...{ overview, stream },
      history: (range) => figures.history(range),
      incidents: () => parts.incidents.all,
    }),
    entryRoutes({
      ...{ spool, operator, index, shops },
      ticketOf: (entry) => ticketOf(entry, parts),
      snippetOf: (entry, raw) => snippetOf(entry, raw, SNIPPET_CHARS),
      showsSnippets: () => live.value.admin.snippets,
      retention: () => retentionOf(live.value),
    }),
    contentRoutes({ spool, operator, audit, contents }),
    actionRoutes(actions, shops),
    shopRoutes({
      ...{ spool, shops, audit, wake: parts.wake },
      deliveryPaused: () => live.value.delivery.paused,
    }),
    tokenRoutes({ tokens: store.apiTokens, audit, clock }),
    referenceRoutes(version()),
    platformRoutes(
      (name) => parts.shops().find(isCalled(name))?.client,
      async (name, person) => conversationsWith(index, shops.idOf(name), person),
    ),
    deskRoutes({
      ...{ desk, stream, audit },
      people: own.people,
      presence: new DeskPresence(clock),
    }),
    outboxRoutes({ desk, audit }),
    auditRoutes({ operator, audit }),
    peopleRoutes({ audit, runBeside: parts.runBeside }),
    upkeepRoutes({
      ...{ audit, configuration: parts.configuration },
      examine: () => examineGateway(live.value, parts.platformUrl(), store.neededBytes()),
      sendTest: (shop, channel) =>
        sendTestMessage(
          { config: live.value, doors: parts.doors(), arrivals, spool },
          shop,
          channel,
        ),
    }),
  ];
}

async function conversationsWith(
  index: Pick<EntryIndex, 'find'>,
  shopId: ShopId | undefined,
  person: string,
): Promise<readonly string[]> {
  if (shopId === undefined) return [];
  const { found } = await index.find({ shopId, text: person, limit: MESSAGES_OF_PERSON });
  // The search also finds words that begin like this, and other places than the sender.
  const own = found.filter(({ summary }) => isFrom(summary.from, person));
  return [...new Set(own.flatMap(({ entry }) => entry.conversationId ?? []))];
}

/** Whether a sender as lists show it, `Ann <ann@example.com>` or `Ann +15550001111`, has this address or number. */
function isFrom(from: string, person: string): boolean {
  const wanted = person.trim().toLowerCase();
  if (wanted.includes('@')) return addressIn(from.toLowerCase()) === wanted;
  const digits = wanted.replace(/\D/g, '');
  return digits.length > 0 && from.replace(/\D/g, '').endsWith(digits);
}

const addressIn = (from: string): string => /<([^<>]*)>$/.exec(from)?.[1] ?? from;

const isCalled =
  (name: string) =>
  (shop: ShopClient): boolean =>
    shop.name === name;

/** The ticket belongs to the conversation. The platform is asked for it, with a short timeout. */
async function ticketOf(
  { shopId, conversationId }: Entry,
  { shops, health }: Pick<RouteParts['parts'], 'shops' | 'health'>,
): Promise<string | undefined> {
  const shop = shops().find((each) => each.shopId === shopId);
  const id = z.guid().safeParse(conversationId).data;
  if (shop === undefined || id === undefined) return undefined;
  try {
    if ((await health()).get(shopId)?.messages.state === 'open') return undefined;
    const query = { conversation_id: id, limit: 1 };
    const { results } = await shop.client.listTickets(query, AbortSignal.timeout(TICKET_MS));
    return results[0]?.id;
  } catch {
    // The page shows the entry even without its ticket.
    return undefined;
  }
}

export function shopNames(shops: () => readonly ShopClient[]): ShopNames {
  const served = (id: ShopId) => shops().find(({ shopId }) => shopId === id);
  return {
    idOf: (name) => shops().find(isCalled(name))?.shopId,
    nameOf: (id) => served(id)?.name ?? id,
    isServed: (id) => served(id) !== undefined,
  };
}

/** Shorter than the timeout of `sluice doctor`, because an operator waits for the page. */
const CALL_MS = 10_000;

/** Runs the checks of `sluice doctor` within the gateway. It changes nothing. */
function examineGateway(
  config: CompleteConfig,
  embeddedUrl: string | undefined,
  reserveBytes: number,
): Promise<readonly CheckResult[]> {
  const targets = { ...doctorTargets(config, config, embeddedUrl), reserveBytes };
  return examine(targets, { fix: false, timeoutMs: CALL_MS, clock: Date.now });
}
