/**
 * Ids that must not be mistaken for one another. A plain string becomes one of them only at an
 * edge that has checked it: the configuration, the store, or a schema.
 */
declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** The id of one accepted message, the name under which log, timeline and operator see it. */
export type EntryId = Branded<'EntryId'>;
/** The platform's shop id (a uuid), sent in `X-Shop-Id`. */
export type ShopId = Branded<'ShopId'>;
/** A chat visitor: 128 random bits in hex, minted by the gateway. */
export type VisitorId = Branded<'VisitorId'>;
/** The name of a file in the blob folder. */
export type BlobName = Branded<'BlobName'>;

export const asEntryId = (value: string): EntryId => value as EntryId;
export const asShopId = (value: string): ShopId => value as ShopId;
export const asVisitorId = (value: string): VisitorId => value as VisitorId;
export const asBlobName = (value: string): BlobName => value as BlobName;
