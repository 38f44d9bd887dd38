/** Keys that people write and that do not exist, by their whole path without indices, and what to do instead. */
const CURES: readonly (readonly [path: RegExp, cure: string])[] = [
  [
    /^(?:http|admin)\.(?:tls|ssl|https|cert|key)$/,
    'remove it: this port has no TLS of its own; put a reverse proxy in front of it, and its address into http.trustProxy',
  ],
  [
    /^admin\.enabled$/,
    'remove it: the console is always there; admin.host: 127.0.0.1 shows it to this machine only',
  ],
  [
    /^smtp\.(?:auth|user|username|password)$/,
    'remove it: nobody signs in at an MX; smtp.trustedRelays names servers that are trusted',
  ],
  [
    /^(?:smtp|email)\.relay$/,
    'replies are sent with localPlatform.replies.relay, alerts with alerts.email.relay',
  ],
  [
    /^log\.(?:file|path|dir)$/,
    'remove it: the log is written to the standard output; send that to a file',
  ],
  [
    /[a-z](?:File|_file)$/,
    'write the key without File, and ${NAME} as its value; only variables are read from files, as SLUICE_ADMIN_PASSWORD_FILE is',
  ],
  [/^platform\.(?:apiKey|shopId|key|token)$/, 'write it at its shop: shops[0].apiKey and shopId'],
  [/^shops\.(?:sms\.)?provider$/, 'remove it: the key twilio, telnyx or whatsappCloud says it'],
  [/^shops\.agent$/, "write agent: on, or off; the agent's settings are in localPlatform.agent"],
  [
    /^(?:apiVersion|kind|metadata|data|services|version)$/,
    'this is a file of Kubernetes or Compose: name one that has the keys of Sluice alone, such as the text below data',
  ],
  [/(?:^|\.)<<$/, 'write the keys themselves here: keys are not merged'],
  [/^x-/, 'remove it: there are no keys of your own'],
  [/^sluice$/, 'remove it, and move what is below it to the left'],
  [/^shops\.whatsapp$/, 'write it at sms: whatsappCloud is Meta, and twilio has WhatsApp, too'],
  [
    /^admin\.(?:user|username|login)$/,
    'remove it: the password alone signs in; for people with names write admin.operators',
  ],
  [/^alerts\.webhook\.channel$/, 'remove it: the webhook was made for one channel'],
  [
    /^alerts\.webhook\.(?:format|type|kind)$/,
    'remove it: the form follows from the URL, of Slack, Discord or Teams for instance',
  ],
  [
    /^shops\.(?:email\.)?(?:imap|pop3?|mailbox)$/,
    'remove it: mail arrives here over SMTP; have the mailbox forwarded (docs/connect-email.md)',
  ],
  [
    /^shops\.(?:(?:email|sms|chat)\.)?(?:enabled|disabled|active)$/,
    'remove it: a shop, or a channel of it, is on while it stands here',
  ],
  [/^shops\.(?:texts?|phone|twilio|telnyx)$/, 'write it at sms'],
  [/^whatsapp\./, 'write it at shops[].sms.whatsappCloud'],
  [/^shops\.widget$/, 'write it at chat'],
  [/^(?:database|db|postgres|redis|store)$/, 'write it at spool.url: sqlite, or a postgres:// URL'],
  [/^(?:storage|data|dataFolder|path)$/, 'write dataDir: and the path of a folder'],
  [/^(?:metrics|prometheus|health)$/, 'remove it: they are on the port of the console, admin.port'],
  [/^smtp\.(?:domain|name|host_?name|fqdn|banner)$/i, 'did you mean smtp.hostname?'],
  [/^smtp\.(?:max\w*size|size\w*|limit)$/i, 'did you mean smtp.maxMessageBytes?'],
  [
    /^smtp\.(?:start_?tls|ssl|secure)$/i,
    'remove it: STARTTLS is always offered; smtp.tls names the certificate',
  ],
  [/^http\.(?:cors|origins?|allowedOrigins)$/, 'write the origins at shops[].chat.origins'],
  [
    /^delivery\.(?:retr(?:y|ies)|max(?:Attempts|Retries)|attempts|backoff)$/,
    'remove it: delivery is tried again until delivery.giveUpAfter',
  ],
  [/^admin\.(?:api_?)?(?:token|key)s?$/i, 'remove it: sluice token create makes one'],
  [/^shops\.channels$/, 'remove it: the keys email, sms and chat say it'],
  [/(?:^|\.)\/\//, 'begin a comment with #: // is none in YAML'],
];

/** What to do instead of a key that does not exist. */
export const cureOf = (path: string): string | undefined =>
  CURES.find(([of]) => of.test(path.replaceAll(/\[\d+\]/g, '')))?.[1];
