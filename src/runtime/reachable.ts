/** `host:port` under which a program on this machine reaches a listener on all interfaces. */
export function reachable({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${own.includes(':') ? `[${own}]` : own}:${port}`;
}
