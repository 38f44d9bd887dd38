import { domainOf, matchKey } from '../domain/email-addresses.ts';
import { nodeAt, scalarsAt } from './layers.ts';
import { showPath, showPosition, type Mistake, type Path } from './mistakes.ts';
import { unreadable } from './named-files.ts';
import type { SourceNode } from './source-tree.ts';
import { textMistakes } from './text-checks.ts';

/**
 * Checks that involve more than one field. They run on the document as it was written, so that
 * their mistakes are reported together with those of the schema.
 * @param defaultsFile the name of the file of the defaults, as in their places
 */
export function crossChecks(root: SourceNode | undefined, defaultsFile: string): Mistake[] {
  const shops = nodeAt(root, ['shops']);
  const each = shops?.kind === 'list' ? shops.items.map((shop, index) => ({ shop, index })) : [];
  return [
    ...duplicates(root),
    ...sharedOperatorNames(root),
    together(root, ['smtp', 'tls'], 'cert', 'key'),
    ...each.map(({ index }) =>
      together(root, ['shops', index, 'sms', 'twilio'], 'apiKeySid', 'apiKeySecret'),
    ),
    ...each.map(({ shop, index }) => hasChannel(shop, index)),
    ...each.flatMap(({ index }) => textMistakes(root, index)),
    ...each.map(({ index }) => hasOrigin(root, index)),
    platformWithoutShops(root),
    ...sharedPorts(root, defaultsFile),
    relayWithoutTls(root),
    blobsWithoutDatabase(root),
    ...endpointWithoutKey(root),
    ...incompleteAlerts(root),
    ...alertsIntoOurInbox(root),
    ...unreadable(root),
    ...each.map(({ index }) => secretOnThePage(root, index)),
  ].filter((mistake) => mistake !== undefined);
}

/** These values decide which shop a message belongs to, so each may occur only once. */
const UNIQUE: readonly { pattern: Path; what: string; same: (text: string) => string }[] = [
  { pattern: ['name'], what: 'a name', same: (text) => text },
  { pattern: ['shopId'], what: 'a shop id', same: (text) => text.toLowerCase() },
  {
    pattern: ['email', 'addresses', '*'],
    what: 'an address',
    same: (text) => (text.startsWith('*@') ? text.toLowerCase() : (matchKey(text) ?? text)),
  },
  {
    pattern: ['sms', 'numbers', '*'],
    what: 'a number',
    same: (text) => text.replace(/[\s().-]/g, ''),
  },
  {
    pattern: ['sms', 'twilio', 'messagingServiceSids', '*'],
    what: 'a messaging service',
    same: (text) => text,
  },
  {
    pattern: ['sms', 'whatsappCloud', 'phoneNumberIds', '*'],
    what: 'a phone number ID',
    same: (text) => text,
  },
  { pattern: ['chat', 'key'], what: 'a chat key', same: (text) => text },
];

function duplicates(root: SourceNode | undefined): Mistake[] {
  return UNIQUE.flatMap(({ pattern, what, same }) =>
    repeated(
      scalarsAt(root, ['shops', '*', ...pattern]),
      ({ node }) => same(node.text),
      ({ path, node }, first) => ({
        path: showPath(path),
        place: node.place,
        expected: `${what} that is used only once in all shops`,
        found: `the same as ${showPath(first.path)} (${showPosition(first.node.place)})`,
        fix:
          typeof pattern.at(-1) === 'string' && pattern.at(-1) !== '*'
            ? 'write another one here'
            : 'remove one of the two',
      }),
    ),
  );
}

/** The audit log identifies people by these names. */
function sharedOperatorNames(root: SourceNode | undefined): Mistake[] {
  return repeated(
    scalarsAt(root, ['admin', 'operators', '*', 'name']),
    ({ node }) => node.text,
    ({ path, node }) => ({
      path: showPath(path),
      place: node.place,
      expected: 'a name that is used only once in admin.operators',
      found: 'a name that is already used',
      fix: 'choose another name',
    }),
  );
}

/** A mistake for each value whose key an earlier one has. */
function repeated<T>(
  values: readonly T[],
  keyOf: (value: T) => string,
  mistakeOf: (value: T, first: T) => Mistake,
): Mistake[] {
  const seen = new Map<string, T>();
  return values.flatMap((value) => {
    const key = keyOf(value);
    const first = seen.get(key);
    if (first !== undefined) return [mistakeOf(value, first)];
    seen.set(key, value);
    return [];
  });
}

function together(
  root: SourceNode | undefined,
  path: Path,
  first: string,
  second: string,
): Mistake | undefined {
  const node = nodeAt(root, path);
  if (node?.kind !== 'map') return undefined;
  const has = (key: string) => node.entries.get(key)?.value !== undefined;
  if (has(first) === has(second)) return undefined;
  const missing = has(first) ? second : first;
  return {
    path: showPath([...path, missing]),
    place: node.place,
    expected: `${first} and ${second} together, or neither`,
    found: 'only one of them',
    fix: `add ${missing}`,
  };
}

/** As the configuration calls them. */
const CHANNELS = ['email', 'sms', 'chat'];

function hasChannel(shop: SourceNode, index: number): Mistake | undefined {
  if (shop.kind !== 'map') return undefined;
  const given = CHANNELS.filter((channel) => shop.entries.has(channel));
  const empty = given.find((channel) => shop.entries.get(channel)?.value === undefined);
  if (empty !== undefined) {
    return {
      path: showPath(['shops', index, empty]),
      place: shop.entries.get(empty)?.keyPlace ?? shop.place,
      expected: `the keys of ${empty}`,
      found: 'nothing',
      fix: `add them, as in config/example.yaml, or remove ${empty}`,
    };
  }
  if (given.length > 0) return undefined;
  return {
    path: showPath(['shops', index]),
    place: shop.place,
    expected: 'at least one channel: email, sms or chat',
    found: 'none',
    fix:
      shop.place.variable === undefined
        ? 'add email: {addresses: [support@acme.example]}, for instance'
        : 'set SLUICE_SHOP_EMAIL_ADDRESSES, SLUICE_SHOP_SMS_NUMBERS or SLUICE_SHOP_CHAT_KEY',
  };
}

function hasOrigin(root: SourceNode | undefined, index: number): Mistake | undefined {
  const chat = nodeAt(root, ['shops', index, 'chat']);
  if (chat?.kind !== 'map') return undefined;
  const origins = chat.entries.get('origins')?.value;
  const allowNoOrigin = chat.entries.get('allowNoOrigin')?.value;
  if (origins !== undefined && !(origins.kind === 'list' && origins.items.length === 0))
    return undefined;
  if (allowNoOrigin?.kind === 'text' && allowNoOrigin.text === 'true') return undefined;
  return {
    path: showPath(['shops', index, 'chat', 'origins']),
    place: chat.place,
    expected: 'the origins of the web sites that show the widget, or allowNoOrigin: true',
    found: 'neither, so no visitor could connect',
    fix: 'write origins: ["https://acme.example"], for instance',
  };
}

/** Without shops, the demo shop is used, and it exists on the local platform only. */
function platformWithoutShops(root: SourceNode | undefined): Mistake | undefined {
  const url = nodeAt(root, ['platform', 'url']);
  const shops = nodeAt(root, ['shops']);
  if (url?.kind !== 'text' || url.text === 'local') return undefined;
  if (shops?.kind !== 'list' || shops.items.length > 0) return undefined;
  return {
    path: 'shops',
    place: url.place,
    expected: 'at least one shop, since platform.url is not local',
    found: 'an empty list',
    fix:
      'add the shop: its name, shopId, apiKey and channels, as in config/example.yaml, or in ' +
      'SLUICE_SHOP_ variables',
  };
}

function sharedPorts(root: SourceNode | undefined, defaultsFile: string): Mistake[] {
  const ports = ['smtp', 'http', 'admin', 'localPlatform'].flatMap((part) => {
    const port = nodeAt(root, [part, 'port']);
    const enabled = nodeAt(root, [part, 'enabled']);
    if (port?.kind !== 'text' || port.text === '0') return [];
    if (enabled?.kind === 'text' && enabled.text === 'false') return [];
    return [{ part, port }];
  });
  const isDefault = ({ port }: (typeof ports)[number]) => port.place.file === defaultsFile;
  return repeated(
    // The one that was chosen is wrong, not the default.
    ports.toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a))),
    ({ port }) => port.text,
    ({ part, port }, first) => ({
      path: showPath([part, 'port']),
      place: port.place,
      expected: 'a different port for each listener',
      found: `the same port as ${first.part}.port`,
      fix: 'choose another port',
    }),
  );
}

/** The embedded store keeps its blobs in the data folder. */
function blobsWithoutDatabase(root: SourceNode | undefined): Mistake | undefined {
  const url = nodeAt(root, ['spool', 'url']);
  const blobs = nodeAt(root, ['spool', 'blobs']);
  if (url?.kind !== 'text' || url.text !== 'sqlite' || blobs === undefined) return undefined;
  return {
    path: 'spool.blobs',
    place: blobs.place,
    expected: 'no value, since spool.url is sqlite',
    found: 'a place that only a shared store uses',
    fix: 'remove it, or set spool.url to a postgres:// URL',
  };
}

/** `smtps://` is TLS from the first byte. */
function relayWithoutTls(root: SourceNode | undefined): Mistake | undefined {
  const relay = nodeAt(root, ['localPlatform', 'replies', 'relay']);
  const tls = nodeAt(root, ['localPlatform', 'replies', 'relayTls']);
  if (relay?.kind !== 'text' || tls?.kind !== 'text') return undefined;
  if (!relay.text.startsWith('smtps:') || tls.text !== 'off') return undefined;
  return {
    path: 'localPlatform.replies.relayTls',
    place: tls.place,
    expected: 'auto or required, since smtps:// always uses TLS',
    found: '"off"',
    fix: 'remove it, or write smtp:// for a relay without TLS',
  };
}

function endpointWithoutKey(root: SourceNode | undefined): Mistake[] {
  const agent = nodeAt(root, ['localPlatform', 'agent']);
  const kind = nodeAt(root, ['localPlatform', 'agent', 'kind']);
  if (agent?.kind !== 'map' || kind?.kind !== 'text' || kind.text !== 'openai') return [];
  return ENDPOINT_NEEDS.filter(({ key }) => agent.entries.get(key)?.value === undefined).map(
    ({ key, expected, fix }) => ({
      path: `localPlatform.agent.${key}`,
      place: kind.place,
      expected: `${expected}, since localPlatform.agent.kind is openai`,
      found: 'nothing',
      fix,
    }),
  );
}

const ENDPOINT_NEEDS = [
  {
    key: 'model',
    expected: 'the name of a model of the endpoint',
    fix: 'write model: llama3.1, for instance',
  },
  {
    key: 'apiKey',
    expected: 'the key of the endpoint',
    fix: 'write apiKey: ${OPENAI_API_KEY}, for instance, or any text if the endpoint needs no key',
  },
];

/** Email alerts need a sender and a relay. */
function incompleteAlerts(root: SourceNode | undefined): Mistake[] {
  const to = nodeAt(root, ['alerts', 'email', 'to']);
  const email = nodeAt(root, ['alerts', 'email']);
  if (to?.kind !== 'list' || to.items.length === 0 || email?.kind !== 'map') return [];
  return [
    { key: 'from', fix: 'write from: sluice@acme.example, for instance' },
    { key: 'relay', fix: 'write relay: smtp://mail.acme.example, for instance' },
  ]
    .filter(({ key }) => email.entries.get(key)?.value === undefined)
    .map(({ key, fix }) => ({
      path: `alerts.email.${key}`,
      place: to.place,
      expected: `${key}, since alerts.email.to is given`,
      found: 'nothing',
      fix,
    }));
}

/**
 * Rejects alert addresses that belong to a shop: an alert that arrives as a message of a shop could
 * fail to be delivered, which would raise the next alert.
 */
function alertsIntoOurInbox(root: SourceNode | undefined): Mistake[] {
  const inboxes = new Map(
    scalarsAt(root, ['shops', '*', 'email', 'addresses', '*']).map(({ node, path }) => [
      node.text.startsWith('*@') ? node.text.toLowerCase() : (matchKey(node.text) ?? ''),
      path,
    ]),
  );
  const given = [
    ...scalarsAt(root, ['alerts', 'email', 'to', '*']),
    ...scalarsAt(root, ['alerts', 'email', 'from']),
  ];
  return given.flatMap(({ node, path }) => {
    const key = matchKey(node.text);
    if (key === undefined) return [];
    const inbox = inboxes.get(key) ?? inboxes.get(`*@${domainOf(key)}`);
    if (inbox === undefined) return [];
    return [
      {
        path: showPath(path),
        place: node.place,
        expected: 'an address that does not belong to a shop',
        found: `an address of ${showPath(inbox)}`,
        fix: 'write the address of the person on call',
      },
    ];
  });
}

/** Every visitor reads the chat key. */
function secretOnThePage(root: SourceNode | undefined, index: number): Mistake | undefined {
  const key = nodeAt(root, ['shops', index, 'chat', 'key']);
  const secret = nodeAt(root, ['shops', index, 'apiKey']);
  if (key?.kind !== 'text' || secret?.kind !== 'text' || key.text !== secret.text) return undefined;
  return {
    path: showPath(['shops', index, 'chat', 'key']),
    place: key.place,
    expected: 'a name that everyone may read: it stands in the page',
    found: 'the apiKey of the shop (not shown)',
    fix: 'write key: acme, for instance',
  };
}
