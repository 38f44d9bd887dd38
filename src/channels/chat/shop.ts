import type { ShopId } from '../../domain/ids.ts';
import type { WidgetConfig } from './widget-config.ts';

/** What the chat channel knows of one shop. */
export interface ChatShop {
  readonly shopId: ShopId;
  /** The widget key: public, in the shop's page. */
  readonly key: string;
  /** Exact origins, as a browser sends them: scheme, host and port. */
  readonly origins: readonly string[];
  /** Lets in clients that send no Origin header: programs, never browsers. */
  readonly allowNoOrigin: boolean;
  /** Secrets of identity JWTs; several while one is being replaced. */
  readonly identitySecrets: readonly string[];
  readonly limits: ChatLimitOptions;
  /** How the widget looks on this shop's pages; its own way when absent. */
  readonly widget?: WidgetConfig;
}

export interface ChatLimitOptions {
  readonly messagesPer10s: number;
  readonly newVisitorsPerHourPerIp: number;
  readonly socketsPerIp: number;
  readonly uploadBytesPerHourPerIp: number;
}
