/** The text of a style sheet, minified by the build. */
declare module '*.css?inline' {
  const text: string;
  export default text;
}
