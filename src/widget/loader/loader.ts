/** Where the main part lies, relative to this script; the build puts it in. */
declare const MAIN_FILE: string;

interface Main {
  mount(root: ShadowRoot): void;
}

const script = document.currentScript;
if (script instanceof HTMLScriptElement) {
  const host = document.createElement('sluice-chat');
  const root = host.attachShadow({ mode: 'open' });
  document.body.append(host);
  void (import(new URL(MAIN_FILE, script.src).href) as Promise<Main>).then(({ mount }) =>
    mount(root),
  );
}
