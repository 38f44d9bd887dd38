import { type Answered, boldFields } from './shapes.ts';

/**
 * Elements in which a program expects its signature, or the mail that is answered, and in which people
 * type all the same, because the cursor stands there. The shapes are those of public mails and of the
 * programs' sources, apart from the product's own tables.
 */
interface SignatureElement {
  readonly name: string;
  /** The programs (of html-clients.ts) that write it. */
  readonly clients: readonly string[];
  /** @param lines each an HTML fragment: the answer, then perhaps the signature */
  html(lines: readonly string[]): string;
}

const divs = (lines: readonly string[]) =>
  lines.map((line) => `<div dir="auto">${line === '' ? '<br>' : line}</div>`).join('\n');

export const SIGNATURE_ELEMENTS: readonly SignatureElement[] = [
  {
    // Gmail, above the quote: usrp-users, December 2019, Sam Reiter.
    name: 'gmail_signature',
    clients: ['gmail'],
    html: (lines) =>
      `<div><div dir="ltr" class="gmail_signature" data-smartmail="gmail_signature"><div dir="ltr">${divs(lines)}</div></div></div>`,
  },
  {
    // The same with the line that Gmail puts before it, in mails to kasan-dev (Alexander Potapenko)
    // and qemu-devel (Marc-André Lureau); the prefix has had an element of its own since.
    name: 'gmail_signature, prefix',
    clients: ['gmail'],
    html: (lines) =>
      `<div><br></div><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature" data-smartmail="gmail_signature"><div dir="ltr">${divs(lines)}</div></div>`,
  },
  {
    // Outlook for Android: the whole answer is inside of <SE1SPRMB0015BDAF043E9103B24B9973CCC82@
    // SE1SPRMB0015.KORP216.PROD.OUTLOOK.COM>, qemu-devel, 4 March 2025.
    name: 'ms-outlook-mobile-signature',
    clients: ['outlook on the web', 'outlook for mobile'],
    html: (lines) =>
      `<div><br>\n</div>\n<div id="ms-outlook-mobile-signature" dir="auto">\n<div><br>\n</div>\n${divs(lines)}\n</div>`,
  },
  {
    // The same person's next mail, by a newer version.
    name: 'ms-outlook-mobile-signature, separator',
    clients: ['outlook on the web', 'outlook for mobile'],
    html: (lines) =>
      `<div dir="auto"><br>\n</div>\n<div id="ms-outlook-mobile-body-separator-line" dir="auto"><br>\n</div>\n<div id="ms-outlook-mobile-signature" dir="auto">\n${divs(lines)}\n</div>`,
  },
  {
    // iOS: usrp-users, 5 September 2019: one element around the last words.
    name: 'AppleMailSignature',
    clients: ['ios', 'apple'],
    html: (lines) => `<br><br><div id="AppleMailSignature" dir="ltr">${divs(lines)}</div>`,
  },
  {
    // iOS repeats the element for each paragraph in it. What the person pasted is inside of it in
    // <3044A23E-AF90-4EB1-994C-BB5F7A191C19@rsmus.com>, of the acceptances of terms in
    // https://github.com/distributedweaknessfiling/DWF-Legal-Acceptance
    name: 'AppleMailSignature, each line',
    clients: ['ios', 'apple'],
    html: (lines) =>
      lines
        .map((line) => {
          const text = `<span style="background-color: rgba(255, 255, 255, 0);">${line}</span>`;
          return `<div id="AppleMailSignature">${line === '' ? '<br>' : text}</div>`;
        })
        .join('\n'),
  },
  {
    // Thunderbird, an HTML signature: <a18faae2-7efe-42ab-4a85-215afbaaf89b@intel.com>, openbmc.
    name: 'moz-signature',
    clients: ['thunderbird'],
    html: (lines) => `<div class="moz-signature">-- <br>\n${lines.join('<br>\n')}</div>`,
  },
  {
    // Thunderbird, a signature of plain text: mails of Oleksandr Tyshchenko and Krystian Hebel.
    name: 'moz-signature, pre',
    clients: ['thunderbird'],
    html: (lines) => `<pre class="moz-signature" cols="72">-- \n${lines.join('\n')}</pre>`,
  },
  {
    // Proton Mail: templateBuilder of https://github.com/ProtonMail/WebClients,
    // applications/mail/src/app/helpers/message/messageSignature.ts
    name: 'protonmail_signature_block',
    clients: ['proton'],
    html: (lines) =>
      `<div><br></div><div><br></div><div class="protonmail_signature_block"><div class="protonmail_signature_block-user">${divs(lines)}</div><div class="protonmail_signature_block-proton protonmail_signature_block-empty"></div></div>`,
  },
  {
    // Samsung Email: usrp-users, January 2020 (N310, to Sam Reiter).
    name: 'composer_signature',
    clients: ['samsung'],
    html: (lines) => `<div id="composer_signature">\n${divs(lines)}\n</div>`,
  },
];

interface OutlookContainer {
  readonly name: string;
  /** @param answer an HTML fragment, which stands only in here */
  html(to: Answered, answer: string, old: string): string;
}

const RULE = '<hr style="display:inline-block;width:98%" tabindex="-1">';
const fieldsOf = (to: Answered) =>
  `<div id="divRplyFwdMsg" dir="ltr"><font face="Calibri, sans-serif">${boldFields(to)}</font><div>&nbsp;</div></div>`;

export const OUTLOOK_CONTAINERS: readonly OutlookContainer[] = [
  {
    // Outlook for iOS and Android: amd-gfx, 2 November 2023 (Yang Wang). The cursor may stand at the
    // beginning of the container, above the rule.
    name: 'reference container',
    html: (to, answer, old) =>
      `<div id="mail-editor-reference-message-container" class="ms-outlook-mobile-reference-message">\n${answer}\n${RULE}\n${fieldsOf(to)}\n${old}</div>`,
  },
  {
    // intel-gfx, 25 May 2023: the container begins with an empty line of the person's.
    name: 'reference container, auto',
    html: (to, answer, old) =>
      `<div dir="auto"><br>\n</div>\n<div id="mail-editor-reference-message-container" dir="auto">${answer}<br>\n${RULE}\n${fieldsOf(to)}\n${old}</div>`,
  },
  {
    // Outlook for Mac and the new Outlook, in Word's HTML: qemu-devel, December 2024, "ACPI: Enforce
    // mutual exclusion": everything that the person wrote is inside of the container.
    name: 'reference container, word',
    html: (to, answer, old) =>
      `<div class="WordSection1">\n<div id="mail-editor-reference-message-container">\n<div>\n<div>\n<div>\n${answer}</div>\n<div style="border:none;border-top:solid #B5C4DF 1.0pt;padding:3.0pt 0cm 0cm 0cm">\n<p class="MsoNormal" style="margin-bottom:12.0pt">${boldFields(to)}</p></div>\n${old}</div></div></div></div>`,
  },
  {
    // Outlook for Android, earlier: amd-gfx, 9 September 2021 (Pan, Xinhui); its id is new each time.
    name: 'reference message, id of its own',
    html: (to, answer, old) =>
      `<div id="id-6c97172e-0116-45da-8423-7906d63f733c" class="ms-outlook-mobile-reference-message">\n${answer}\n${RULE}\n${fieldsOf(to)}\n${old}</div>`,
  },
  {
    // Outlook on the web keeps this element empty above the rule, as in
    // <DM4PR12MB596299B2072C2CBAECCA4DBFFF52A@DM4PR12MB5962.namprd12.prod.outlook.com>; an answer in it
    // is the product's rule, not a public mail.
    name: 'appendonsend',
    html: (to, answer, old) =>
      `<div id="appendonsend">${answer}</div>\n${RULE}\n${fieldsOf(to)}\n${old}`,
  },
  {
    // The person typed before the first field: the product's rule, not a public mail.
    name: 'divRplyFwdMsg',
    html: (to, answer, old) =>
      `<div id="appendonsend"></div>\n${RULE}\n<div id="divRplyFwdMsg" dir="ltr">${answer}<font face="Calibri, sans-serif">${boldFields(to)}</font><div>&nbsp;</div></div>\n${old}`,
  },
];
