/**
 * Mail providers whose domain does not identify the author: anyone can have an address there and
 * passes DMARC with it. Taken from their own lists of domains and from the provider tables of mail
 * programs (https://github.com/nodemailer/nodemailer/blob/master/lib/well-known/services.json,
 * https://github.com/thunderbird/autoconfig/tree/master/ispdb).
 */
const SHARED: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com googlegroups.com icloud.com me.com mac.com privaterelay.appleid.com
  aol.com aim.com rocketmail.com proton.me protonmail.com protonmail.ch pm.me tutanota.com
  tutanota.de tutamail.com tuta.io tuta.com keemail.me fastmail.com fastmail.fm hey.com zoho.com
  zohomail.com zohomail.eu mail.com email.com usa.com web.de t-online.de magenta.de freenet.de
  arcor.de posteo.de posteo.net mailbox.org 1und1.de bluewin.ch orange.fr wanadoo.fr free.fr
  laposte.net sfr.fr neuf.fr libero.it virgilio.it alice.it tin.it tiscali.it inwind.it
  telefonica.net terra.com.br uol.com.br bol.com.br ig.com.br seznam.cz email.cz centrum.cz
  azet.sk wp.pl o2.pl onet.pl interia.pl op.pl abv.bg mail.ru inbox.ru bk.ru list.ru internet.ru
  rambler.ru ya.ru yandex.com ukr.net i.ua qq.com foxmail.com 163.com 126.com yeah.net sina.com
  sina.cn sohu.com aliyun.com naver.com hanmail.net daum.net kakao.com nate.com docomo.ne.jp
  ezweb.ne.jp au.com softbank.ne.jp i.softbank.jp rediffmail.com comcast.net verizon.net att.net
  sbcglobal.net bellsouth.net cox.net charter.net spectrum.net earthlink.net optonline.net
  btinternet.com sky.com virginmedia.com talktalk.net ntlworld.com bigpond.com optusnet.com.au
  shaw.ca rogers.com telus.net sympatico.ca xtra.co.nz ziggo.nl kpnmail.nl xs4all.nl telenet.be
  skynet.be telia.com online.no`.split(/\s+/),
);
/** Providers with one domain per country: yahoo.co.jp, hotmail.fr, gmx.at, yandex.by. */
const SHARED_FAMILY =
  /^(?:yahoo|ymail|myyahoo|hotmail|outlook|live|msn|windowslive|gmx|yandex)\.[a-z]{2,3}(?:\.[a-z]{2})?$/;

/**
 * Whether a domain (in lower case and ASCII) is shared by unrelated people, so that it does not
 * confirm an address.
 */
export function isSharedDomain(domain: string): boolean {
  return SHARED.has(domain) || SHARED_FAMILY.test(domain);
}
