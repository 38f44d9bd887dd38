/** Larger pictures are not sent to visitors. */
export const MAX_PICTURE_BYTES = 512 * 1024;

/** Larger files of texts are left out: ten times the widget's own. */
export const MAX_TEXTS_BYTES = 64 * 1024;
