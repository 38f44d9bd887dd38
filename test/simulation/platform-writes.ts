import {
  empty,
  type FieldError,
  type HttpAnswer,
  json,
  type Refusals,
} from './platform-answers.ts';
import { type Marker, type MarkerEffect, markersOf } from './platform-markers.ts';
import { mediaResource, messageResource } from './platform-resources.ts';
import type { ReadableMessage, ShopStore } from './platform-store.ts';
import type { PlatformTraits } from './platform-traits.ts';
import {
  checkEvent,
  checkMedia,
  checkMessage,
  type MessagePayload,
} from './platform-validation.ts';

/** The platform's own result for a request, before network faults. */
export interface Handled {
  readonly http: HttpAnswer;
  readonly stored?: 'created' | 'duplicate';
  readonly id?: string;
  readonly network?: 'silence' | 'reset';
}

/** Answers the POST endpoints and stores their data for a shop. */
export class PlatformWrites {
  readonly #traits: PlatformTraits;
  readonly #refusals: Refusals;
  /** How often messages were posted whose marker affects the first attempts only. */
  readonly #attempts = new Map<string, number>();

  constructor(traits: PlatformTraits, refusals: Refusals) {
    this.#traits = traits;
    this.#refusals = refusals;
  }

  /** Whether Create message would store this body if it were new (§4.7). */
  wouldAccept(store: ShopStore, body: unknown, at: number): boolean {
    const checked = checkMessage(body, this.#traits.emails);
    if (checked.errors !== undefined) return false;
    const payload = checked.body;
    return (
      this.#missing(store, payload, at) === undefined &&
      markersOf(payload.message.content).every((marker) => marker.acceptable(payload) === 'always')
    );
  }

  /** §4.7: stores a message, or finds the one it repeats. */
  createMessage(store: ShopStore, shopId: string, body: unknown, at: number): Handled {
    const checked = checkMessage(body, this.#traits.emails);
    if (checked.errors !== undefined) return this.#invalid(checked.errors);
    const payload = checked.body;
    let isAnswerLost = false;
    for (const marker of markersOf(payload.message.content)) {
      const effect = this.#effectOf(marker, payload, shopId);
      if (effect?.kind === 'lose first answer') isAnswerLost = true;
      else if (effect !== undefined) return this.#marked(store, effect, at);
    }
    const missing = this.#missing(store, payload, at);
    if (missing !== undefined) return { http: missing };
    const existing = store.duplicateOf(payload, at);
    const message = existing ?? store.addMessage(payload, at);
    return {
      http: existing === undefined ? this.#newMessage(message) : this.#duplicate(existing),
      stored: existing === undefined ? 'created' : 'duplicate',
      id: message.id,
      ...(isAnswerLost ? { network: 'reset' } : {}),
    };
  }

  /** A marker's effect on this attempt; undefined if it lets the message pass. */
  #effectOf(marker: Marker, payload: MessagePayload, shopId: string): MarkerEffect | undefined {
    const { effect } = marker;
    if (effect.kind !== 'fail first' && effect.kind !== 'lose first answer') {
      return marker.acceptable(payload) === 'always' ? undefined : effect;
    }
    const { remote_id: remoteId, content } = payload.message;
    const key = `${marker.text}\n${shopId}\n${remoteId ?? content}`;
    const before = this.#attempts.get(key) ?? 0;
    this.#attempts.set(key, before + 1);
    return before < (effect.kind === 'fail first' ? effect.attempts : 1) ? effect : undefined;
  }

  #marked(
    store: ShopStore,
    effect: Exclude<MarkerEffect, { kind: 'lose first answer' }>,
    at: number,
  ): Handled {
    switch (effect.kind) {
      case 'refuse':
        return { http: this.#refusals.of(effect.status, effect.field && [effect.field]) };
      case 'firewall':
        return { http: this.#refusals.firewall() };
      case 'silence':
        return { http: empty(500), network: 'silence' };
      case 'fail first':
        return { http: this.#refusals.of(500) };
      case 'other message': {
        const status = this.#traits.duplicateAnswer === 'conflict' ? 409 : 200;
        return { http: json(status, this.#shown(store.otherMessage(at))) };
      }
    }
  }

  /** The error if the message names a conversation or a file that the shop does not have. */
  #missing(store: ShopStore, payload: MessagePayload, at: number): HttpAnswer | undefined {
    const { conversation, message } = payload;
    const id = conversation.id ?? null;
    if (id !== null && store.conversation(id.toLowerCase()) === undefined) {
      return this.#refusals.of(this.#traits.unknownConversation, [
        { field: 'conversation.id', message: 'is not a conversation of this shop' },
      ]);
    }
    const unknown = message.attachments?.find((media) => !store.hasMedia(media.toLowerCase(), at));
    if (unknown === undefined) return undefined;
    return this.#refusals.of(this.#traits.validationStatus, [
      { field: 'message.attachments', message: `${unknown} is not a media record` },
    ]);
  }

  /** §4.7 rule 6: not shown. */
  #newMessage(message: ReadableMessage): HttpAnswer {
    const { newMessageAnswer, createdStatus: status } = this.#traits;
    switch (newMessageAnswer) {
      case 'message':
        return json(status, this.#shown(message));
      case 'empty':
        return empty(status);
      case 'data':
        return json(status, { data: this.#shown(message) });
      case 'message-envelope':
        return json(status, { message: this.#shown(message) });
      case 'id-only':
        return json(status, { id: message.id });
      case 'ok':
        return json(status, { ok: true });
      case 'no-conversation-id':
        return json(status, { ...this.#shown(message), conversation_id: null });
    }
  }

  /** §4.7 rule 5: the existing message. */
  #duplicate(message: ReadableMessage): HttpAnswer {
    switch (this.#traits.duplicateAnswer) {
      case 'message':
        return json(200, this.#shown(message));
      case 'conflict':
        return json(409, this.#shown(message));
      case 'empty':
        return empty(200);
    }
  }

  /** §4.8: stores a file. */
  uploadMedia(store: ShopStore, body: unknown, at: number): Handled {
    const checked = checkMedia(body);
    if (checked.errors !== undefined) return this.#invalid(checked.errors);
    const media = store.addMedia(checked.body, at);
    const http = json(this.#traits.createdStatus, mediaResource(media));
    return { http, stored: 'created', id: media.id };
  }

  /** §4.1: records an event. */
  createEvent(store: ShopStore, body: unknown, at: number): Handled {
    const checked = checkEvent(body);
    if (checked.errors !== undefined) return this.#invalid(checked.errors);
    const contact = store.addEvent(checked.body, at);
    const { createdStatus } = this.#traits;
    if (contact === undefined) return { http: json(createdStatus, {}), stored: 'created' };
    const { id, email, phone, remoteId } = contact;
    // The fields are strings, so missing ones are left out.
    const resolved = {
      id,
      ...(email === null ? {} : { email }),
      ...(phone === null ? {} : { phone }),
      ...(remoteId === null ? {} : { remote_id: remoteId }),
    };
    return { http: json(createdStatus, { contact: resolved }), stored: 'created' };
  }

  #invalid(errors: readonly FieldError[]): Handled {
    return { http: this.#refusals.of(this.#traits.validationStatus, errors) };
  }

  #shown(message: ReadableMessage): Record<string, unknown> {
    return messageResource(message, this.#traits);
  }
}
