/**
 * Everything that the API document leaves open, decided once: the values here, the words in the
 * table below. The reference page shows the table; `node scripts/decisions.mjs` puts it into
 * docs/local-platform.md.
 */
export const LIMITS = {
  pageDefault: 50,
  pageMax: 200,
  messagesPageMaxBytes: 2 * 1024 * 1024,
  headersMaxBytes: 64 * 1024,
  jsonMaxBytes: 2 * 1024 * 1024,
  uploadMaxBytes: 100 * 1024 * 1024,
  signedUrlLifetimeMs: 60 * 60 * 1000,
  rangeMaxMs: 30 * 24 * 60 * 60 * 1000,
  referencesMax: 100,
  attachmentsMax: 100,
  participantsMax: 100,
  /** Beyond these rates the agent stops answering: the other side is probably a machine. */
  agentRepliesPer10Min: 10,
  agentRepliesPerDay: 100,
  /** By email and SMS, the same text is answered at most this often in a row. */
  agentRepeatsMax: 3,
  /** How long a message waits for an agent that cannot answer, before a person is asked. */
  agentGiveUpAfterMs: 15 * 60 * 1000,
} as const;

/** What is open, and what it is here. Code stands in backticks. */
type OpenPoint = readonly [open: string, here: string];

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

export const OPEN_POINTS: readonly OpenPoint[] = [
  ['success codes', '201 created, 200 read, 200 with the existing message on a dedup match'],
  ['dedup key of messages (§4.7)', "(shop, `remote_id`) among customers' messages"],
  [
    'dedup of metrics (§4.1)',
    '(shop, `metric_name`, `deduping_key`); a repeat answers 200 and stores nothing, unless it is of another contact: that one’s activity is stored, without the metric, and answered with 201',
  ],
  ['answer to a new message', 'the Message (§2.2)'],
  [
    'errors (§7)',
    '`{error: {code, message, fields}}`; `fields` maps the path of each wrong field to what was expected of it',
  ],
  [
    'error codes',
    '400 invalid, 401 no or unknown key, 403 a key of another shop, 404 not found, 405 method, 413 too large, 415 media type, 429 too many requests, 503 the store cannot write',
  ],
  ['a path without its trailing slash', '404, with the path that was meant'],
  ['unknown fields and query parameters', 'ignored'],
  ['an empty query parameter, or one that is given twice', '400'],
  ['uuids', 'taken in any case, given in lower case'],
  [
    'a JSON body',
    'UTF-8 only, also called `utf8`: 415 for another charset, 400 for bytes that are none',
  ],
  [`headers and a query of more than ${LIMITS.headersMaxBytes / 1024} KiB`, '431'],
  [
    '`limit`',
    `${LIMITS.pageDefault} when absent, ${LIMITS.pageMax} at most; a larger one is cut to ${LIMITS.pageMax}, a smaller than 1 is 400. A page of messages ends before it has more than ${mebibytes(LIMITS.messagesPageMaxBytes)} of \`content\` and \`text\`, with one message at least; \`next\` goes on behind it`,
  ],
  [
    'order of lists',
    'newest first, by arrival: rows that are added while someone pages are before the first page',
  ],
  ['`cursor`', 'of one list; 400 for one of another list, or for anything else'],
  ['several filters', 'all of them must match'],
  ['`conversation.type` without `conversation.id`', 'required: 400'],
  ['`conversation.type` beside `conversation.id`', 'ignored: the conversation keeps its channel'],
  ['unknown `conversation.id`', '404'],
  ['unknown id in `attachments`', `400; at most ${LIMITS.attachmentsMax} of them`],
  [
    'which contact',
    'email (any case), then phone, if the contact that has it has no other email; else, in a known conversation, its own contact unless that has another email or phone; else a new one. By SMS the number goes before the email, which finds only who has no other number. In web chat, where a visitor writes what he likes, a phone finds only when no email is given: nobody becomes another by what he says beside the address that he writes from',
  ],
  [
    'phone numbers',
    'kept and looked up in E.164 however they are written; one whose country cannot be told, or a short code, as it is',
  ],
  [
    'fields missing in a known contact',
    "filled in from the request, never overwritten; an email or a phone that is another contact's stays there",
  ],
  [
    'email threading (§4.7 rule 3)',
    'In-Reply-To, then References from the last to the first, against `remote_id` of messages of both sides, with or without angle brackets, in email conversations of the shop',
  ],
  [
    'who may join an email thread',
    "addresses that have written in it, or were named in `cc` or `bcc` of the email that began it or of one that refers to a reply of the agent's: a sender can be forged, but only who had the reply knows its id. Anyone else who quotes its message-ids gets a conversation of his own: ids are no secret, and the agent would tell him what others wrote",
  ],
  ['an empty `remote_id`', 'none: such messages are never the same'],
  [
    'a message that is there already',
    'answered as it is stored; nothing of the repeated request is taken over',
  ],
  ['`created_at` of a message', '`message.timestamp` when given, else the time of arrival'],
  ['date-times', 'with `Z` or an offset, else 400; in the years 0001 to 9999 of UTC'],
  [
    '`null` in `contact.name`, `message.attachments`, `message.email`',
    '400: they may be absent, and are not nullable (§4.7)',
  ],
  [
    'email addresses',
    'one each: without white space, and outside of quotes without `,` `;` `:` `<` `>` `(` `)` and a second `@`',
  ],
  [
    '`attachments` of a message',
    'bound to it in their order, each once. A Message has no field for them, and no links are written into `content`: a client that needs them keeps the media records',
  ],
  [
    '`conversation.agent_contact`',
    'every address and number of a shop is handled by its one agent; kept with each message, for its reply comes from there. By email it has to be an address; a number is kept in E.164',
  ],
  [
    '`conversation.user_id`, `topic_id`, `intent_id`',
    'kept with the conversation, unchecked; given later, they fill what is missing. The first is `user_id` of the Conversation, the others are not shown',
  ],
  ["a conversation's `title`", 'the subject of its first email; absent without one'],
  [
    'ticket',
    'one per conversation; New, then Open when the customer writes again, also when it was Completed or Archived; WaitingContact once the agent has answered all of it, WaitingUser when it was escalated',
  ],
  [
    "a ticket's `number`, `name`, `summary`",
    'counted by the shop from 1; the subject, else the first line that is not empty, 120 characters; the beginning of the first message, 200 characters',
  ],
  [
    '`last_message_at`, `last_message_content`',
    "the message's `created_at`, which never goes back nor beyond now; its beginning, 200 characters",
  ],
  [
    'conversation status',
    'new, open when the customer writes again, which also ends a `soft` or `hard` resolution; pending once the agent has answered all of it',
  ],
  [
    '`resolution`',
    '`escalated` when the customer asked for a person or the agent had no answer; the agent is silent from then on, and the ticket WaitingUser whenever the customer writes',
  ],
  [
    'an agent that cannot answer, for its endpoint is away',
    `the message is tried again, over restarts too, for ${LIMITS.agentGiveUpAfterMs / 60_000} minutes unless configured otherwise; then a person takes over: WaitingUser, \`escalated\`, and a reply that says so`,
  ],
  [
    'what the agent does not answer',
    `an empty message; the shop's own, no-reply and mailer addresses; automatic replies and bounces by their subject; bare opt-out words by SMS; by email and SMS the same text for the ${LIMITS.agentRepeatsMax + 1}th time in a row; more than ${LIMITS.agentRepliesPer10Min} replies in 10 minutes or ${LIMITS.agentRepliesPerDay} in a day. The ticket stays New or Open`,
  ],
  ['a shop without agent', 'its tickets stay New or Open, for a person'],
  ['`role`', '`customer` or `agent`'],
  [
    '`status` of a message (§3)',
    "customers' messages are DELIVERED; a reply is PENDING from when it is stored until it has left, DELIVERED once the relay, the provider or the disk has taken it over, FAILED when it was refused for good or was still not out after two days. `updated_at` tells when",
  ],
  [
    'a reply that is FAILED',
    'its ticket is WaitingUser: the customer knows nothing of it, and a person has to see to it',
  ],
  [
    '`conversation.id` with a contact who has no address on its channel',
    'taken; there is nobody to send an answer to, and it is FAILED',
  ],
  [
    'a reply that could not leave',
    'tried again after 1, 5, 15, 30, 60, 120 and then every 240 minutes, over restarts too: 4xx and no connection (email), 429, 5xx and no connection (SMS), and whatever an operator can mend, such as a password. 5xx to sender, recipient or message, a number that is none, and who opted out, are for good',
  ],
  [
    'how an email reply leaves (§4.7 rule 4)',
    "through the configured relay, else as an .eml file: from the address that the customer wrote to, to the one that he wrote from and nobody else (nobody of `cc`), with `In-Reply-To`, `References`, `Auto-Submitted: auto-replied`, text and HTML. Its Message-ID is the reply's `remote_id`, the same at every attempt",
  ],
  [
    'how an SMS reply leaves',
    "through the shop's Twilio account when configured, else as a line of `sms.log`: from the number that the customer wrote to, to the one that he wrote from, over WhatsApp or RCS when the text came so, never by SMS instead; WhatsApp later than 24 hours after the customer's last message by the configured template, else FAILED; nothing to who has opted out; at most 5 parts of 1600 characters, each cut at the end of a sentence. Twilio's id is the reply's `remote_id`. Replies of a conversation keep their order",
  ],
  [
    'the WebSocket of web chat (§1: no protocol is shown)',
    '`/v2026-04/web-chat/socket.io`, by socket.io 4, with `auth: {apiKey, shopId}` or the headers of the API; a refusal is a `connect_error` whose `data` is the error of the API. `join` `{conversation_id, after}` answers `{messages, complete}`: what came after the message `after`, oldest first, 50 at a time; not `complete` means: join again after the last one. From then on each stored message comes as `message`, and as `message_updated` when its status changes, both the Message (§2.2). `leave` `{conversation_id}` ends that. Conversations of type web_chat only; 200 on a socket, 1000 sockets of a shop',
  ],
  [
    'upload size',
    `${mebibytes(LIMITS.uploadMaxBytes)}; a JSON body ${mebibytes(LIMITS.jsonMaxBytes)}`,
  ],
  ['`type` of a file', 'sniffed; the declared one when the content has no signature'],
  [
    '`url` of a file',
    'private: signed, one hour; public: without an end. GET, HEAD and one `Range`: 206, or 416 behind its end',
  ],
  ['event contact', 'needs email, phone or remote_id to be found or created by'],
  [
    '`created_at__range` (§8)',
    '`relative:-<n><s|m|h|d|w>,` or two date-times with `Z` or an offset, both inclusive',
  ],
  ['rate limit', 'none unless `localPlatform.requestsPerSecond` is set; counted per shop'],
];
