import { BARE, type BounceText, BRACKETED, FLUFL, line, NAMED, SISIMAI } from './bounce-lines.ts';

/** The texts of mail servers that companies run. */
export const TEXTS_OF_SERVERS: readonly BounceText[] = [
  {
    system: 'Postfix, Yandex',
    source: 'https://www.postfix.org/bounce.5.html',
    opening: [
      'this is the mail system at host',
      "i'm sorry to have to inform you that your message could not be delivered",
      'this is the postfix program at host',
    ],
    recipient: [BRACKETED],
  },
  {
    system: 'sendmail 8',
    source: 'https://www.sendmail.org (sendmail/savemail.c)',
    opening: ['the original message was received at', '----- the following addresses had'],
    recipient: [BRACKETED, BARE],
    end: ['----- original message follows -----', '----- message header follows -----'],
  },
  {
    system: 'sendmail 5',
    source: `${SISIMAI}V5sendmail.pm`,
    opening: ['----- transcript of session follows -----'],
    end: ['----- unsent message follows -----', '----- no message was collected -----'],
  },
  {
    system: 'Exim, Mail.Ru, MXLogic',
    source: 'https://github.com/Exim/exim/blob/master/src/src/deliver.c',
    opening: [
      'this message was created automatically by mail delivery',
      'this message was created automatically by the mail system',
      'this is an automated message created by mail delivery software',
      'a message that you sent could not be delivered to',
      'a message that you sent was rejected by the local scanning code',
      'это письмо создано автоматически',
    ],
    recipient: [BARE, BRACKETED, line(String.raw`\((?:generated|ultimately generated) from @@\)`)],
    end: ['------ this is a copy of', '------ the body of the message is', 'included is a copy of'],
  },
  {
    system: 'qmail, netqmail',
    source: 'https://cr.yp.to/proto/qsbmf.txt',
    opening: [
      'hi. this is the',
      'this is the qmail',
      "i'm afraid i wasn't able to deliver your message to the following address",
      "i'm afraid i wasn't able to deliver the following message",
    ],
    recipient: [BRACKETED],
    end: ['--- below this line is a copy of the message', '---below this line is a copy of'],
  },
  {
    system: 'DragonFly Mail Agent',
    source: 'https://github.com/corecode/dma/blob/master/mail.c',
    opening: ['this is the dragonfly mail agent'],
    recipient: [line(String.raw`there was an error delivering your mail to <@@>\.?()`)],
    end: ['original message follows.', 'message headers follow.'],
  },
  {
    system: 'OpenSMTPD',
    source: 'https://github.com/OpenSMTPD/OpenSMTPD/blob/master/usr.sbin/smtpd/bounce.c',
    opening: [
      'this is the mailer-daemon, please do not reply to this',
      'an error has occurred while attempting to deliver a message for',
    ],
    recipient: [BARE],
    end: ['below is a copy of the original message', 'message headers follow'],
  },
  {
    system: 'Courier',
    source: 'https://www.courier-mta.org/courier.html (dsnfailed.txt)',
    opening: ['this is a delivery status notification from'],
    recipient: [BRACKETED],
  },
  {
    system: 'Exchange 5.5, 2000 and 2003',
    source: `${SISIMAI}Exchange2003.pm`,
    opening: [
      'your message did not reach some or all of the intended recipients',
      'did not reach the following recipient',
    ],
    recipient: [
      line(String.raw`(?:[^@]{0,300}SMTP=)?@@;? on \S.*()`),
      line(String.raw`did not reach the following recipient: @@()`),
    ],
  },
  {
    system: 'Exchange 2007 and later, Microsoft 365',
    source:
      'https://learn.microsoft.com/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online',
    opening: [
      'delivery has failed to these recipients',
      'your message to the following recipients could not be delivered',
      'fehler bei der nachrichtenzustellung an folgende',
      'échec de la remise à ces destinataires',
      'no se pudo entregar el mensaje a estos destinatarios',
    ],
    recipient: [
      BARE,
      NAMED,
      line(String.raw`your message to @@ (?:couldn't|could not|wasn't|was not|has been)(.*)`),
      line(String.raw`(?:[^<>@]{1,100}\()?@@\)?<mailto:.*()`),
    ],
    end: ['original message headers:', 'diagnostic information for administrators:'],
  },
  {
    system: 'Windows SMTP service, hMailServer, MailEnable',
    source: 'https://www.hmailserver.com/documentation (server messages)',
    opening: [
      'this is an automatically generated delivery status notification',
      'delivery to the following recipient',
      'the following recipient(s) could not be reached',
      'mailenable: message could not be delivered',
      'mailenable: message delivery',
    ],
    recipient: [BARE, line(String.raw`recipient: \[?(?:smtp:)?@@\]?()`)],
    end: ['----- original message -----', 'message headers follow'],
  },
  {
    system: 'Oracle and Sun Messaging Server, PMDF',
    source: `${SISIMAI}MessagingServer.pm`,
    opening: [
      'this report relates to a message you sent with the following header fields',
      'your message cannot be delivered to the following recipients',
    ],
    recipient: [line(String.raw`(?:recipient|original) address: @@()`)],
  },
  {
    system: 'Netscape Messaging Server, Openwave',
    source: `${FLUFL}netscape.py`,
    opening: [
      'this message was undeliverable due to the following reason',
      'the following recipients did not receive your message',
    ],
    recipient: [BRACKETED],
  },
  {
    system: 'HCL and Lotus Domino, Notes',
    source: `${SISIMAI}Domino.pm`,
    opening: ['was not delivered to:', '------- failure reasons --------'],
    recipient: [BARE],
    end: ['------- returned message --------'],
  },
  {
    system: 'GroupWise',
    source: `${FLUFL}groupwise.py`,
    opening: ['the message that you sent was undeliverable to the following'],
    recipient: [line(String.raw`[\w.-]{1,64} \(@@\)(.*)`), BARE],
  },
  {
    system: 'IMail, smtp32',
    source: `${SISIMAI}IMailServer.pm`,
    opening: [
      'undeliverable to',
      'unknown user:',
      'delivery userid failed:',
      'user mailbox exceeds',
    ],
    recipient: [
      line(
        String.raw`(?:undeliverable +to|unknown user:|delivery userid failed:|invalid final delivery userid:|user mailbox exceeds allowed size:|delivery failed \d{1,4} attempts:) ?<?@@>?()`,
      ),
    ],
    end: ['original message follows.'],
  },
  {
    system: 'Apache James, Verizon',
    source: `${SISIMAI}ApacheJames.pm`,
    opening: [
      'hi. this is the james mail server',
      'message could not be delivered to mobile',
      'error: invalid user address',
    ],
    recipient: [BARE],
  },
  {
    system: 'MDaemon',
    source: `${FLUFL}simplematch.py`,
    opening: [
      'the attached message had permanent fatal delivery errors',
      'the following addresses did not receive a copy of your message',
      'no such user here. there is no user by that name at this server',
    ],
    recipient: [BARE, line(String.raw`@@ - (no such user here.*)`)],
  },
  {
    system: 'PowerMTA',
    source: `${SISIMAI}PowerMTA.pm`,
    opening: ['hello, this is the mail server on'],
    recipient: [line(String.raw`<@@> {1,4}(delivery failed.*)`)],
  },
];
