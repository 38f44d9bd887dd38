/** A style sheet that a part of the page comes with; the build makes one of all. */
declare module '*.css';
