import { CHANNEL_NAMES, exact, STATE_NAMES } from '../formats.ts';
import { type Filters, PRESETS } from './filters.ts';

/** The filters as the end of "all that …". */
export function matchWords(filters: Filters): string {
  const { text, shop, channel, states, reason, time } = filters;
  const parts = [
    ...(states.length > 0
      ? [`are ${listed(states.map((state) => STATE_NAMES[state].toLowerCase()))}`]
      : []),
    ...(channel === '' ? [] : [`came by ${CHANNEL_NAMES[channel]}`]),
    ...(shop === '' ? [] : [`are of ${shop}`]),
    ...(reason === '' ? [] : [`have a reason that begins with “${reason}”`]),
    ...(text === '' ? [] : [`have “${text}” in them`]),
    ...(time.kind === 'last'
      ? [`came in the ${PRESETS.find(({ preset }) => preset === time.preset)?.words.toLowerCase()}`]
      : []),
    ...(time.kind === 'between' && time.from !== undefined
      ? [`came after ${exact(time.from)}`]
      : []),
    ...(time.kind === 'between' && time.to !== undefined ? [`came before ${exact(time.to)}`] : []),
  ];
  return parts.length === 0 ? 'there are' : parts.join(', ');
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
