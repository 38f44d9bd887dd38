/** The checks, in the order in which they are reported; `--only` names them. */
export const CHECKS = [
  'public-url',
  'twilio',
  'reach',
  'platform',
  'clock',
  'disk',
  'descriptors',
  'mx',
  'certificate',
  'ports',
  'breaker',
  'data-folder',
  'relay',
  'alerts',
  'backup',
] as const;
export type CheckName = (typeof CHECKS)[number];
