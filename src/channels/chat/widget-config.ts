/**
 * The widget settings of a shop: `chat.widget` of the configuration, fetched by the widget itself.
 */
export interface WidgetConfig {
  /** The title of the panel; by default, the widget's own. */
  readonly name?: string;
  /** The first text that a visitor reads. */
  readonly greeting?: string;
  /** The accent color: `#rrggbb`. */
  readonly color?: string;
  readonly position?: 'right' | 'left';
  /** A picture of the shop: an https URL. */
  readonly logo?: string;
  /** Whether name and email are asked for before the first message. */
  readonly preChat?: 'off' | 'optional' | 'required';
}

/** `GET <prefix><widget key>` returns a `WidgetConfig`. */
export const WIDGET_CONFIG_PATH = '/widget/config/';
