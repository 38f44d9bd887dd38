import { createHash, type Hash, hash } from 'node:crypto';
import { type AddressDirectory, type DirectoryShop, type Inbox, selectInboxes } from './routing.ts';
import { mailboxOf, type Sender, selectSender } from './sender.ts';
import { isComplaint } from './normalize/reports/feedback.ts';
import type { Arrival } from '../../intake/intake.ts';
import { type EmailMeta, summaryOfHeaders } from './stored.ts';
import { type HeaderBlock, HeaderCollector, messageIdOf } from './header-block.ts';
import { type BlobWriter, exactCopy, INLINE_MAX_BYTES } from '../../spool/blob-writer.ts';
import type { BlobStore } from '../../spool/blobs.ts';
import type { RawForm } from '../../spool/entry.ts';

/** The envelope as the door knows it; the same for every recipient. */
export type Envelope = Pick<
  EmailMeta,
  'remoteAddress' | 'heloName' | 'tls' | 'trustedRelay' | 'envelopeFrom' | 'receivedHeader'
> & { readonly recipients: readonly string[]; readonly receivedAt: number };

export interface EmailArrival extends Arrival {
  readonly meta: EmailMeta;
}

/** One arrival per inbox that a stored message is addressed to. Pure. */
export function toArrivals(
  directory: AddressDirectory,
  message: StoredMessage,
  envelope: Envelope,
): readonly EmailArrival[] {
  const arrivals: EmailArrival[] = [];
  for (const inbox of selectInboxes(directory, message.head, envelope.recipients)) {
    const shop = directory.shop(inbox.shopId);
    if (shop !== undefined) arrivals.push(toArrival(inbox, shop, message, envelope));
  }
  return arrivals;
}

function toArrival(
  inbox: Inbox,
  shop: DirectoryShop,
  message: StoredMessage,
  envelope: Envelope,
): EmailArrival {
  const { shopId, agentContact } = inbox;
  const { head, raw, remoteId, bodySha256 } = message;
  const sender = selectSender(head, shop);
  const dedupKey = emailDedupKey(agentContact, head, bodySha256);
  const hold = holdOf(inbox, head, sender);
  const meta = toMeta(inbox, message, envelope);
  return {
    shopId,
    channel: 'email',
    lane: emailLane(sender, envelope.envelopeFrom, agentContact),
    dedupKey,
    remoteId,
    remoteIdIfTaken: remoteIdIfTaken(remoteId, dedupKey),
    meta,
    raw,
    summary: summaryOfHeaders(meta, head),
    receivedAt: envelope.receivedAt,
    ...(hold !== undefined && { hold: { code: hold } }),
  };
}

/**
 * Mail for the operator is held at once, except for complaints about spam, which mail providers
 * send to abuse@ (RFC 5965 §2): they are read first.
 */
function holdOf(
  { hold }: Inbox,
  head: HeaderBlock,
  sender: Sender,
): 'postmaster' | 'several_from' | undefined {
  if (hold !== undefined && !isComplaint(head)) return hold;
  return sender.kind === 'several' ? 'several_from' : undefined;
}

function toMeta(inbox: Inbox, message: StoredMessage, envelope: Envelope): EmailMeta {
  const messageId = messageIdOf(message.head);
  return {
    remoteAddress: envelope.remoteAddress,
    heloName: envelope.heloName,
    tls: envelope.tls,
    trustedRelay: envelope.trustedRelay,
    envelopeFrom: envelope.envelopeFrom,
    envelopeTo: [...inbox.recipients],
    agentContact: inbox.agentContact,
    ourAddressesMatched: [...inbox.ourAddresses],
    receivedHeader: envelope.receivedHeader,
    ...(messageId !== undefined && { messageId }),
  };
}

/** Headers that are identical in copies of a message that took different paths. */
const DEDUP_HEADERS = ['from', 'to', 'cc', 'date', 'subject', 'message-id'];

/**
 * The dedup key of a message for one inbox, 64 hex digits. Copies that took different paths differ
 * in Received, DKIM, ARC and X- headers, so these are not included. The Message-ID alone is never
 * used: anyone can claim one and would suppress another person's mail.
 */
export function emailDedupKey(agentContact: string, head: HeaderBlock, bodySha256: string): string {
  let fields = framed(agentContact) + framed(bodySha256);
  for (const name of DEDUP_HEADERS) {
    const values = head.all(name);
    fields += `${values.length};`;
    for (const value of values) fields += framed(collapseWhiteSpace(value));
  }
  return hash('sha256', fields);
}

/** The `remote_id` of a message without a usable Message-ID; the same for every copy. */
export function idOfRaw(rawSha256: string): string {
  return `<${rawSha256}@sluice>`;
}

/**
 * The `remote_id` if the shop has already seen it on a different message: it includes the start of
 * the dedup key. Otherwise anyone could make the platform drop another person's mail by claiming
 * its id.
 */
export function remoteIdIfTaken(remoteId: string, dedupKey: string): string {
  return `${remoteId}#${dedupKey.slice(0, 12)}`;
}

/**
 * The lane of a message: the sender and the inbox. Mail without a readable From is ordered by the
 * envelope sender.
 */
export function emailLane(sender: Sender, envelopeFrom: string, agentContact: string): string {
  const address = mailboxOf(sender)?.address ?? envelopeFrom;
  return `${address.toLowerCase()} ${agentContact}`;
}

/** The length prefix makes the combination of values unambiguous. */
function framed(value: string): string {
  return `${value.length}:${value}`;
}

/** Relays fold the same header differently. */
function collapseWhiteSpace(value: string): string {
  return /\s\s|[^\S ]/.test(value) ? value.replace(/\s+/g, ' ') : value;
}

/** A message whose raw bytes entries can refer to, with the properties that the intake needs. */
export interface StoredMessage {
  readonly head: HeaderBlock;
  readonly raw: RawForm;
  /** Its Message-ID, or one derived from its bytes. */
  readonly remoteId: string;
  /** Of the part after the header block. */
  readonly bodySha256: string;
}

/**
 * Receives a message as a stream. A small message is kept in memory and hashed at its end; a larger
 * one is written to a spool file and hashed in a single pass, without copying.
 */
export class MessageSink {
  readonly #blobs: BlobStore;
  readonly #header = new HeaderCollector();
  #held: Uint8Array[] = [];
  #file: LargeMessage | undefined;
  #size = 0;
  #head: HeaderBlock | undefined;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns false if the next call has to wait for `whenReady`. */
  write(chunk: Uint8Array): boolean {
    const headerBytes = this.#header.push(chunk);
    this.#size += chunk.length;
    if (this.#file !== undefined) return this.#file.write(chunk, headerBytes);
    this.#held.push(chunk);
    return this.#size <= INLINE_MAX_BYTES || this.#spill();
  }

  /** Calls back once, when more can be written or writing has failed. */
  whenReady(listener: () => void): void {
    this.#file?.whenReady(listener);
  }

  /** The header block; call it when at least the header block was received. */
  head(): HeaderBlock {
    this.#head ??= this.#header.finish();
    return this.#head;
  }

  /**
   * A file is durable when it resolves; a message in memory becomes durable with its row.
   * @throws {SpoolFull} {SpoolUnavailable}
   */
  async store(): Promise<StoredMessage> {
    const head = this.head();
    if (this.#file !== undefined) return { head, ...(await this.#file.store(head)) };
    const bytes = exactCopy(this.#held, this.#size);
    return {
      head,
      raw: { kind: 'inline', bytes },
      remoteId: messageIdOf(head) ?? idOfRaw(hash('sha256', bytes)),
      bodySha256: hash('sha256', bytes.subarray(head.byteLength)),
    };
  }

  /** Removes everything that was written. */
  async abort(): Promise<void> {
    this.#held = [];
    await this.#file?.abort();
  }

  #spill(): boolean {
    const messageId = this.#header.complete ? messageIdOf(this.head()) : undefined;
    const file = new LargeMessage(this.#blobs.writer({ inlineMaxBytes: 0 }), messageId);
    this.#file = file;
    let headerBytes = this.#header.byteLength;
    let isReady = true;
    for (const chunk of this.#held) {
      isReady = file.write(chunk, Math.min(headerBytes, chunk.length));
      headerBytes -= Math.min(headerBytes, chunk.length);
    }
    this.#held = [];
    return isReady;
  }
}

class LargeMessage {
  readonly #writer: BlobWriter;
  /** Only for messages without a Message-ID, because hashing is half the work of this thread. */
  readonly #raw: Hash | undefined;
  readonly #body = createHash('sha256');
  #failure: Error | undefined;

  constructor(writer: BlobWriter, messageId: string | undefined) {
    this.#writer = writer;
    this.#raw = messageId === undefined ? createHash('sha256') : undefined;
    writer.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  write(chunk: Uint8Array, headerBytes: number): boolean {
    this.#raw?.update(chunk);
    if (headerBytes < chunk.length) this.#body.update(chunk.subarray(headerBytes));
    // After a failure, the rest is read and discarded: the refusal is sent at the final dot.
    return this.#failure !== undefined || this.#writer.write(chunk);
  }

  whenReady(listener: () => void): void {
    const writer = this.#writer;
    const ready = (): void => {
      writer.off('drain', ready);
      writer.off('close', ready);
      listener();
    };
    writer.once('drain', ready);
    writer.once('close', ready);
  }

  async store(head: HeaderBlock): Promise<Pick<StoredMessage, 'raw' | 'remoteId' | 'bodySha256'>> {
    if (this.#failure !== undefined) throw this.#failure;
    const writer = this.#writer;
    await new Promise<void>((resolve, reject) => {
      writer.once('finish', resolve);
      writer.once('error', reject);
      writer.end();
    });
    return {
      raw: await writer.commit(),
      remoteId: messageIdOf(head) ?? idOfRaw(this.#raw?.digest('hex') ?? ''),
      bodySha256: this.#body.digest('hex'),
    };
  }

  async abort(): Promise<void> {
    await this.#writer.abort();
  }
}
