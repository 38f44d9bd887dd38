import { setTimeout as delay } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { createEmailServer } from '../channels/email/door-smtp.ts';
import { createInboundRoute } from '../channels/email/door-http.ts';
import { openTls, type TlsMaterial } from '../channels/email/tls.ts';
import { createSmsWebhook } from '../channels/sms/door.ts';
import { type RunningChat } from './chat.ts';
import { demoRouter } from './demo.ts';
import { emailServerOptions, inboundOptions, tlsOptions } from './email-options.ts';
import { createHttpDoor, clientIpOf, createPublicApp, replaceableRoute } from './public-http.ts';
import { emailShops, smsShops } from './shops.ts';
import { type Intake } from '../intake/intake.ts';
import { createAddressDirectory, currentDirectory } from '../channels/email/routing.ts';
import { type Readiness } from '../observability/readiness.ts';
import type { Store } from '../spool/store.ts';

import type { Base } from './parts.ts';
import type { Platforms } from './platforms.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The public HTTP port. */
export interface PublicDoor {
  readonly address: ListenAddress;
  /** From now on, each response ends its connection. */
  readonly endKeepAlive: () => void;
}

export async function openHttp(
  { config, live, logger, metrics, clock, stack, grace, authenticator }: Base,
  store: Store,
  intake: Intake,
  chat: RunningChat | undefined,
  readiness: Readiness,
  { fates, replyFiles, leftAddresses }: Pick<Platforms, 'fates' | 'replyFiles' | 'leftAddresses'>,
): Promise<PublicDoor | undefined> {
  const { enabled, host, port } = config.http;
  if (!enabled) return undefined;
  const sms = live.derive('sms webhook', ['shops', 'platform', 'http.publicUrl'], (current) =>
    createSmsWebhook(
      { shops: smsShops(current), publicUrl: current.http.publicUrl },
      {
        intake,
        optOuts: store.optOuts,
        logger,
        metrics,
        onStatus: async (report) => fates()?.reportPart(report),
      },
    ),
  );
  const email = live.derive('email over http', ['shops', 'http.trustProxy'], (current) =>
    createInboundRoute(inboundOptions(current), {
      intake,
      blobs: store.spool.blobs,
      directory: createAddressDirectory(emailShops(current)),
      authenticator,
      clientIp: clientIpOf(current.http.trustProxy),
      logger,
      metrics,
      clock,
    }),
  );
  const demo = live.derive('demo page', ['shops'], demoRouter);
  const routers: RequestHandler[] = [
    replaceableRoute(sms),
    replaceableRoute(email),
    ...(chat?.routers ?? []),
    startedRoute(() => replyFiles()?.handler),
    startedRoute(() => leftAddresses()?.page),
    replaceableRoute(demo),
  ];
  const app = createPublicApp({ routers, readiness, logger });
  const listener = createHttpDoor('public', app, { live, logger, metrics });
  chat?.attach(listener.server);
  const bound = await listener.listen(host, port);
  stack.pushDoor('http', () => listener.stop(grace.ms));
  if (chat !== undefined) stack.pushDoor('chat', () => chat.stop());
  return { address: { host, port: bound }, endKeepAlive: () => listener.endKeepAlive() };
}

/** A route of the embedded platform, which a reload may start. */
const startedRoute =
  (started: () => RequestHandler | undefined): RequestHandler =>
  (request, response, next) => {
    const handler = started();
    if (handler === undefined) next();
    else handler(request, response, next);
  };

/**
 * Lets clients find another gateway before the doors close. Load balancers have half of the time to notice that
 * this one is not ready. In the other half, chat visitors are disconnected one by one, so that they do not all
 * reconnect in one instant.
 */
export async function leave(
  overMs: number,
  http: PublicDoor | undefined,
  chat: RunningChat | undefined,
): Promise<void> {
  if (overMs === 0) return;
  http?.endKeepAlive();
  await delay(overMs / 2);
  await (chat === undefined ? delay(overMs / 2) : chat.leave(overMs / 2));
}

/** Opens the certificate before the doors, so that alerts can report one that expires. */
export async function openCertificate({
  config,
  logger,
  metrics,
  stack,
}: Base): Promise<TlsMaterial | undefined> {
  if (!config.smtp.enabled) return undefined;
  const tls = await openTls(tlsOptions(config), { logger, metrics });
  stack.push('certificate', () => tls.close());
  return tls;
}

export async function openSmtp(
  { config, live, logger, metrics, clock, stack, grace, authenticator }: Base,
  store: Store,
  intake: Intake,
  tls: TlsMaterial | undefined,
): Promise<ListenAddress | undefined> {
  if (tls === undefined) return undefined;
  const directory = live.derive('email directory', ['shops'], (current) =>
    createAddressDirectory(emailShops(current)),
  );
  const server = createEmailServer(emailServerOptions(config), {
    intake,
    blobs: store.spool.blobs,
    directory: currentDirectory(directory),
    authenticator,
    tls,
    logger,
    metrics,
    clock,
  });
  const { port } = await server.start();
  stack.pushDoor('smtp', () => server.stop(grace.ms));
  return { host: config.smtp.host, port };
}
