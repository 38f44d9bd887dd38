/** Where the widget keeps what it remembers: also the loader looks here whether there is a session. */

export const SESSION = 'session';

/** Apart for each gateway and key: a site may have several, and one gateway serves many. */
export function storagePrefix(gatewayUrl: string, key: string): string {
  const { origin, basePath } = gatewayAddress(gatewayUrl);
  return `sluice:${origin}${basePath}:${encodeURIComponent(key)}:`;
}

export interface GatewayAddress {
  readonly origin: string;
  /** Empty, or as `/support`: a gateway behind a path of a larger site. */
  readonly basePath: string;
}

/** @throws {TypeError} this is no URL */
export function gatewayAddress(gatewayUrl: string): GatewayAddress {
  const { origin, pathname } = new URL(gatewayUrl);
  return { origin, basePath: pathname.replace(/\/+$/, '') };
}
