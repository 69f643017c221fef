/** Types imports of Markdown files as text, for the guide's pages. */
declare module '*.md' {
  const text: string
  export = text
}
