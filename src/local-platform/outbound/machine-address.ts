/** The local parts of addresses that nobody reads, or that a mail server or a list reads. */
const MACHINES = [
  '(?:.*[-._+])?(?:no|not|do-?not|never)[-._]?(?:reply|answer|responda)\\d*(?:[-._+].*)?',
  '(?:.*-)?bounces?(?:[-+=].*)?',
  '(?:mailer-daemon|postmaster|nobody|notifications?|listserv|majordomo)(?:[-+].*)?',
  '(?:owner|bounce)-.+',
  '.+-(?:owner|request)(?:[+=].*)?',
];
const MACHINE = new RegExp(`^(?:${MACHINES.join('|')})$`, 'i');
const ADDRESS_MAX = 320;

/**
 * Whether an answer to this address would reach a machine: a null reverse-path, no-reply, the
 * mailer daemon, a list's own addresses (RFC 3834 §2, RFC 5230 §4.6). One machine that answers
 * another makes a loop.
 */
export function isMachine(address: string): boolean {
  const bare = address.trim().replace(/^<|>$/g, '').slice(0, ADDRESS_MAX);
  const at = bare.lastIndexOf('@');
  return bare === '' || MACHINE.test(at < 0 ? bare : bare.slice(0, at));
}
