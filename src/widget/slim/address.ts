/** An address in the parts that socket.io-client asks for, by the browser's own parser. */
export function parse(address: string) {
  const { protocol, hostname, port, pathname, search, searchParams } = new URL(address);
  return {
    source: address,
    protocol: protocol.slice(0, -1),
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: pathname,
    query: search.slice(1),
    queryKey: Object.fromEntries(searchParams),
  };
}
