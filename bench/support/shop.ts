/** The shop of the benchmarks, on every server that has shops. */
export const SHOP = {
  shopId: '5b1f0c6e-9d3a-4c77-8a41-2d6e0f9b7c35',
  apiKey: 'a-key-for-benchmarks-only-0123456789',
  number: '+12025550142',
  accountSid: `AC${'0123456789abcdef'.repeat(2)}`,
  authToken: 'fedcba9876543210fedcba9876543210',
  chatKey: 'bench',
} as const;

/** The URL that webhooks are signed for, whatever port they arrive on. */
export const PUBLIC_URL = 'https://gateway.example';
