import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { asRefusal } from '../load.ts';
import { gatewayNow } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { toast } from '../ui/toast.tsx';
import { trialWords } from './trial-words.ts';

/** Has one of a shop's messages tried at once, and says what came of it. */
export function TryButton({ shop }: { readonly shop: string }) {
  const [isBusy, setBusy] = useState(false);
  const [told, setTold] = useState<string>();
  const tryNow = async () => {
    setBusy(true);
    setTold(undefined);
    try {
      const words = trialWords(await api.tryShop(shop), gatewayNow());
      // Where all is well again the button goes away.
      if (words.ok) toast({ text: `${shop}: ${words.text}` });
      else setTold(words.text);
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
