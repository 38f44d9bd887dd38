import type { ProviderApi } from '../../provider.ts';
import type { TwilioShopAccount } from './account.ts';
import { twilioLists } from './message-lists.ts';
import { createTextSender } from './send-text.ts';

export const twilioApi: ProviderApi<TwilioShopAccount> = {
  name: 'twilio',
  createSender: createTextSender,
  lists: twilioLists,
};
