export function troubleWith(source: string, flags: string): string | undefined;
