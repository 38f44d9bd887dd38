import { domainToASCII } from 'node:url';
import { normalPhone } from './phone-number.ts';

/**
 * An email address or a number in the one form that two are compared in: whoever writes from it or
 * to it, `Support@BÜCHER.example` is `support@xn--bcher-kva.example`.
 */
export function normalAddress(text: string): string {
  const trimmed = text.trim();
  return (trimmed.includes('@') ? asciiDomain(trimmed) : normalPhone(trimmed)).toLowerCase();
}

function asciiDomain(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}
