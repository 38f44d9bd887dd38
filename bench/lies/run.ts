import { setTimeout as delay } from 'node:timers/promises';
import { arrivals } from '../../test/support/arrivals.ts';
import {
  type Accepted,
  customerNumber,
  MailSession,
  sendText,
  Visitor,
} from '../../test/support/customers.ts';
import type { Gate } from '../../test/support/platform-model-server.ts';
import type { SceneShop, ShopsScene } from '../../test/support/shops-scene.ts';
import { asShopId } from '../../src/domain/ids.ts';
import { withSpool } from '../../test/support/spool-beside.ts';
import type { Entry } from '../../src/spool/entry.ts';
import type { NamedPlatform } from './named-platform.ts';
import type { Fate, Lie } from './table.ts';
import type { Tell } from './tells.ts';

const LIES_FOR_MS = 10_000;
const WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 500;

/** A platform that lies, and the shop that has it. */
export interface Liar {
  readonly scene: ShopsScene<string>;
  readonly shop: SceneShop;
  readonly lie: Lie;
  readonly named: NamedPlatform | undefined;
}

/** What became of the messages of one phase. */
export interface Told {
  readonly lie: string;
  readonly phase: 'cold' | 'warm';
  readonly fate: Fate;
  readonly counts: Readonly<Record<Fate, number>>;
  /** Requests with a message, for each message that was sent. */
  readonly postsPerMessage: number;
  /** From the end of the lie until the last message was delivered. */
  readonly lastAfterMs: number;
  readonly faults: readonly string[];
}

/** Lies before the platform was ever well, and once more afterwards. */
export async function tell(liar: Liar): Promise<readonly Told[]> {
  const customers = await Customers.open(liar);
  try {
    return [await phase(liar, customers, 'cold'), await phase(liar, customers, 'warm')];
  } finally {
    customers.close();
  }
}

async function phase(liar: Liar, customers: Customers, name: 'cold' | 'warm'): Promise<Told> {
  const { shop, lie, named, scene } = liar;
  const postsBefore = shop.platform.of('POST /messages/').length;
  shop.platform.gate = gateOf(lie);
  if (named !== undefined) lie.line?.(named);
  const during = await customers.write(`${name} while it lies`, LIES_FOR_MS);
  shop.platform.gate = (_received, platform) => platform();
  named?.heal();
  const healedAt = Date.now();
  const later = await customers.write(`${name} when it is well`, 0);
  const sent = [...during, ...later];
  const entries = await settled({ scene, shop }, sent, healedAt + WITHIN_MS);
  const counts: Record<Fate, number> = { delivered: 0, refused: 0, held: 0, believed: 0 };
  const faults: string[] = [];
  for (const each of sent) {
    const found = fateOf(each, entries.get(each.remoteId));
    if (!isFate(found)) faults.push(`${name}, ${each.content}: ${found}`);
    else {
      counts[found] += 1;
      const isDemanded = found === 'delivered' || (found === lie[name] && during.includes(each));
      if (!isDemanded) faults.push(`${name}, ${each.content}: ${found}`);
    }
  }
  if (counts[lie[name]] === 0) faults.push(`${name}: no message is ${lie[name]}`);
  const lastAfterMs = Math.max(0, ...sent.map((each) => arrivedAt(each) - healedAt));
  if (lastAfterMs > WITHIN_MS)
    faults.push(`${name}: the last is delivered after ${lastAfterMs} ms`);
  const posts = shop.platform.of('POST /messages/').length - postsBefore;
  return {
    ...{ lie: lie.name, phase: name, fate: lie[name], counts, lastAfterMs },
    postsPerMessage: posts / sent.length,
    faults: [...faults, ...strangersIn(shop, sent).map((fault) => `${name}: ${fault}`)],
  };
}

function gateOf(lie: Lie): Gate {
  const counts = new Map<Tell, number>();
  return (received, platform) => {
    const { posts, uploads, list, message, all } = lie;
    const own = {
      'POST /messages/': posts,
      'POST /media/': uploads,
      'GET /messages/': list,
      'GET /messages/{id}/': message,
    }[received.call.replace(/^(GET \/messages\/)[^/]+\/$/, '$1{id}/')];
    const tells = own ?? all;
    if (tells === undefined) return platform();
    const nth = counts.get(tells) ?? 0;
    counts.set(tells, nth + 1);
    return tells(received, platform, nth);
  };
}

const isFate = (found: string): found is Fate =>
  ['delivered', 'refused', 'held', 'believed'].includes(found);

/** What became of a message: a `Fate`, or a fault. */
function fateOf({ shop, remoteId }: Accepted, entry: Entry | undefined): string {
  const copies = arrivals(shop).get(remoteId)?.length ?? 0;
  if (entry === undefined) return 'there is no entry';
  if (copies > 1) return `created ${copies} times`;
  const { state, reason } = entry;
  if (state === 'delivered') return copies === 1 ? 'delivered' : 'believed';
  if (copies === 1) return `${state}, and the platform has it`;
  if (state === 'dead' && reason?.code === 'platform_answered') return 'refused';
  if (state === 'held' && reason?.code === 'unclear_answer') return 'held';
  return `${state} (${reason?.code ?? 'without a reason'})`;
}

const arrivedAt = ({ shop, remoteId }: Accepted): number =>
  arrivals(shop).get(remoteId)?.[0]?.at ?? 0;

/** Conversations of the platform that more than one person is in. */
function strangersIn(shop: SceneShop, sent: readonly Accepted[]): readonly string[] {
  const lanes = new Map<string, string>();
  return sent.flatMap(({ remoteId, lane, content }) => {
    const conversation = arrivals(shop).get(remoteId)?.[0]?.conversationId ?? remoteId;
    const other = lanes.get(conversation) ?? lane;
    lanes.set(conversation, other);
    return other === lane ? [] : [`in another's conversation: ${content}`];
  });
}

/** The entries of these messages, once no more is to be expected of any, or when the time is over. */
function settled(
  { scene, shop: { shopId } }: Pick<Liar, 'scene' | 'shop'>,
  sent: readonly Accepted[],
  until: number,
): Promise<ReadonlyMap<string, Entry>> {
  return withSpool(scene.dataDir, async (spool) => {
    for (;;) {
      const all = await spool.list({ shopId: asShopId(shopId), limit: 1000 });
      const found = new Map(all.map((entry) => [entry.remoteId, entry]));
      const states = sent.map(({ remoteId }) => found.get(remoteId)?.state);
      const isOver = states.every((state) => state !== 'queued' && state !== 'delivering');
      if (isOver || Date.now() > until) return found;
      await delay(LOOK_EVERY_MS);
    }
  });
}

/** Four people: two send texts, one emails with a file, and one chats. */
class Customers {
  readonly #liar: Liar;
  readonly #mail: MailSession;
  readonly #visitor: Visitor;

  private constructor(liar: Liar, mail: MailSession, visitor: Visitor) {
    this.#liar = liar;
    this.#mail = mail;
    this.#visitor = visitor;
  }

  static async open(liar: Liar): Promise<Customers> {
    const mail = await MailSession.open(liar.scene);
    return new Customers(liar, mail, await Visitor.open(liar.scene, liar.shop));
  }

  close(): void {
    this.#mail.close();
    this.#visitor.close();
  }

  /** Each of them writes three messages in this time, or one if there is none. */
  async write(about: string, overMs: number): Promise<readonly Accepted[]> {
    const startedAt = Date.now();
    const accepted: Accepted[] = [];
    const rounds = overMs === 0 ? 1 : 3;
    for (let n = 0; n < rounds; n += 1) {
      for (const write of this.#writers) accepted.push(await write(`${about} ${n}`));
      await delay(Math.max(0, startedAt + ((n + 1) * overMs) / rounds - Date.now()));
    }
    return accepted;
  }

  get #writers(): readonly ((content: string) => Promise<Accepted>)[] {
    const { scene, shop } = this.#liar;
    const text = (n: number) => (content: string) =>
      sendText(scene, shop, customerNumber(n), `${n}: ${content}`);
    return [
      text(1),
      (content) =>
        this.#mail.send(shop, { from: 'ann@example.com', content, ...withFile(content) }),
      (content) => this.#visitor.send(content),
      text(2),
    ];
  }
}

const withFile = (content: string) => ({
  headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=part'],
  body: [
    ...['--part', 'Content-Type: text/plain', '', content, '--part'],
    ...['Content-Type: text/csv; name=a.csv', 'Content-Disposition: attachment; filename=a.csv'],
    ...['', 'a,b', '--part--', ''],
  ].join('\r\n'),
});
