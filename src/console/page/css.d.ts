/** The style sheet of a component; the build combines all of them. */
declare module '*.css';
