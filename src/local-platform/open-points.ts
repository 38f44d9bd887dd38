/**
 * The points that the API document leaves open: the values here, the descriptions in the table below.
 * The reference page shows the table, and `node scripts/decisions.mjs` writes it to
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

/** An open point and its behaviour here. Code is in backticks. */
type OpenPoint = readonly [open: string, here: string];

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

export const OPEN_POINTS: readonly OpenPoint[] = [
  ['success codes', '201 created, 200 read, 200 with the existing message on a dedup match'],
  ['dedup key of messages (§4.7)', "(shop, `remote_id`) among customers' messages"],
  [
    'dedup of metrics (§4.1)',
    '(shop, `metric_name`, `deduping_key`); a repetition returns 200 and stores nothing, unless it is for another contact: then that contact’s activity is stored without the metric, and the response is 201',
  ],
  ['answer to a new message', 'the Message (§2.2)'],
  [
    'errors (§7)',
    '`{error: {code, message, fields}}`; `fields` maps the path of each invalid field to the expected value',
  ],
  [
    'error codes',
    '400 invalid, 401 no or unknown key, 403 a key of another shop, 404 not found, 405 method, 413 too large, 415 media type, 429 too many requests, 503 the store cannot write',
  ],
  ['a path without its trailing slash', '404, with the correct path'],
  ['unknown fields and query parameters', 'ignored'],
  ['an empty or repeated query parameter', '400'],
  ['uuids', 'accepted in any case, returned in lower case'],
  ['a JSON body', 'UTF-8 only (also named `utf8`): 415 for another charset, 400 for invalid bytes'],
  [`headers and a query of more than ${LIMITS.headersMaxBytes / 1024} KiB`, '431'],
  [
    '`limit`',
    `${LIMITS.pageDefault} by default, at most ${LIMITS.pageMax}; a larger value counts as ${LIMITS.pageMax}, a value below 1 is 400. A page of messages ends before it has more than ${mebibytes(LIMITS.messagesPageMaxBytes)} of \`content\` and \`text\`, with at least one message; \`next\` continues after it`,
  ],
  [
    'order of lists',
    'newest first, by arrival; rows that are added during paging come before the first page',
  ],
  ['`cursor`', 'valid for one list; 400 for a cursor of another list, or any other value'],
  ['several filters', 'all of them must match'],
  ['`conversation.type` without `conversation.id`', 'required: 400'],
  ['`conversation.type` with `conversation.id`', 'ignored: the conversation keeps its channel'],
  ['unknown `conversation.id`', '404'],
  ['unknown id in `attachments`', `400; at most ${LIMITS.attachmentsMax} of them`],
  [
    'which contact',
    'by email (in any case), then by phone, if that contact has no other email; otherwise, in a known conversation, its contact, unless that has another email or phone; otherwise a new contact. For SMS, the number comes before the email, which matches only contacts without another number. In web chat, where visitors can type anything, a phone matches only if no email is given, so that nobody is identified as another person by what they type besides their address',
  ],
  [
    'phone numbers',
    'stored and looked up in E.164, in whatever form they are written; a number of unknown country, or a short code, unchanged',
  ],
  [
    'fields missing in a known contact',
    'filled in from the request, never overwritten; an email or phone of another contact is not moved',
  ],
  [
    'email threading (§4.7 rule 3)',
    'In-Reply-To, then References from the last to the first, against `remote_id` of messages of both sides, with or without angle brackets, in email conversations of the shop',
  ],
  [
    'who may join an email thread',
    'addresses that have written in it, or that were in `cc` or `bcc` of its first email or of an email that refers to a reply of the agent: a sender can be forged, but only recipients of the reply know its id. Anyone else who quotes its message-ids gets a new conversation, because ids are not secret and the agent would reveal what others wrote',
  ],
  ['an empty `remote_id`', 'ignored: such messages are never duplicates'],
  ['a message that already exists', 'returned as stored; the repeated request changes nothing'],
  ['`created_at` of a message', '`message.timestamp` if given, otherwise the time of arrival'],
  ['date-times', 'with `Z` or an offset, otherwise 400; in the years 0001 to 9999 in UTC'],
  [
    '`null` in `contact.name`, `message.attachments`, `message.email`',
    '400: they may be absent but are not nullable (§4.7)',
  ],
  [
    'email addresses',
    'a single address without white space, and outside of quotes without `,` `;` `:` `<` `>` `(` `)` and a second `@`',
  ],
  [
    '`attachments` of a message',
    'attached in their order, without duplicates. A Message has no field for them, and `content` contains no links: a client that needs them has to keep the media records',
  ],
  [
    '`conversation.agent_contact`',
    'every address and number of a shop is handled by its one agent; stored with each message, because its reply is sent from there. For email it must be an address; a number is stored in E.164',
  ],
  [
    '`conversation.user_id`, `topic_id`, `intent_id`',
    'stored with the conversation without validation; later values fill in missing ones. The first is `user_id` of the Conversation, the others are not returned',
  ],
  ["a conversation's `title`", 'the subject of its first email; absent without one'],
  [
    'ticket',
    'one per conversation; New, then Open when the customer writes again, even if it was Completed or Archived; WaitingContact when the agent has answered all messages, WaitingUser when it was escalated',
  ],
  [
    "a ticket's `number`, `name`, `summary`",
    'counted per shop from 1; the subject, otherwise the first non-empty line, 120 characters; the beginning of the first message, 200 characters',
  ],
  [
    '`last_message_at`, `last_message_content`',
    "the message's `created_at`, which never decreases and is never in the future; its beginning, 200 characters",
  ],
  [
    'conversation status',
    'new; open when the customer writes again, which also ends a `soft` or `hard` resolution; pending when the agent has answered all messages',
  ],
  [
    '`resolution`',
    '`escalated` when the customer asked for a person or the agent had no answer; the agent no longer answers then, and the ticket becomes WaitingUser whenever the customer writes',
  ],
  [
    'an agent whose endpoint is not available',
    `the message is retried, across restarts, for ${LIMITS.agentGiveUpAfterMs / 60_000} minutes unless configured otherwise; then a person takes over: WaitingUser, \`escalated\`, and a reply that says so`,
  ],
  [
    'what the agent does not answer',
    `an empty message; the shop's own, no-reply and mailer addresses; automatic replies and bounces by their subject; bare opt-out words by SMS; by email and SMS the same text for the ${LIMITS.agentRepeatsMax + 1}th time in a row; more than ${LIMITS.agentRepliesPer10Min} replies in 10 minutes or ${LIMITS.agentRepliesPerDay} in a day. The ticket stays New or Open`,
  ],
  ['a shop without agent', 'its tickets stay New or Open, for a person'],
  ['`role`', '`customer` or `agent`'],
  [
    '`status` of a message (§3)',
    "customers' messages are DELIVERED; a reply is PENDING until it is sent, DELIVERED when the relay, the provider or the disk has accepted it, FAILED when it was refused permanently or could not be sent within two days. `updated_at` is the time of the change",
  ],
  [
    'a FAILED reply',
    'its ticket becomes WaitingUser, because the customer did not receive it and a person has to act',
  ],
  [
    '`conversation.id` with a contact who has no address on its channel',
    'accepted; the answer has no recipient and is FAILED',
  ],
  [
    'a reply that could not be sent',
    'retried after 1, 5, 15, 30, 60, 120 and then every 240 minutes, across restarts: after 4xx and connection failures (email), 429, 5xx and connection failures (SMS), and errors that an operator can fix, such as a wrong password. 5xx for sender, recipient or message, invalid numbers and opt-outs are permanent',
  ],
  [
    'how an email reply is sent (§4.7 rule 4)',
    "through the configured relay, otherwise as an .eml file: from the address that the customer wrote to, only to the address that they wrote from (not to `cc`), with `In-Reply-To`, `References`, `Auto-Submitted: auto-replied`, text and HTML. Its Message-ID is the reply's `remote_id` and is the same in every attempt",
  ],
  [
    'how an SMS reply is sent',
    "through the shop's Twilio account if configured, otherwise as a line of `sms.log`: from the number that the customer wrote to, to the number that they wrote from, over WhatsApp or RCS if the text arrived that way, never by SMS instead; over WhatsApp more than 24 hours after the customer's last message with the configured template, otherwise FAILED; not to people who have opted out; in at most 5 parts of 1600 characters, each cut at the end of a sentence. Twilio's id is the reply's `remote_id`. Replies of a conversation keep their order",
  ],
  [
    'the WebSocket of web chat (§1 specifies no protocol)',
    '`/v2026-04/web-chat/socket.io`, with socket.io 4 and `auth: {apiKey, shopId}` or the headers of the API; a refusal is a `connect_error` whose `data` is the error of the API. `join` `{conversation_id, after}` returns `{messages, complete}`: the messages after the message `after`, oldest first, 50 at a time; if not `complete`, join again after the last one. After that, each stored message is sent as `message`, and as `message_updated` when its status changes; both contain the Message (§2.2). `leave` `{conversation_id}` ends that. Conversations of type web_chat only; 200 on a socket, 1000 sockets of a shop',
  ],
  [
    'upload size',
    `${mebibytes(LIMITS.uploadMaxBytes)}; a JSON body ${mebibytes(LIMITS.jsonMaxBytes)}`,
  ],
  [
    '`type` of a file',
    'detected from the content; the declared type if the content has no signature',
  ],
  [
    '`url` of a file',
    'private: signed, valid for one hour; public: without expiry. Supports GET, HEAD and one `Range`: 206, or 416 beyond the end',
  ],
  ['event contact', 'requires email, phone or remote_id, by which it is found or created'],
  [
    '`created_at__range` (§8)',
    '`relative:-<n><s|m|h|d|w>,` or two date-times with `Z` or an offset, both inclusive',
  ],
  ['rate limit', 'none unless `localPlatform.requestsPerSecond` is set; counted per shop'],
];
