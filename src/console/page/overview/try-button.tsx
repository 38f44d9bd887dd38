import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { trialWords } from '../../trial-words.ts';
import { span } from '../formats.ts';
import { asRefusal } from '../load.ts';
import { gatewayNow } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { toast } from '../ui/toast.tsx';

/** Has one of a shop's messages tried at once, and shows the result. */
export function TryButton({ shop }: { readonly shop: string }) {
  const [isBusy, setBusy] = useState(false);
  const [told, setTold] = useState<string>();
  const tryNow = async () => {
    setBusy(true);
    setTold(undefined);
    try {
      const { ok, text } = trialWords(await api.tryShop(shop), gatewayNow(), span);
      // The button is removed once the shop is well again.
      if (ok) toast({ text: `${shop}: ${text}.` });
      else setTold(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
    } catch (error) {
      setTold(asRefusal(error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="shop-try">
      <Button
        size="small"
        icon="again"
        busy={isBusy}
        aria-label={`Try ${shop} now`}
        onClick={() => void tryNow()}
      >
        Try now
      </Button>
      <span role="status">{told !== undefined && <span class="fault">{told}</span>}</span>
    </div>
  );
}
