/** Of the grid of emoji, in the style sheet too; the arrow keys count on it. */
export const EMOJI_COLUMNS = 8;
