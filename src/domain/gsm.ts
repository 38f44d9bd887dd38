/** Those of GSM 03.38 that take one of its septets and are in ASCII, or common in Europe. */
const GSM = /^[A-Za-z0-9 \r\n@£$¥èéùìòÇØøÅåÆæßÉÄÖÑÜ§äöñüà!"#%&'()*+,\-./:;<=>?_¡¿]*$/;

/**
 * Whether a text goes out in the 7-bit alphabet of SMS. One other character makes it UCS-2, of
 * which less than half as many characters fit into a part.
 */
export const isGsm = (text: string): boolean => GSM.test(text);
