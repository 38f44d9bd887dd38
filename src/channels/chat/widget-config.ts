/** How a shop wants its widget: `chat.widget` of its configuration, read by the widget itself. */
export interface WidgetConfig {
  /** The panel's title; the widget's own words without one. */
  readonly name?: string;
  /** The first lines a visitor reads. */
  readonly greeting?: string;
  /** `#rrggbb`: the accent. */
  readonly color?: string;
  readonly position?: 'right' | 'left';
  /** A picture of the shop: an https URL. */
  readonly logo?: string;
  /** Whether name and email are asked for before the first message. */
  readonly preChat?: 'off' | 'optional' | 'required';
}

/** `GET <prefix><widget key>` answers a `WidgetConfig`. */
export const WIDGET_CONFIG_PATH = '/widget/config/';
