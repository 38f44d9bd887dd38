/**
 * The line that stands in a message's content for an attachment that the platform does not get.
 * @param what names it: file name, type, the provider's id
 */
export function missingAttachment(
  how: 'delivered' | 'retrieved',
  ...what: readonly string[]
): string {
  return `[attachment could not be ${how}: ${what.join(', ')}]`;
}
