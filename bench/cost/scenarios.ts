import { ACCEPT_EMAILS } from './accept-emails.ts';
import { DELIVER_EMAILS } from './deliver-emails.ts';
import { DELIVERY_THREADS } from './delivery-threads.ts';
import type { Outcome } from './report.ts';
import type { Stage } from './stage.ts';
import { TEXTS_AND_CHAT } from './texts-and-chat.ts';
import { WHOLE_DAY } from './whole-day.ts';

export interface Scenario {
  readonly name: string;
  readonly run: (stage: Stage, name: string) => Promise<Outcome>;
}

export const SCENARIOS: readonly Scenario[] = [
  ...DELIVER_EMAILS,
  ...ACCEPT_EMAILS,
  ...TEXTS_AND_CHAT,
  ...WHOLE_DAY,
  DELIVERY_THREADS,
];
