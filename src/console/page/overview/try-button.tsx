import { trialWords } from '../../trial-words.ts';
import { api } from '../api.ts';
import { span } from '../formats.ts';
import { useRequest } from '../loading.ts';
import { gatewayNow } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { toast } from '../ui/overlays.tsx';

/** Retries one of the shop's messages at once and shows the result. */
export function TryButton({ shop }: { readonly shop: string }) {
  const { data, failure, loading, send } = useRequest<string>();
  const tryNow = async () => {
    const { ok, text } = trialWords(await api.tryShop(shop), gatewayNow(), span);
    // The button disappears once the shop has no problem.
    if (ok) toast({ text: `${shop}: ${text}.` });
    return ok ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  };
  const fault = loading ? '' : (failure?.message ?? data ?? '');
  return (
    <div class="shop-try">
      <Button
        size="small"
        icon="again"
        busy={loading}
        aria-label={`Try now: ${shop}`}
        onClick={() => send(tryNow)}
      >
        Try now
      </Button>
      <span role="status">{fault !== '' && <span class="fault">{fault}</span>}</span>
    </div>
  );
}
