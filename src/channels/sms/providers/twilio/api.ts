import type { ProviderApi } from '../../provider.ts';
import type { TwilioShopAccount } from './account.ts';
import { OPT_OUT_CODE } from './error-words.ts';
import { twilioLists } from './message-lists.ts';
import { createTextSender } from './send-text.ts';

export const twilioApi: ProviderApi<TwilioShopAccount> = {
  name: 'twilio',
  optOutCode: OPT_OUT_CODE,
  createSender: createTextSender,
  lists: twilioLists,
};
