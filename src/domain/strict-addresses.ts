/**
 * Whether a strict validator may reject this address: a quoted local part, a domain without a dot
 * or with characters that host names cannot have, an address literal, or characters that need
 * SMTPUTF8 (RFC 6531).
 */
export function isDoubtfulAddress(address: string): boolean {
  const local = address.slice(0, address.lastIndexOf('@'));
  return (
    !/^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/.test(local) ||
    !isInternetHost(address)
  );
}

/** Whether mail can be sent to it over the internet: its domain is a host name with a dot. */
export function isInternetHost(address: string): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return (
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$/i.test(domain) &&
    !/^[\d.]+$/.test(domain)
  );
}
