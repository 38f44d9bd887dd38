import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSmsNormalizer } from '../../../src/channels/sms/normalize.ts';
import { optOutsOf } from '../../../src/channels/sms/person.ts';
import { readEvent } from '../../../src/channels/sms/providers/whatsapp-cloud/event.ts';
import { receivedText } from '../../../src/channels/sms/providers/twilio/texts.ts';
import type { ReceivedText } from '../../../src/channels/sms/provider.ts';
import { arrivalOf } from '../../../src/channels/sms/receive.ts';
import type { SmsShop } from '../../../src/channels/sms/shop.ts';
import { readPerson } from '../../../src/cli/erase-person.ts';
import { wholePerson } from '../../../src/cli/whole-person.ts';
import { asShopId, type EntryId, type ShopId } from '../../../src/domain/ids.ts';
import { createEntryIntake } from '../../../src/intake/intake.ts';
import { NotYet } from '../../../src/intake/normalizer.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import type { Claimed } from '../../../src/spool/entry.ts';
import type { Eraser } from '../../../src/spool/erasure.ts';
import type { OptOutStore } from '../../../src/spool/opt-out-store.ts';
import type { Spool } from '../../../src/spool/spool.ts';
import { Dice } from '../../support/dice.ts';
import { claimFrom, retryLater } from '../../support/entries.ts';
import { changeOf, eventOf, WHATSAPP_NUMBER, wamid } from '../../support/whatsapp-stand-in.ts';
import { ACCOUNT_SID, messageSid } from '../../support/twilio-stand-in.ts';
import { smsShop } from './running-door.ts';
import { whatsappShopAccount } from '../../../src/channels/sms/providers/whatsapp-cloud/account.ts';

/** One gateway: its view of the store. */
export interface Gateway {
  readonly spool: Spool;
  readonly optOuts: OptOutStore;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const LEASE_MS = 60_000;
/** Each sequence has people, numbers and ids of its own. */
const PEOPLE = 3;
const STEPS = 14;

interface Someone {
  readonly no: number;
  number: string | undefined;
  userId: string;
  /** Names that messages have shown. */
  readonly shown: Set<string>;
  readonly sent: EntryId[];
  /** Of each message, which notice was still to come: until then, it has a lane of its own. */
  readonly apart: number[];
  isOut: boolean;
  /** When a message last showed the number. */
  numberAt: number;
  /** The number of the change that no notice has told yet; otherwise 0. */
  pending: number;
  /** A notice that is still to come, perhaps once more. */
  notice: (() => Promise<void>) | undefined;
  noticeAt: number;
}

interface Delivered {
  readonly entry: EntryId;
  readonly conversation: string;
}

type Provider = 'cloud' | 'twilio';

/** One random history of some people who write to one number of a shop. */
export class Sequence {
  readonly #dice: Dice;
  readonly #gateways: readonly Gateway[];
  readonly #shop: SmsShop;
  readonly #provider: Provider;
  readonly #seed: number;
  readonly #people: Someone[] = [];
  readonly #left: string[] = [];
  readonly #delivered: Delivered[] = [];
  readonly #outNumbers = new Set<string>();
  readonly #scratch = mkdtempSync(join(tmpdir(), 'people-'));
  #now = Date.now() - 700 * DAY_MS;
  #last = 0;
  #conversations = 0;

  constructor(seed: number, gateways: readonly Gateway[]) {
    this.#seed = seed;
    this.#dice = Dice.of(seed);
    this.#gateways = gateways;
    this.#provider = seed % 3 === 0 ? 'twilio' : 'cloud';
    const shopId = asShopId(`11111111-1111-4111-8111-${String(seed).padStart(12, '0')}`);
    this.#shop = smsShop({ shopId, numbers: [WHATSAPP_NUMBER] });
    if (this.#provider === 'cloud') {
      const senders = [{ number: WHATSAPP_NUMBER, phoneNumberId: '106540352242922' }];
      const keys = { accessToken: 't', appSecrets: ['s'], verifyToken: 'v' };
      this.#shop = { ...this.#shop, account: whatsappShopAccount({ ...keys, senders }) };
    }
  }

  get shopId(): ShopId {
    return this.#shop.shopId;
  }

  /** @throws {Error} something that must hold does not, with the seed */
  async play(): Promise<void> {
    try {
      for (let n = 0; n < PEOPLE; n += 1) await this.#message(this.#newcomer(this.#fresh('+1415')));
      for (let step = 0; step < STEPS; step += 1) {
        this.#pass();
        const delivering = this.#dice.chance(60) ? this.#deliver() : undefined;
        await this.#step();
        await delivering;
      }
      await this.#announceAll();
      await this.#drain();
      for (const person of this.#people) await this.#message(person);
      await this.#drain();
      await this.#check();
    } catch (cause) {
      throw new Error(`sequence ${this.#seed}: ${cause instanceof Error ? cause.message : ''}`, {
        cause,
      });
    } finally {
      rmSync(this.#scratch, { recursive: true, force: true });
    }
  }

  #pass(atLeast = MINUTE_MS): void {
    this.#now += atLeast + this.#dice.below(3 * DAY_MS);
  }

  #fresh(begin: string): string {
    this.#last += 1;
    return `${begin}${String(2_000_000 + this.#last)}`;
  }

  #newcomer(number: string): Someone {
    const person: Someone = {
      ...{ no: this.#people.length, number, userId: this.#fresh('US.') },
      ...{
        shown: new Set<string>(),
        sent: [],
        apart: [],
        isOut: false,
        numberAt: 0,
        pending: 0,
        notice: undefined,
        noticeAt: 0,
      },
    };
    this.#people.push(person);
    return person;
  }

  async #step(): Promise<void> {
    // Meta repeats what was not acknowledged for seven days.
    await this.#announceAll(4 * DAY_MS);
    const person = this.#dice.pick(this.#people);
    const steps = [
      () => this.#message(person),
      () => this.#message(person, { hidden: true }),
      () => this.#newId(person),
      () => this.#recycle(person),
      () => this.#consent(person),
      ...(this.#provider === 'cloud'
        ? [() => this.#changeNumber(person), () => this.#changeId(person)]
        : []),
      () => this.#announce(person),
    ];
    await this.#dice.pick(steps)();
  }

  /** A message under the names that the person has now. */
  async #message(person: Someone, { hidden = false, shown = false } = {}): Promise<void> {
    const { number, userId } = person;
    const isHidden = number === undefined || (!shown && (hidden || this.#dice.chance(20)));
    const isFirst = person.sent.length === 0;
    if (!isHidden) {
      // Only who is known by the number may leave out the id.
      const withId =
        isFirst || shown || !person.shown.has(`${number} ${userId}`) || this.#dice.chance(70);
      person.numberAt = this.#now;
      await this.#send(person, { number, ...(withId && { userId }) });
      if (withId) person.shown.add(`${number} ${userId}`);
    } else if (isFirst && number !== undefined) {
      person.numberAt = this.#now;
      await this.#send(person, { number, userId });
      person.shown.add(`${number} ${userId}`);
    } else await this.#send(person, { userId });
  }

  /** Another user id at the same number, which no notice tells. */
  async #newId(person: Someone): Promise<void> {
    if (person.number === undefined || person.notice !== undefined) return;
    await this.#message(person, { shown: true });
    await this.#announceAll();
    this.#now += MINUTE_MS + this.#dice.below(25 * DAY_MS);
    person.userId = this.#fresh('US.');
    await this.#message(person, { shown: true });
  }

  /** Somebody else gets a number. */
  async #recycle(person: Someone): Promise<void> {
    if (this.#people.length >= 2 * PEOPLE || person.notice !== undefined) return;
    if (this.#left.length > 0 && this.#dice.chance(50)) {
      const number = this.#left.splice(this.#dice.below(this.#left.length), 1)[0] ?? '';
      await this.#message(this.#newcomer(number), { shown: true });
      return;
    }
    const { number } = person;
    if (number === undefined || !person.shown.has(`${number} ${person.userId}`)) return;
    await this.#announceAll();
    if (this.#dice.chance(50)) this.#now = Math.max(this.#now, person.numberAt + 31 * DAY_MS);
    else {
      this.#pass();
      await this.#message(person, { hidden: true });
      if (person.numberAt === this.#now) this.#now += MINUTE_MS;
    }
    this.#pass();
    person.number = undefined;
    await this.#message(this.#newcomer(number), { shown: true });
  }

  async #changeNumber(person: Someone): Promise<void> {
    const { number: previous, userId: previousId } = person;
    if (previous === undefined || person.notice !== undefined) return;
    if (!person.shown.has(`${previous} ${previousId}`)) return;
    const at = this.#now;
    const number = this.#fresh('+1650');
    person.number = number;
    person.userId = this.#fresh('US.');
    const { userId } = person;
    const system = {
      ...{ type: 'user_changed_number', body: 'changed', wa_id: number.slice(1) },
      ...{ user_id: userId, previous_user_id: previousId },
    };
    await this.#notice(person, at, { from: previous.slice(1), system }, previous);
  }

  async #changeId(person: Someone): Promise<void> {
    if (person.notice !== undefined) return;
    const { userId: previous_user_id } = person;
    person.userId = this.#fresh('US.');
    const system = { type: 'user_changed_user_id', body: 'changed', user_id: person.userId };
    await this.#notice(person, this.#now, { system: { ...system, previous_user_id } });
  }

  /** Before the first message under the new names, after it, or twice. */
  async #notice(person: Someone, at: number, message: object, left?: string): Promise<void> {
    let isTold = false;
    const tell = async () => {
      await this.#accept(this.#cloud(at, { type: 'system', ...message }));
      // Until then, nothing says that whoever has the number next is somebody else.
      if (left !== undefined && !isTold) this.#left.push(left);
      isTold = true;
      person.pending = 0;
    };
    if (this.#dice.chance(60)) await tell();
    else {
      this.#now += MINUTE_MS;
      person.pending = Number(this.#fresh(''));
      await this.#message(person, { hidden: this.#dice.chance(50) });
    }
    person.notice = tell;
    person.noticeAt = at;
  }

  async #announceAll(olderThanMs = 0): Promise<void> {
    for (const person of this.#people) {
      if (this.#now - person.noticeAt >= olderThanMs) await this.#announce(person);
    }
  }

  async #announce(person: Someone): Promise<void> {
    const { notice } = person;
    person.notice = undefined;
    await notice?.();
  }

  async #consent(person: Someone): Promise<void> {
    await this.#drain();
    const entry = await this.#gateway().spool.get(person.sent.at(-1) ?? ('' as EntryId));
    if (entry === undefined) throw new Error('the message is there');
    const { spool, optOuts } = this.#gateway();
    const known = await spool.personOf(entry);
    const theirs = optOutsOf(optOuts, known);
    person.isOut = this.#dice.chance(60);
    const change = person.isOut ? 'optOut' : 'optIn';
    await theirs[change](this.shopId, entry.lane, this.#fresh('sid'));
    for (const { name, leftAt } of known?.names ?? []) {
      if (!name.startsWith('+') || leftAt !== null) continue;
      if (person.isOut) this.#outNumbers.add(name);
      else this.#outNumbers.delete(name);
    }
  }

  async #send(person: Someone, names: { number?: string; userId?: string }): Promise<void> {
    const text = this.#provider === 'cloud' ? this.#fromCloud(names) : this.#fromTwilio(names);
    const id = await this.#accept(text);
    person.sent.push(id);
    person.apart.push(person.pending);
  }

  #cloud(at: number, message: object): ReceivedText {
    const id = wamid(this.#seed * 10_000 + Number(this.#fresh('')));
    const timestamp = String(Math.floor(at / 1000));
    const body = eventOf(changeOf({ messages: [{ id, timestamp, ...message }] }));
    const [content] = readEvent(Buffer.from(body));
    if (content?.kind !== 'message') throw new Error('not read as a message');
    return content.text;
  }

  #fromCloud({ number, userId }: { number?: string; userId?: string }): ReceivedText {
    return this.#cloud(this.#now, {
      ...(number !== undefined && { from: number.slice(1) }),
      ...(userId !== undefined && { from_user_id: userId }),
      ...{ type: 'text', text: { body: `at ${this.#now}` } },
    });
  }

  #fromTwilio({ number, userId = '' }: { number?: string; userId?: string }): ReceivedText {
    const from = `whatsapp:${number ?? userId}`;
    const sid = messageSid(this.#seed * 10_000 + Number(this.#fresh('')));
    const identity = {
      messageSid: sid,
      accountSid: ACCOUNT_SID,
      from,
      to: `whatsapp:${WHATSAPP_NUMBER}`,
    };
    const id = this.#dice.pick(['ExternalUserId', 'ExternalUserIdentifier']);
    return receivedText(identity, [
      ['From', from],
      ['Body', `at ${this.#now}`],
      ...(userId === '' ? [] : [[id, userId] as const]),
    ]);
  }

  async #accept(text: ReceivedText): Promise<EntryId> {
    const now = this.#now;
    const entry = createEntryIntake(() => now).entryFor(arrivalOf(this.#shop, text, now));
    const spool = this.#gateway().spool;
    const [accepted] = await spool.accept([entry]);
    if (accepted === undefined) throw new Error('accepted');
    // A repeated webhook changes nothing.
    if (this.#dice.chance(10)) await this.#gateway().spool.accept([{ ...entry }]);
    return accepted.id;
  }

  #gateway(): Gateway {
    return this.#dice.pick(this.#gateways);
  }

  async #drain(): Promise<void> {
    while (await this.#deliver()) continue;
  }

  async #deliver(): Promise<boolean> {
    const gateway = this.#gateway();
    const claimed = await claimFrom(gateway.spool, this.shopId, 1 + this.#dice.below(5), LEASE_MS);
    await Promise.all(claimed.map((each) => this.#deliverOne(gateway, each)));
    return claimed.length > 0;
  }

  async #deliverOne({ spool, optOuts }: Gateway, claimed: Claimed): Promise<void> {
    const { entry, lease, conversation } = claimed;
    const normalize = createSmsNormalizer(
      { shops: [this.#shop], scratchDir: this.#scratch },
      {
        ...{ optOuts, personOf: (lane) => spool.personOf(lane), clock: Date.now },
        ...{ countMessage: () => Promise.resolve(undefined), logger: silentLogger },
        metrics: createMetrics(),
      },
    );
    try {
      const { verdict } = await normalize(claimed, new AbortController().signal);
      if (this.#dice.chance(25)) {
        // The platform does not take it this time.
        await spool.settle(lease, retryLater({ retryInMs: 0, failed: true }), { steps: [] });
        return;
      }
      if (verdict.kind === 'suppressed') {
        await spool.settle(lease, { state: 'suppressed', reason: verdict.reason }, { steps: [] });
        return;
      }
      let id = conversation?.id;
      if (id === undefined) {
        this.#conversations += 1;
        id = `${this.#seed}-${this.#conversations}`;
        await spool.rememberConversation(entry, id);
      }
      this.#delivered.push({ entry: entry.id, conversation: id });
      await spool.settle(lease, { state: 'delivered', conversationId: id }, { steps: [] });
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      await spool.settle(lease, retryLater({ retryInMs: 0 }), { steps: [] });
    }
  }

  /** One conversation and one lane for each person, their order kept, and an opt-out for every name. */
  async #check(): Promise<void> {
    const { spool, optOuts } = this.#gateway();
    const owners = new Map<string, number>();
    const own = (what: string, who: number) => {
      const owner = owners.get(what) ?? who;
      if (owner !== who) throw new Error(`${what} is of ${owner} and ${who}`);
      owners.set(what, who);
    };
    for (const { no, sent, apart, isOut } of this.#people) {
      const theirs = this.#delivered.filter(({ entry }) => sent.includes(entry));
      const order = theirs.map(({ entry }) => sent.indexOf(entry));
      if (order.length !== sent.length) throw new Error(`${no} misses messages: ${String(order)}`);
      const isOvertaken = order.some((early, at) =>
        order
          .slice(at)
          .some((late) => late < early && !(apart[early] && apart[early] !== apart[late])),
      );
      if (isOvertaken) throw new Error(`order of ${no}: ${String(order)}`);
      for (const { conversation } of theirs) own(conversation, no);
      const first = theirs.find(({ entry }) => entry === sent[0]);
      const last = theirs.at(-1);
      if (first?.conversation !== last?.conversation) {
        throw new Error(`${no} ends in another conversation than it began`);
      }
      const lanes = new Set<string>();
      for (const id of sent) {
        const entry = await spool.get(id);
        const person = entry && (await spool.personOf(entry));
        if (entry === undefined || person === undefined) throw new Error('the person is known');
        lanes.add(person.lane);
        const numbers = person.names
          .filter(({ leftAt }) => leftAt === null)
          .map(({ name }) => name);
        const expected = isOut || numbers.some((name) => this.#outNumbers.has(name));
        const is = await optOutsOf(optOuts, person).isOptedOut(this.shopId, entry.lane);
        if (is !== expected) throw new Error(`the opt-out of ${no} is ${is}`);
      }
      if (lanes.size !== 1) throw new Error(`${no} has the lanes ${[...lanes].join(' ')}`);
      own([...lanes].join(''), no);
    }
  }

  /** Finds and erases one of them by each of their names. */
  async erase(eraser: Eraser): Promise<void> {
    const person = this.#dice.pick(this.#people);
    const names = [person.userId, ...(person.number === undefined ? [] : [person.number])].filter(
      (name) => [...person.shown].some((pair) => pair.split(' ').includes(name)),
    );
    let whole = readPerson(person.userId, []);
    for (const name of names) {
      whole = await wholePerson(readPerson(name, []), eraser, this.shopId);
      const { traces } = await eraser.find({ person: whole, shopId: this.shopId, others: false });
      const found = new Set(traces.entries.map(({ id }) => id));
      const missing = person.sent.filter((id) => !found.has(id));
      if (missing.length > 0) throw new Error(`sequence ${this.#seed}: ${name} misses entries`);
      const others = this.#people.filter((other) => other !== person).flatMap(({ sent }) => sent);
      if (others.some((id) => found.has(id))) {
        throw new Error(`sequence ${this.#seed}: ${name} finds another's entries`);
      }
    }
    if (names.length === 0) return;
    const { traces } = await eraser.find({ person: whole, shopId: this.shopId, others: false });
    await eraser.eraseRows(traces, { person: whole, shops: [this.shopId], waitMs: 0 });
    await eraser.eraseNames(whole.names);
    const again = await wholePerson(readPerson(person.userId, []), eraser, this.shopId);
    if (again.names.length > 0) throw new Error(`sequence ${this.#seed}: names are left`);
  }
}

const AT_ONCE = 20;
/** 200 in all. */
export const PORTIONS = Array.from({ length: 10 }, (_, portion) => 1 + portion * AT_ONCE);

/** Plays histories at once, and erases the people of each. */
export async function play(
  gateways: readonly Gateway[],
  eraser: Eraser,
  from: number,
): Promise<void> {
  const all = Array.from({ length: AT_ONCE }, (_, n) => new Sequence(from + n, gateways));
  await Promise.all(all.map((sequence) => sequence.play()));
  for (const sequence of all) await sequence.erase(eraser);
}
