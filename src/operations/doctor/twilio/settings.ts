/** What Twilio calls for a message that comes in; an empty URL is one that is not set. */
export interface InboundSettings {
  readonly url: string;
  readonly method: string;
  readonly fallbackUrl: string;
  readonly fallbackMethod: string;
}

/** A number or short code of the account. */
export interface Sender extends InboundSettings {
  readonly kind: 'number' | 'short code';
  /** PN… or SC… */
  readonly sid: string;
  /** When it is there, the application's settings count and the number's own do not. */
  readonly applicationSid: string | undefined;
}

export interface MessagingService extends InboundSettings {
  /** MG… */
  readonly sid: string;
  /** The webhook of the number is called, not that of the service. */
  readonly usesNumbersOwn: boolean;
  /** The SIDs of its numbers and short codes; not asked for when they use their own webhook. */
  readonly senders: readonly string[];
}

/** What the checks ask of an account. Every method rejects with TwilioTrouble. */
export interface TwilioSettings {
  find(number: string): Promise<Sender | undefined>;
  application(sid: string): Promise<InboundSettings>;
  services(): Promise<readonly MessagingService[]>;
  /** Resolves with what Twilio has then. */
  update(sender: Sender, changes: Partial<InboundSettings>): Promise<Sender>;
}

/** A call that gave nothing; `message` is for an operator. */
export class TwilioTrouble extends Error {
  override name = 'TwilioTrouble';
  readonly kind: 'refused' | 'forbidden' | 'unreachable' | 'other';
  constructor(kind: TwilioTrouble['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
