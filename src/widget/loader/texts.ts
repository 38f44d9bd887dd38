import type { Language } from '../settings.ts';

/** The loader's texts: the launcher's name, "Dismiss", and the notice that loading has failed. */
type LauncherTexts = readonly [open: string, dismiss: string, failed: string];

export const TEXTS: Readonly<Record<Language, LauncherTexts>> = {
  en: ['Open chat', 'Dismiss', 'The chat did not load. Try again'],
  de: ['Chat öffnen', 'Ausblenden', 'Der Chat lädt nicht. Erneut versuchen'],
  fr: ['Ouvrir le chat', 'Masquer', 'Le chat ne se charge pas. Réessayer'],
  es: ['Abrir el chat', 'Ocultar', 'El chat no se ha cargado. Reintentar'],
  it: ['Apri la chat', 'Nascondi', 'La chat non si carica. Riprova'],
  nl: ['Chat openen', 'Verbergen', 'De chat laadt niet. Opnieuw proberen'],
  pt: ['Abrir o chat', 'Ocultar', 'O chat não abriu. Tentar de novo'],
  pl: ['Otwórz czat', 'Ukryj', 'Czat się nie wczytał. Spróbuj ponownie'],
  ar: ['فتح الدردشة', 'إخفاء', 'تعذّر تحميل الدردشة. إعادة المحاولة'],
  ja: ['チャットを開く', '非表示にする', '読み込めませんでした。再試行'],
};
